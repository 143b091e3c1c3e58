/**
 * Certificates of clients, over real TLS sockets: who is turned away, whose certificate counts, and which keys ask for one.
 */
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { PLAIN_EDGE } from '../../src/api/edge.ts'
import { ListenerTls } from '../../src/api/listener-tls.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { createAdminServer } from '../../src/api/server/admin-server.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { ApiError, dataClient } from '../../src/client/clients.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { onEdges } from '../helpers/on-edges.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'
import { METRICS } from './api-world.ts'

interface Pair {
  readonly cert: string
  readonly key: string
}

async function start(t: Test, areRequired: boolean) {
  const servers = new MadeCertificates(t)
  const clients = new MadeCertificates(t, 'clients')
  const files = { ...servers.issue('n1', { hosts: ['127.0.0.1'] }), clients: { ca: clients.ca, areRequired } }
  const memory = await MemoryServices.start(t)
  await memory.tenant('acme')
  const data = createDataServer(memory.services, NO_METER, {
    ...PLAIN_EDGE,
    ...onEdges(),
    tls: new ListenerTls('data', files),
  })
  const admin = createAdminServer(memory.services, METRICS, {
    ...PLAIN_EDGE,
    tls: new ListenerTls('admin', files),
  })
  t.teardown(() => Promise.all([data.close(), admin.close()]))
  for (const server of [data, admin]) await server.listen({ host: '127.0.0.1', port: 0 })
  const portOf = (server: typeof data): number => (server.server.address() as AddressInfo).port
  const pairOf = (made: MadeCertificates, name: string, more = {}): Pair => {
    const { certificate: cert, key } = made.pair(name, more)
    return { cert, key }
  }
  return {
    memory,
    ca: servers.caText,
    dataPort: portOf(data),
    adminPort: portOf(admin),
    ci: pairOf(clients, 'ci'),
    other: pairOf(clients, 'other'),
    expired: pairOf(clients, 'ci', { endedDaysAgo: 2 }),
    /** Of an authority that the listener does not trust for clients, though it signed the server's own. */
    foreign: pairOf(servers, 'ci'),
  }
}

type World = Awaited<ReturnType<typeof start>>

/** The status, or the code of the error with which the connection ended. */
function ask(
  { ca }: World,
  place: { readonly port: number; readonly path: string; readonly agent?: Agent },
  token: string,
  pair: Pair | null,
): Promise<unknown> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const options = { host: '127.0.0.1', agent: false as const, ...place, ca, headers, ...pair }
    request(options, (response) => response.resume().once('end', () => resolve(response.statusCode)))
      .once('error', () => resolve('hung up'))
      .end()
  })
}

const commonName = ({ cert }: Pair): string =>
  `cn:${String(new X509Certificate(cert).toLegacyObject().subject.CN)}`

function sha256({ cert }: Pair): string {
  return `sha256:${new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()}`
}

t.test('where client certificates are optional', async (t) => {
  const world = await start(t, false)
  const { memory, ca, dataPort, adminPort, ci, other, expired, foreign } = world
  const created = async (certificates: readonly string[]) => {
    const key = await memory.accessKey('acme', 'read', null, { addresses: [], certificates })
    return { ...key, status: (pair: Pair | null) => exchanged(key, pair) }
  }
  const exchanged = async (key: { accessKeyId: string; secretKey: string }, pair: Pair | null) => {
    const shown = pair === null ? {} : { clientCertificate: pair }
    const client = dataClient({ endpoints: [`https://127.0.0.1:${dataPort}`], ca, ...key, ...shown })
    try {
      return (await client.call('listBuckets')).status
    } catch (error) {
      if (error instanceof ApiError) return error.code
      throw error
    } finally {
      await client.close()
    }
  }

  await t.test('a key that is bound to none is used without one', async (t) => {
    const key = await created([])
    t.equal(await key.status(null), 200)
    t.equal(await key.status(foreign), 200, 'a certificate that does not count is as none')
  })

  await t.test(
    'a bound key is used with its certificate and with no other [admin.keys.bound.certificate]',
    async (t) => {
      for (const bound of [commonName(ci), sha256(ci)]) {
        const key = await created([bound])
        t.equal(await key.status(ci), 200, bound)
        for (const [what, pair] of Object.entries({ none: null, other, expired, foreign }))
          t.equal(await key.status(pair), 'access_denied', `${what}: ${bound}`)
      }
    },
  )

  await t.test('a token of a bound key is asked for it at each request', async (t) => {
    const key = await memory.accessKey('acme', 'read', null, {
      addresses: [],
      certificates: [commonName(ci)],
    })
    const certificate = { sha256: '', commonName: commonName(ci).slice('cn:'.length) }
    const { token } = memory.services.access.exchange({
      ...key,
      clientAddress: 'x',
      connection: { address: '', certificate },
    })
    t.equal(await ask(world, { port: dataPort, path: '/api/v1/buckets' }, token, ci), 200)
    t.equal(await ask(world, { port: dataPort, path: '/api/v1/buckets' }, token, null), 403)
    t.equal(await ask(world, { port: dataPort, path: '/api/v1/buckets' }, token, other), 403)
  })

  await t.test('a certificate that ends no longer counts, though its connection is older', async (t) => {
    const key = await memory.accessKey('acme', 'read', null, { addresses: [], certificates: [sha256(ci)] })
    const certificate = { sha256: sha256(ci).slice('sha256:'.length), commonName: null }
    const connection = { address: '', certificate }
    const { token } = memory.services.access.exchange({ ...key, clientAddress: 'x', connection })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    const place = { port: dataPort, path: '/api/v1/buckets', agent }
    t.equal(await ask(world, place, token, ci), 200)
    const endsAt = new X509Certificate(ci.cert).validToDate.getTime()
    t.intercept(Date, 'now', { value: () => endsAt - 1 })
    t.equal(await ask(world, place, token, ci), 200)
    t.intercept(Date, 'now', { value: () => endsAt })
    t.equal(await ask(world, place, token, ci), 403)
    t.equal(Object.values(agent.freeSockets).flat().length, 1, 'all on one connection')
  })

  await t.test('a bound admin token as well', async (t) => {
    const boundTo = { addresses: [], certificates: [commonName(ci)] }
    const token = await memory.adminToken('viewer', null, null, { boundTo })
    for (const path of ['/admin/api/v1/tenants', '/metrics']) {
      t.equal(await ask(world, { port: adminPort, path }, token, ci), 200)
      t.equal(await ask(world, { port: adminPort, path }, token, null), 403)
    }
  })
})

t.test(
  'where client certificates are required, who has none that counts is turned away before a request',
  async (t) => {
    const world = await start(t, true)
    const { memory, dataPort, ci, expired, foreign } = world
    const token = await memory.bearer('acme')
    const rows = memory.auditRows.length
    for (const pair of [null, foreign, expired])
      t.equal(await ask(world, { port: dataPort, path: '/api/v1/buckets' }, token, pair), 'hung up')
    t.equal(memory.auditRows.length, rows)
    t.equal(await ask(world, { port: dataPort, path: '/api/v1/buckets' }, token, ci), 200)
  },
)
