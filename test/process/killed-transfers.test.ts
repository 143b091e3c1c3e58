/**
 * The command line, killed in the middle of a large upload and of a large download: the next command moves no byte of what arrived. A relay between it
 * and the node counts the bytes. 64 MiB, and 1 GiB with `npm test -- --whole`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, createReadStream, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { CommandLine } from '../helpers/command-line.ts'
import { endsWithParent } from '../helpers/ends-with-parent.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { shareOf } from '../helpers/proof-size.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

const MIB = 1024 * 1024
/** With an end that fills no part. */
const SIZE = shareOf(1024, 64) * MIB + 17
/** Several of them are sent at once. */
const PART_SIZE = `${shareOf(16, 5)}MiB`
/** Headers, listings and tokens of a command, and what TLS or HTTP frames add. */
const OVERHEAD = MIB

/** Between the command line and a node. */
class Relay {
  /** Bytes since the last `reset`. */
  sent = 0
  received = 0
  /** Called whenever bytes have passed. */
  onMoved: () => void = () => undefined
  readonly url: string

  static async to(t: { teardown(handler: () => unknown): unknown }, nodeUrl: string): Promise<Relay> {
    const target = Number(new URL(nodeUrl).port)
    const server = createServer((client) => {
      const node = connect(target, '127.0.0.1')
      client.on('data', ({ length }) => {
        relay.sent += length
        relay.onMoved()
      })
      node.on('data', ({ length }) => {
        relay.received += length
        relay.onMoved()
      })
      for (const [from, to] of [
        [client, node],
        [node, client],
      ] as const)
        from.pipe(to).on('error', () => from.destroy())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => server.close())
    const relay = new Relay(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    return relay
  }

  private constructor(url: string) {
    this.url = url
  }

  reset(): void {
    this.sent = 0
    this.received = 0
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer)
  return hash.digest('hex')
}

function writeRandom(file: string): void {
  const handle = openSync(file, 'w')
  const piece = Buffer.alloc(MIB)
  for (let left = SIZE; left > 0; left -= piece.length)
    writeSync(handle, randomFillSync(piece), 0, Math.min(left, piece.length))
  closeSync(handle)
}

const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`

t.test('transfers of the command line after kill -9', { timeout: 900_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 1)
  const [node] = cluster.plan
  if (node === undefined) throw new Error('the cluster has one node')
  await cluster.login(node.nodeId)
  await cluster.call(node.nodeId, 'POST', '/buckets', JSON.stringify({ name: 'work' }))
  const relay = await Relay.to(t, node.dataUrl)
  const folder = temporaryFolder(t)
  const { accessKeyId, secretKey } = cluster.setup
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOLDFAST_ENDPOINT: relay.url,
    HOLDFAST_ACCESS_KEY_ID: accessKeyId ?? '',
    HOLDFAST_SECRET_KEY: secretKey ?? '',
    HOLDFAST_TOKEN_CACHE: 'off',
  }
  const command = new CommandLine({ cwd: folder, env })
  const file = join(folder, 'large')
  writeRandom(file)
  const start = (...args: readonly string[]): ChildProcess =>
    spawn(...withoutLoader(...endsWithParent('KILL', [process.execPath, nodeProgram(), ...args])), {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  const whole = async (...args: readonly string[]): Promise<void> => {
    const [code] = (await once(start(...args), 'exit')) as [number | null]
    t.equal(code, 0, args.join(' '))
  }
  const killedAt = async (moved: () => number, ...args: readonly string[]): Promise<void> => {
    relay.reset()
    const child = start(...args)
    const exit = once(child, 'exit')
    // At once: a busy machine may run this process again only after the transfer is over.
    relay.onMoved = () => moved() >= SIZE / 2 && child.kill('SIGKILL')
    const [code, signal] = (await exit) as [number | null, string | null]
    relay.onMoved = () => undefined
    if (signal !== 'SIGKILL') throw new Error(`${args.join(' ')} ended with ${code} before half was moved`)
    relay.reset()
  }

  await t.test('an upload sends no part that is stored', async (t) => {
    const put = ['put', 'large', 'work/large', '--part-size', PART_SIZE, '--no-progress']
    await killedAt(() => relay.sent, ...put)
    const [upload] = await command.json(['uploads', 'list', 'work', '--parts'])
    const stored = Number(upload?.['bytes'])
    t.ok(stored > 0 && stored < SIZE, `${stored} bytes are stored`)
    relay.reset()
    await whole(...put, '--resume')
    t.ok(relay.sent <= SIZE - stored + OVERHEAD, `${relay.sent} bytes are sent, ${SIZE - stored} are left`)
    t.match(await command.json(['stat', 'work/large']), [{ size: SIZE }])
    t.same(await command.json(['uploads', 'list', 'work']), [])
    t.comment(
      `upload of ${mib(SIZE)}: ${mib(stored)} were stored, ${mib(relay.sent)} were sent after the kill`,
    )
  })

  await t.test('a download fetches no byte that is in the file', async (t) => {
    await killedAt(() => relay.received, 'get', 'work/large', 'back', '--no-progress')
    const [left = ''] = readdirSync(folder).filter((name) => name.endsWith('.part'))
    const held = statSync(join(folder, left)).size
    t.ok(held > 0 && held < SIZE, `${held} bytes are in ${left}`)
    await whole('get', 'work/large', 'back', '--no-progress')
    t.ok(relay.received <= SIZE - held + OVERHEAD, `${relay.received} bytes came, ${SIZE - held} are left`)
    t.equal(await sha256Of(join(folder, 'back')), await sha256Of(file))
    t.same(readdirSync(folder).sort(), ['back', 'large'])
    t.comment(`download: ${mib(held)} were in the file, ${mib(relay.received)} came after the kill`)
  })

  await t.test('a sync continues a download too', async (t) => {
    await killedAt(() => relay.received, 'sync', 'work', './synced', '--no-progress')
    const [left = ''] = readdirSync(join(folder, 'synced'))
    const held = statSync(join(folder, 'synced', left)).size
    await whole('sync', 'work', './synced', '--no-progress')
    t.ok(relay.received <= SIZE - held + OVERHEAD, `${relay.received} bytes came, ${SIZE - held} are left`)
    t.same(readdirSync(join(folder, 'synced')), ['large'])
    t.equal(await sha256Of(join(folder, 'synced', 'large')), await sha256Of(file))
  })
})
