/**
 * The data and admin listeners over TLS: the certificates, their reload, and the answer to plain HTTP.
 */
import { readFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { StartError, type TlsFiles } from '../../cluster/base/types.ts'
import { lookAtCertificates } from '../../cluster/index.ts'
import { ClientAddresses } from '../../src/api/admission/client-address.ts'
import { answerClientError } from '../../src/api/client-error.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { createAdminServer } from '../../src/api/server/admin-server.ts'
import { PLAIN_EDGE } from '../../src/api/edge.ts'
import { ListenerTls } from '../../src/api/listener-tls.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { adminClient, dataClient } from '../../src/client/clients.ts'
import { until } from '../helpers/async.ts'
import { runCommand } from '../helpers/run-command.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { onEdges } from '../helpers/on-edges.ts'
import { MadeCertificates, put } from '../transport/made-certificates.ts'
import { METRICS } from './api-world.ts'

/** Checks the files when the test triggers it. */
class Looks {
  /** Those of requests are cancelled when their bodies have come. */
  readonly #due = new Set<() => void>()
  wallTime(): number {
    return Date.now()
  }
  after(_ms: number, callback: () => void) {
    const due = (): void => callback()
    this.#due.add(due)
    return { cancel: () => void this.#due.delete(due) }
  }
  get isWaiting(): boolean {
    return this.#due.size > 0
  }
  now(): void {
    const due = [...this.#due]
    this.#due.clear()
    for (const callback of due) callback()
  }
}

async function start(t: Test, files: TlsFiles) {
  const memory = await MemoryServices.start(t)
  const services = { ...memory.services, config: { ...memory.services.config, dataTls: files } }
  const clock = new Looks()
  const tls = new ListenerTls('data', files)
  const data = createDataServer(services, NO_METER, { ...PLAIN_EDGE, ...onEdges(), tls, clock })
  const admin = createAdminServer(services, METRICS, { ...PLAIN_EDGE, tls: new ListenerTls('admin', files) })
  t.teardown(() => Promise.all([data.close(), admin.close()]))
  for (const server of [data, admin]) await server.listen({ host: '127.0.0.1', port: 0 })
  const portOf = (server: typeof data): number => (server.server.address() as AddressInfo).port
  return { memory, clock, tls, data, dataPort: portOf(data), adminPort: portOf(admin) }
}

const ask = (port: number, ca: string, path = '/healthz') =>
  new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, ca, agent: false }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode, headers: response.headers }))
    })
    asking.once('error', reject).end()
  })

const shownBy = (port: number, ca: string, options = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca, ...options }, () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })

async function plainPort(t: Test, memory: MemoryServices): Promise<number> {
  const plain = createDataServer(memory.services)
  t.teardown(() => plain.close())
  await plain.listen({ host: '127.0.0.1', port: 0 })
  return (plain.server.address() as AddressInfo).port
}

const HOSTS = ['127.0.0.1']

t.test('a listener over TLS', async (t) => {
  const made = new MadeCertificates(t)
  const files = made.issue('n1', { hosts: HOSTS })
  const { memory, clock, tls, dataPort, adminPort } = await start(t, files)
  const ca = made.caText

  await t.test(
    'answers on both planes [tls.listeners], and sends Strict-Transport-Security only over TLS',
    async (t) => {
      for (const port of [dataPort, adminPort]) {
        const { status, headers } = await ask(port, ca)
        t.equal(status, 200)
        t.equal(headers['strict-transport-security'], 'max-age=31536000')
      }
      const port = await plainPort(t, memory)
      const headers = await new Promise<NodeJS.Dict<string | string[]>>((resolve) =>
        plainRequest({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (response) => {
          response.resume()
          resolve(response.headers)
        }).end(),
      )
      t.equal(headers['strict-transport-security'], undefined)
    },
  )
  await t.test('reveals its software on no plane', async (t) => {
    for (const path of ['/healthz', '/api/v1/buckets', '/nothing'])
      for (const port of [dataPort, adminPort]) {
        const { headers } = await ask(port, ca, path)
        t.same(
          ['server', 'x-powered-by', 'via'].filter((name) => headers[name] !== undefined),
          [],
          path,
        )
      }
  })
  await t.test('speaks TLS 1.2 and nothing older', async (t) => {
    t.equal(tls.options.minVersion, 'TLSv1.2')
    t.ok(await shownBy(dataPort, ca, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }))
    await t.rejects(
      shownBy(dataPort, ca, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    )
  })
  await t.test('hangs up on plain HTTP, without an answer and without a row in the audit log', async (t) => {
    const rows = (): number => memory.auditRows.filter(({ operation }) => operation !== 'healthz').length
    const before = rows()
    await new Promise((resolve) =>
      plainRequest({ host: '127.0.0.1', port: dataPort, path: '/', agent: false })
        .once('error', resolve)
        .end(),
    )
    t.match(await ask(dataPort, ca), { status: 200 }, 'and keeps serving')
    t.equal(rows(), before)
  })
  await t.test('takes tokens, reports a secure transport to policies, and signs https URLs', async (t) => {
    await memory.tenant('acme')
    const key = await memory.accessKey('acme', 'read,write,delete,admin')
    const client = dataClient({ endpoints: [`https://127.0.0.1:${dataPort}`], ca, ...key })
    t.teardown(() => client.close())
    await client.call('createBucket', { body: { name: 'photos' } })
    const { answer } = await client.call('signURL', { body: { method: 'GET', bucket: 'photos', key: 'a' } })
    t.match(answer.url, /^https:\/\//)
    const Resource = ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*']
    const Condition = { Bool: { 'aws:SecureTransport': 'false' } }
    const overPlain = {
      Effect: 'Deny' as const,
      Principal: '*' as const,
      Action: 's3:*',
      Resource,
      Condition,
    }
    const owner = adminClient({
      endpoints: [`https://127.0.0.1:${adminPort}`],
      ca,
      token: await memory.adminToken('owner'),
    })
    t.teardown(() => owner.close())
    const params = { id: 'acme', bucket: 'photos' }
    const body = { Version: '2012-10-17' as const, Statement: [overPlain] }
    await owner.call('setTenantBucketPolicy', { params, body })
    t.match(await client.call('listObjects', { params: { bucket: 'photos' } }), { status: 200 })
    const unsafe = dataClient({ endpoints: [`http://127.0.0.1:${await plainPort(t, memory)}`], ...key })
    t.teardown(() => unsafe.close())
    const denied = unsafe.call('listObjects', { params: { bucket: 'photos' } })
    await t.rejects(denied, { code: 'access_denied' }, 'the same over plain HTTP')
  })
  await t.test('is asked by the command line with its CA, and not without', async (t) => {
    const token = await memory.adminToken('owner')
    const env = process.env['HOLDFAST_ADMIN_TOKEN']
    process.env['HOLDFAST_ADMIN_TOKEN'] = token
    const query = ['audit', 'query', '--admin-endpoint', `https://127.0.0.1:${adminPort}`]
    t.match(await runCommand(...query, '--ca-file', made.ca), { code: 0 })
    t.match(await runCommand(...query), { code: 4, err: /--ca-file/ })
    if (env === undefined) delete process.env['HOLDFAST_ADMIN_TOKEN']
    else process.env['HOLDFAST_ADMIN_TOKEN'] = env
    const foreign = adminClient({
      endpoints: [`https://127.0.0.1:${adminPort}`],
      token,
      ca: new MadeCertificates(t).caText,
      repeat: { attemptsMax: 1 },
    })
    t.teardown(() => foreign.close())
    await t.rejects(foreign.call('listTenants'), { name: 'NoAnswerError' })
  })
  await t.test(
    'shows a new certificate when the files change, and the old one while they are wrong [tls.reload]',
    async (t) => {
      const look = async (message: string): Promise<void> => {
        memory.lines.length = 0
        clock.now()
        await until(message, () => memory.lines.some((line) => line.message === message) && clock.isWaiting)
      }
      const stale = (): number | undefined => tls.samples().find(({ name }) => name.endsWith('stale'))?.value
      const first = await shownBy(dataPort, ca)
      const next = made.pair('n1', { hosts: HOSTS })
      put(files, { ...next, key: readFileSync(files.key, 'utf8') })
      await look('new certificate cannot be used, the previous one stays')
      t.equal(await shownBy(dataPort, ca), first)
      t.equal(stale(), 1)
      put(files, next)
      await look('new certificate in use')
      t.equal(await shownBy(dataPort, ca), next.certificate)
      t.equal(stale(), 0)
    },
  )
  await t.test('shows a new one at once when the files are looked at on demand', async (t) => {
    const next = made.pair('n1', { hosts: HOSTS })
    put(files, next)
    await lookAtCertificates()
    t.equal(await shownBy(dataPort, ca), next.certificate)
  })
  await t.test('says when its certificate ends', async (t) => {
    const [expiry] = tls.samples()
    t.match(expiry, { labels: { listener: 'data', certificate: 'own' } })
    t.equal(Math.round(((expiry?.value ?? 0) - Date.now() / 1000) / 86_400), 30)
  })
})

t.test('a handshake that never ends is hung up on and leaves no row', async (t) => {
  const memory = await MemoryServices.start(t)
  const socket = new PassThrough() as Duplex as Socket
  const failed = Object.assign(new Error('too slow'), { code: 'ERR_TLS_HANDSHAKE_TIMEOUT' })
  answerClientError(failed, socket, {
    services: memory.services,
    api: 'native',
    addresses: new ClientAddresses({ trustedProxies: [] }),
  })
  t.ok(socket.destroyed)
  t.same(memory.auditRows, [])
})

t.test('a listener over TLS closes although a client connected and sent nothing', async (t) => {
  const made = new MadeCertificates(t)
  const { data, dataPort } = await start(t, made.issue('n1', { hosts: HOSTS }))
  const open = await new Promise<ReturnType<typeof connect>>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: dataPort, ca: made.caText }, () => resolve(socket))
    socket.on('error', () => undefined)
  })
  await data.close()
  await until('it is hung up on', () => open.destroyed)
})

t.test('listener certificates that cannot be used keep a node from starting', async (t) => {
  const made = new MadeCertificates(t)
  const files = made.issue('n1')
  const code = (wrong: Partial<TlsFiles>): string => {
    try {
      new ListenerTls('admin', { ...files, ...wrong }).samples()
      return 'taken'
    } catch (error) {
      return error instanceof StartError ? error.code : String(error)
    }
  }
  t.equal(code({ cert: '/nowhere' }), 'listener_tls_unreadable', '[listener_tls_unreadable]')
  t.equal(code({ key: files.cert }), 'listener_tls_invalid', '[listener_tls_invalid]')
  t.equal(code({ key: made.issue('n2').key }), 'listener_tls_invalid')
})
