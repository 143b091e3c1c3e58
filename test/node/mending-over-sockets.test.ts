/**
 * A damaged node among others as the service runs them: LevelDB, log files, sockets, the real clock.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Cluster, createCluster, type Member } from '../../cluster/index.ts'
import { encodeCommand } from '../../src/store/command-codec.ts'
import type { LevelStateMachine } from '../../src/store/level-state-machine.ts'
import { openStore } from '../../src/store/open-store.ts'
import { until } from '../helpers/async.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { NO_COPIES } from '../helpers/no-copies.ts'
import { freeBasePort } from '../helpers/process-cluster.ts'
import { createTenant } from '../state-machine/map-world.ts'
import { temporaryDirectory } from '../store/store-world.ts'

interface Running {
  readonly cluster: Cluster
  readonly machine: LevelStateMachine
  readonly lines: readonly LogLine[]
}

async function start(root: string, members: readonly Member[], nodeId: string): Promise<Running> {
  const dataDir = join(root, nodeId)
  mkdirSync(dataDir, { recursive: true })
  const lines: LogLine[] = []
  const logger = recordingLogger(lines)
  const { stateMachine: machine } = openStore({ dir: join(dataDir, 'state'), logger })
  const listen = members.find((member) => member.nodeId === nodeId)?.peerAddress ?? ''
  const own = { nodeId, dataDir, listen, members, clusterId: 'c1', tls: null, fingerprint: 'key' }
  const pace = { heartbeatMs: 30, electionTimeoutMs: 300, logKeepEntries: 1_000, logKeepBytes: 2 ** 20 }
  const cluster = await createCluster(
    { ...own, ...pace },
    { stateMachine: machine, copyLedger: NO_COPIES, logger },
  )
  return { cluster, machine, lines }
}

/** Flips one bit where the log first says `text`. */
function flipInLog(dir: string, text: string): void {
  for (const path of readdirSync(dir).map((name) => join(dir, name))) {
    const bytes = readFileSync(path)
    const at = bytes.indexOf(text)
    if (at < 0) continue
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(path, bytes)
    return
  }
  assert.fail(`the log says ${text}`)
}

t.test(
  'a node with a distrusted state and a damaged log mends itself and is equal to the others',
  async (t) => {
    const root = temporaryDirectory(t)
    const port = await freeBasePort(3)
    const members = [0, 1, 2].map((i) => {
      return { nodeId: `n${i + 1}`, peerAddress: `127.0.0.1:${port + 10 * i}`, zone: 'z', weight: 1 }
    })
    const nodes = new Map<string, Running>()
    t.teardown(() => Promise.all([...nodes.values()].map(({ cluster }) => cluster.stop())))
    await Promise.all(
      members.map(async ({ nodeId }) => nodes.set(nodeId, await start(root, members, nodeId))),
    )
    const node = (nodeId: string): Running => {
      const running = nodes.get(nodeId)
      assert(running !== undefined, `${nodeId} runs`)
      return running
    }
    const tenants = Array.from({ length: 60 }, (_, i) => encodeCommand(createTenant(`tenant-${i}`)))
    await Promise.all(tenants.map((command, i) => node(`n${(i % 3) + 1}`).cluster.propose(command)))

    const { cluster, machine } = node('n1')
    await cluster.stop()
    await machine.distrust('a reader met a row that is not what was written')
    flipInLog(join(root, 'n1', 'raft'), 'tenant-30')
    await node('n2').cluster.propose(encodeCommand(createTenant('while-it-was-away')))

    const again = await start(root, members, 'n1')
    nodes.set('n1', again)
    await until('the node is mended', () => again.cluster.readiness().ready)
    const told = again.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
    t.match(told[0], /The state of this node cannot be used \(a reader met/)
    t.match(told.join(), /Damaged entries of the log are given up: the state holds them/)
    await again.cluster.readBarrier()
    await again.cluster.propose(encodeCommand(createTenant('after')))
    for (const { cluster: other } of nodes.values()) await other.readBarrier()
    const sums = [...nodes.values()].map(({ machine }) => Buffer.from(machine.checksum()).toString('hex'))
    t.equal(new Set(sums).size, 1, 'one state')
    t.equal(await again.machine.verify(), null)
  },
)
