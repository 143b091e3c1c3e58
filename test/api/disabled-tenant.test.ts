/**
 * A tenant that one node has disabled, at the two others: three machines with sockets, logs and LevelDB in this process, each
 * with a data API of its own.
 */
import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Cluster, createCluster, type Member } from '../../cluster/index.ts'
import { LastUsed } from '../../src/access/last-used.ts'
import { NativeAccess } from '../../src/access/native-access.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import type { Services } from '../../src/operations/base/services.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createPropose } from '../../src/commands/propose.ts'
import { until } from '../helpers/async.ts'
import { testMasterKey as masterKey } from '../helpers/content-world.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { freeBasePort } from '../helpers/process-cluster.ts'
import { temporaryDirectory } from '../store/store-world.ts'
import { signedHeaders, type SigningSecret } from './s3/s3-signer.ts'

const TENANTS = 24

interface Machine {
  readonly services: Services
  readonly url: string
}

async function startMachine(
  t: Test,
  base: Services,
  { nodeId, root, members }: { nodeId: string; root: string; members: readonly Member[] },
): Promise<{ readonly cluster: Cluster; readonly machine: Machine }> {
  const dataDir = join(root, nodeId)
  mkdirSync(dataDir)
  const { stateMachine, reader: state } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
  const listen = members.find((member) => member.nodeId === nodeId)?.peerAddress ?? ''
  const own = { nodeId, dataDir, listen, members, clusterId: 'c1', tls: null, fingerprint: 'key' }
  const pace = {
    heartbeatMs: 30,
    electionTimeoutMs: 300,
    logKeepEntries: 1_000,
    logKeepBytes: 2 ** 20,
    logPinBytes: 2 ** 26,
  }
  const propose = createPropose({ propose: (command) => cluster.propose(command) })
  const copyLedger = createCopyLedger(state, propose, {
    reachesLevel: (level, withinMs) => cluster.reachesLevel(level, withinMs),
  })
  const cluster: Cluster = await createCluster(
    { ...own, ...pace },
    { stateMachine, copyLedger, logger: SILENT },
  )
  t.teardown(() => cluster.stop())
  const uses = new LastUsed()
  const access = new NativeAccess({ masterKey, state, config: base.config, uses, now: Date.now })
  const services = { ...base, cluster, state, propose, access }
  const server = createDataServer(services)
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  return { cluster, machine: { services, url: `http://127.0.0.1:${port}/api/v1/buckets` } }
}

async function startMachines(t: Test): Promise<readonly Machine[]> {
  const { services } = await MemoryServices.start(t)
  const root = temporaryDirectory(t)
  const port = await freeBasePort(3)
  const members = [0, 1, 2].map((i) => {
    return { nodeId: `n${i + 1}`, peerAddress: `127.0.0.1:${port + 10 * i}`, zone: 'z', weight: 1 }
  })
  const started = await Promise.all(
    members.map(({ nodeId }) => startMachine(t, services, { nodeId, root, members })),
  )
  await until('a leader', () => started.every(({ cluster }) => cluster.readiness().ready))
  return started.map(({ machine }) => machine)
}

async function change({ services }: Machine, command: Parameters<Services['propose']>[0]): Promise<void> {
  const reply = await services.propose(command)
  if (!reply.ok) throw new Error(reply.message)
}

async function ask({ url }: Machine, token: string): Promise<readonly [number, unknown]> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const { code = null } = (await answer.json()) as { code?: string }
  return [answer.status, code]
}

/** The same through S3. */
async function askS3({ url }: Machine, secret: SigningSecret): Promise<readonly [number, unknown]> {
  const { host, origin } = new URL(url)
  const asked = { method: 'GET', path: '/', host, headers: {}, payload: 'UNSIGNED-PAYLOAD', at: new Date() }
  const answer = await fetch(`${origin}/`, { headers: signedHeaders(secret, asked) })
  return [answer.status, /<Code>(\w+)</.exec(await answer.text())?.[1] ?? null]
}

t.test(
  'tenant_disabled: the next request at every node is refused [tokens.disabled-everywhere]',
  async (t) => {
    const machines = await startMachines(t)
    for (let n = 0; n < TENANTS; n++) {
      const id = `tenant-${n}`
      const [one, ...others] = [...machines.slice(n % 3), ...machines.slice(0, n % 3)]
      if (one === undefined) throw new Error('there are three')
      const { access } = one.services
      await change(one, { type: 'createTenant', id, name: id, ...access.newTenantKeys(id) })
      const { accessKeyId, secretKey, sealed: secret } = access.newAccessKey()
      const key = { accessKeyId, tenantId: id, scopes: 'read', secret }
      const none = { accountId: null, name: null, expiresAt: null }
      await change(one, { type: 'createAccessKey', ...key, ...none })
      const { token } = access.exchange({ accessKeyId, secretKey, clientAddress: 'test' })
      for (const machine of machines) t.same(await ask(machine, token), [200, null])
      for (const machine of machines) t.same(await askS3(machine, { accessKeyId, secretKey }), [200, null])
      await change(one, { type: 'disableTenant', tenantId: id, reason: 'unpaid' })
      const answers = await Promise.all(others.map((machine) => ask(machine, token)))
      t.same(
        answers,
        Array.from(others, () => [401, 'tenant_disabled']),
        id,
      )
      for (const machine of others)
        t.same(await askS3(machine, { accessKeyId, secretKey }), [403, 'AccessDenied'], `${id} through S3`)
    }
  },
)
