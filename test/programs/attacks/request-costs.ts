/**
 * `node test/programs/attacks/request-costs.ts [--build DIR] [--rounds 30] [--only TEXT]`: the processor time of the event loop for one request: JSON bodies of 1 MiB
 * that a proved caller sends, documents and probes.
 *
 * Owns: the measurement, of the real servers of this or another checkout over a real state, in this process. The client is a thread, so what it costs does not count, and
 * neither does the load of other programs. Rule: no figure is judged here; the largest counts beside the median, for one request may meet a garbage collection.
 */
import { request as sendRequest } from 'node:http'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import type { ApiWorld as Api } from '../../api/api-world.ts'

const MIB = 1024 * 1024
const WARMING_ROUNDS = 5

interface Sent {
  readonly method: string
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Case extends Omit<Sent, 'port' | 'headers'> {
  readonly name: string
  readonly headers?: Readonly<Record<string, string>>
}

if (isMainThread) await measure()
else answerOrders()

/** The thread: sends each order, and says the status once the answer has ended. */
function answerOrders(): void {
  parentPort?.on('message', ({ method, port, path, headers, body }: Sent) => {
    const options = { host: '127.0.0.1', method, port, path, headers: { ...headers, connection: 'close' } }
    sendRequest(options, (response) => {
      response.resume().once('end', () => parentPort?.postMessage(response.statusCode))
    })
      .once('error', (error) => parentPort?.postMessage(error.message))
      .end(body)
  })
}

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: {
      build: { type: 'string', default: '.' },
      rounds: { type: 'string', default: '30' },
      only: { type: 'string', default: '' },
    },
  })
  const undo: (() => unknown)[] = []
  const scope = { teardown: (step: () => unknown) => void undo.push(step) }
  const worldFile = join(resolve(values.build), 'test/api/api-world.ts')
  const { ApiWorld } = (await import(worldFile)) as { ApiWorld: typeof Api }
  const limits = { unprovedRequestsPerMinute: 1_000_000, unprovedBurst: 1_000_000 }
  const { world, token } = await ApiWorld.withBucket(scope, { limits })
  await world.send({ method: 'PUT', path: '/api/v1/buckets/photos/objects/a', token, body: 'x' })
  const client = new Worker(new URL(import.meta.url))
  const send = (sent: Sent): Promise<unknown> =>
    new Promise((answered) => {
      client.once('message', answered)
      client.postMessage(sent)
    })
  for (const { name, headers = {}, ...sent } of cases()) {
    if (!name.includes(values.only)) continue
    const authorization: Record<string, string> = sent.body === '' ? {} : jsonOf(token)
    const order = { ...sent, headers: { ...authorization, ...headers }, port: world.dataPort }
    const used: number[] = []
    let status: unknown = null
    for (let round = -WARMING_ROUNDS; round < Number(values.rounds); round++) {
      const before = process.threadCpuUsage()
      status = await send(order)
      const { user, system } = process.threadCpuUsage(before)
      if (round >= 0) used.push(user + system)
    }
    used.sort((a, b) => a - b)
    const [median = 0, most = 0] = [used[Math.floor(used.length / 2)], used.at(-1)]
    process.stdout.write(`${name.padEnd(72)} ${String(status)}  ${median} us, at most ${most}\n`)
  }
  await client.terminate()
  for (const step of undo.toReversed()) await step()
}

function jsonOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
}

function cases(): readonly Case[] {
  const names = (count: number, value: string): string =>
    Array.from({ length: count }, (_, n) => `"k${n}":${value}`).join(',')
  const filled = (piece: string): string => piece.repeat(Math.floor((MIB - 200) / piece.length))
  const post = (name: string, path: string, body: string): Case => ({ name, method: 'POST', path, body })
  const buckets = (name: string, body: string) => post(`createBucket: ${name}`, '/api/v1/buckets', body)
  const BATCH = '/api/v1/buckets/photos/objects:batchDelete'
  const batch = (name: string, body: string) => post(`batchDeleteObjects: ${name}`, BATCH, body)
  const objects = (list: string): string => `{"objects":[${list}]}`
  const keys = (count: number, keyOf: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => `{"key":"${keyOf(n)}"}`).join(',')
  const tags = (name: string, body: string): Case => ({
    ...post(`putObjectTags: ${name}`, '/api/v1/buckets/photos/object-tags/a', body),
    method: 'PUT',
  })
  const HOOKS = '/api/v1/buckets/photos/notifications'
  const hooks = (name: string, body: string): Case => ({
    ...post(`setBucketNotifications: ${name}`, HOOKS, body),
    method: 'PUT',
  })
  const hook = (events: string): string => `{"configs":[{"url":"https://a.example/","events":[${events}]}]}`
  const get = (name: string, path: string, headers = {}): Case => ({
    name: `GET ${path}${name}`,
    method: 'GET',
    path,
    body: '',
    headers,
  })
  return [
    buckets('80,000 unknown names', `{${names(80_000, '1')}}`),
    buckets('one name, spaces', `{"name":"photos"${filled(' ')}}`),
    buckets('a name of 1 MiB', `{"name":"${filled('x')}"}`),
    buckets('a name of 1 MiB of escapes', `{"name":"${filled('\\u0061')}"}`),
    buckets('a name of 1 MiB of backslashes', `{"name":"${filled('\\\\')}"}`),
    buckets('a name of 1 MiB of combining characters', `{"name":"${'a\u0301'.repeat(340_000)}"}`),
    buckets('a name of the field of 1 MiB', `{"${filled('x')}":1}`),
    buckets('brackets', `{"name":${filled('[')}`),
    buckets('an array of arrays', `{"name":[${'[],'.repeat(340_000)}[]]}`),
    batch('1,000 keys that do not exist', objects(keys(1_000, (n) => `k${n}`))),
    batch('1,000 keys of 1,000 bytes', objects(keys(1_000, (n) => `${n}${'k'.repeat(990)}`))),
    batch('1,001 keys', objects(keys(1_001, (n) => `k${n}`))),
    batch('9,900 keys', objects(keys(9_900, (n) => `k${n}`))),
    batch('80,000 keys', objects(keys(80_000, () => ''))),
    batch('520,000 numbers', objects(`${'1,'.repeat(520_000)}1`)),
    batch('340,000 empty objects', objects(`${'{},'.repeat(340_000)}{}`)),
    batch('340,000 empty texts', objects(`${'"",'.repeat(340_000)}""`)),
    batch('80,000 unknown names', objects(`{${names(80_000, '1')}}`)),
    batch('nested arrays', objects(`${`${'['.repeat(60)}${']'.repeat(60)},`.repeat(8_000)}1`)),
    tags('80,000 tags', `{"tags":{${names(80_000, '"x"')}}}`),
    tags('990 tags of 1,000 characters', `{"tags":{${names(990, `"${'x'.repeat(1_000)}"`)}}}`),
    tags('990 tags that are numbers', `{"tags":{${names(990, '1'.repeat(900))}}}`),
    hooks('340,000 empty events', hook(`${'"",'.repeat(340_000)}""`)),
    hooks('61,000 equal events', hook(`${'"object-created",'.repeat(61_000)}"object-created"`)),
    hooks('340,000 empty events and a number', hook(`${'"",'.repeat(340_000)}1`)),
    get('', '/healthz'),
    get('', '/readyz'),
    get('', '/api/v1/openapi.json'),
    get(' as gzip', '/api/v1/openapi.json', { 'accept-encoding': 'gzip' }),
    get(' that the client has', '/api/v1/openapi.json', { 'if-none-match': '*' }),
  ]
}
