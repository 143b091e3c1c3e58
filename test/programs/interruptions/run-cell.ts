/**
 * One cell on its own cluster: objects are written, the operation is requested and interrupted, the result is checked.
 *
 * Owns: the cluster from start to end. Rule: it is removed with the cell in any case.
 */
import { randomBytes } from 'node:crypto'
import { until } from '../../helpers/async.ts'
import { changeMembers, QUICK_MEMBERS, untilAllowed, type Requested } from '../../helpers/member-steps.ts'
import { ProcessCluster, sha256 } from '../../helpers/process-cluster.ts'
import { type Case, type Cell, endsOf, titleOf } from './cells.ts'
import { leaderOf, interrupt } from './interrupt.ts'
import { faultsIn } from './verdict.ts'

export interface CellReport {
  readonly cell: string
  readonly status: string
  readonly error: string | null
  readonly killed: readonly string[]
  readonly manualSteps: readonly string[]
  readonly faults: readonly string[]
  readonly seconds: number
}

const REPLICAS = 3
const OBJECTS = 5
const OBJECT_BYTES = 80_000
const reason = 'a test of interruptions'
const FOUNDERS = ['n1', 'n2', 'n3'] as const

export async function runCell(cell: Cell): Promise<CellReport> {
  const began = performance.now()
  const endings: (() => unknown)[] = []
  const teardown = { teardown: (callback: () => unknown) => void endings.unshift(callback) }
  const nothing = { status: 'not started', error: null, killed: [], manualSteps: [] }
  const outcome = await interrupted(teardown, cell).catch((error: Error) => ({
    ...nothing,
    faults: [error.message],
  }))
  for (const end of endings) await end()
  const seconds = Math.round((performance.now() - began) / 100) / 10
  return { cell: titleOf(cell), seconds, ...outcome }
}

async function interrupted(
  t: { teardown(callback: () => unknown): unknown },
  { case: one, step, victim, fate }: Cell,
): Promise<Omit<CellReport, 'cell' | 'seconds'>> {
  const cluster = await ProcessCluster.start(t, FOUNDERS.length, QUICK_MEMBERS, { spares: 1 })
  const objects = await written(cluster)
  await prepare(cluster, one)
  const leader = await leaderOf(cluster)
  const members = [...FOUNDERS, ...(one.joined === null ? [] : [one.joined])].filter(
    (name) => name !== one.dead,
  )
  const requested = requestOf(cluster, one, leader)
  await untilAllowed(cluster, leader, requested)
  const others = victim === 'leader' || one.target === null ? [] : [one.target]
  const interruption = { requested, step, leader: victim !== 'target', others, fate }
  const { status, error, killed, manualSteps } = await interrupt(cluster, members, interruption)
  const lost = manualSteps.flatMap((done) => (done.startsWith('lost ') ? [done.slice('lost '.length)] : []))
  const ends = endsOf(one, { leader, lost })
  const copies = fate === 'is gone' ? null : copiesAmong(ends[status] ?? '')
  const holder = fate === 'comes back' && status === 'succeeded' ? one.joined : null
  const faults = await faultsIn(cluster, { ends, status, objects, copies, holder })
  return { status, error, killed, manualSteps, faults }
}

/** Each member that may hold any has one, up to the number of replicas. */
function copiesAmong(members: string): number {
  return Math.min(REPLICAS, members.split(', ').filter((member) => member.endsWith('active voter')).length)
}

async function written(cluster: ProcessCluster): Promise<ReadonlyMap<string, string>> {
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
  const objects = new Map<string, string>()
  for (let n = 0; n < OBJECTS; n++) {
    const body = randomBytes(OBJECT_BYTES)
    const { status } = await cluster.call('n1', 'PUT', `/buckets/kept/objects/o${n}`, body)
    if (status === 200) objects.set(`o${n}`, sha256(body))
  }
  return objects
}

async function prepare(cluster: ProcessCluster, { newcomer, dead, drained, joined }: Case): Promise<void> {
  if (drained !== null)
    await changeMembers(cluster, 'n1', { path: `/cluster/voters/${drained}/demote`, body: { reason } })
  if (newcomer !== null) cluster.startJoining(newcomer)
  if (joined !== null) await join(cluster, joined)
  if (dead !== null) await cluster.signal(dead, 'SIGKILL')
}

async function join(cluster: ProcessCluster, nodeId: string): Promise<void> {
  cluster.startJoining(nodeId)
  const { peerAddress } = cluster.node(nodeId)
  const requested = { path: '/cluster/voters', body: { nodeId, peerAddress, reason } }
  await untilAllowed(cluster, 'n1', requested)
  await changeMembers(cluster, 'n1', requested)
  await until(`${nodeId} serves`, () => cluster.ready(nodeId))
  cluster.hasJoined(nodeId)
}

function requestOf(cluster: ProcessCluster, { kind, node, newcomer }: Case, leader: string): Requested {
  const nodeId = node ?? leader
  const come =
    newcomer === null ? null : { nodeId: newcomer, peerAddress: cluster.node(newcomer).peerAddress }
  switch (kind) {
    case 'rebalance':
      return { path: '/cluster/rebalance', body: { tenantId: cluster.setup.tenantId, reason } }
    case 'join':
      return { path: '/cluster/voters', body: { ...come, reason } }
    case 'demote':
      return { path: `/cluster/voters/${nodeId}/demote`, body: { reason } }
    case 'replace':
      return {
        path: `/cluster/voters/${nodeId}/replace`,
        body: { replacement: come, reason, confirm: nodeId },
      }
    case 'lost':
      return { path: `/cluster/voters/${nodeId}/lost`, body: { reason, confirm: nodeId } }
    case 'remove':
      return { path: `/cluster/members/${nodeId}/remove`, body: { reason, confirm: nodeId } }
  }
}
