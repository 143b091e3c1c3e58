/**
 * What must hold after every fault was healed: the promises, checked at each node and then on its disk.
 *
 * Owns: the claims and their violations. Knows nothing of: the injected faults.
 * Rule: a claim that could not be checked is not kept.
 */
import { auditNode } from '../../../scripts/damage/audit.ts'
import type { AdminClient } from '../../../src/client/clients.ts'
import { until } from '../../helpers/async.ts'
import { type ProcessCluster, sha256 } from '../../helpers/process-cluster.ts'
import type { RecordedOperation } from '../../helpers/recorded-work.ts'
import { explainVerdict } from '../simulator/explain-verdict.ts'
import { registerModel } from '../simulator/history-models.ts'
import { checkHistory } from '../simulator/linearizability.ts'
import { folderPath, type LedgerWork, listingFault, objectPath } from './ledger-work.ts'
import { copyCountFaults } from './copy-counts.ts'
import type { LogLine } from './log-alarms.ts'
import { logFaults, removedNodeFaults } from './removed-node-checks.ts'

const CONFIGURATIONS_MAX = 10_000_000
const FAULTS_SHOWN = 10
const READERS = 4
/** Of each chunk, however many nodes there are. */
const COPIES = 3

/** `faults` empty: the claim was kept. */
export interface Verdict {
  readonly claim: string
  readonly faults: readonly string[]
}

/** Answers that no fault excuses. */
interface Seen {
  readonly violations: readonly string[]
}

export interface Evidence {
  readonly cluster: ProcessCluster
  readonly admin: AdminClient
  readonly ledger: Seen & Pick<LedgerWork, 'stored' | 'folders'>
  readonly registers: Seen & { readonly operations: readonly RecordedOperation[] }
  /** What went wrong while it ran. */
  readonly mishaps: readonly string[]
  readonly isExpected: (nodeId: string, line: LogLine) => boolean
  isWhole(): Promise<boolean>
  /** Of work in the background, where the run has some. */
  readonly claims?: readonly Claim[]
}

type Look = () => readonly string[] | Promise<readonly string[]>
export type Claim = readonly [claim: string, look: Look]

export async function judge(evidence: Evidence): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const [claim, look] of claimsOf(evidence))
    verdicts.push({ claim, faults: shortened(await found(look)) })
  return verdicts
}

/** In this order: the last ones need stopped nodes. */
function claimsOf(evidence: Evidence): readonly Claim[] {
  const { cluster, admin, ledger, registers, mishaps } = evidence
  const nodeIds = cluster.plan.map(({ nodeId }) => nodeId)
  const gone = cluster.gone.map(({ nodeId }) => nodeId)
  const atEach = (look: (nodeId: string) => Promise<readonly string[]>, nodes = nodeIds): Look => {
    return async () => (await Promise.all(nodes.map(look))).flat()
  }
  return [
    ['nodes end only when they are stopped, and all are ready again', () => mishaps],
    [
      'clients get the answers that the documents promise',
      () => [...ledger.violations, ...registers.violations],
    ],
    ['the answers to clients of each register fit one order', () => orderFaults(registers)],
    [
      `each of ${ledger.stored.size} acknowledged objects is whole at each node`,
      atEach((nodeId) => storedFaults(evidence, nodeId)),
    ],
    [
      'all nodes list the same: stored objects, and no removed ones',
      atEach((nodeId) => listFaults(evidence, nodeId)),
    ],
    ...(evidence.claims ?? []),
    [
      'every chunk gets all its copies',
      async () => ((await evidence.isWhole()) ? [] : ['some are still owed']),
    ],
    [
      `removed nodes (${gone.length}) keep running with their data, know it, and serve no client`,
      atEach((nodeId) => removedNodeFaults(cluster, nodeId, [...ledger.stored.keys()][0] ?? ''), gone),
    ],
    ['a scrub of all nodes finds every copy good', () => scrubFaults(admin)],
    ['a recount of references and usage finds no difference', () => recountFaults(admin)],
    ['each node stops cleanly', atEach((nodeId) => stopFaults(cluster, nodeId), [...nodeIds, ...gone])],
    [
      `every chunk has ${Math.min(COPIES, nodeIds.length)} copies, and none where no member is`,
      () => placeFaults(cluster, nodeIds),
    ],
    [
      'every row and copy on the disks of the stopped nodes is good',
      atEach((nodeId) => diskFaults(cluster, nodeId)),
    ],
    [
      'no log has an error that the faults do not explain',
      () => [...nodeIds, ...gone].flatMap((nodeId) => logFaults(evidence, nodeId)),
    ],
  ]
}

async function found(look: Look): Promise<readonly string[]> {
  try {
    return await look()
  } catch (error) {
    return [`the check failed: ${error instanceof Error ? error.message : String(error)}`]
  }
}

function shortened(faults: readonly string[]): readonly string[] {
  const more = faults.length - FAULTS_SHOWN
  return more > 0 ? [...faults.slice(0, FAULTS_SHOWN), `and ${more} more`] : faults
}

function orderFaults({ operations }: Evidence['registers']): readonly string[] {
  const found = checkHistory(registerModel, operations, { configurationsMax: CONFIGURATIONS_MAX })
  return found.outcome === 'linearizable' ? [] : [explainVerdict(registerModel, found)]
}

/** Repeated while the answer is a 503. */
async function storedFaults({ cluster, ledger }: Evidence, nodeId: string): Promise<readonly string[]> {
  const objects = [...ledger.stored].values()
  const faults: string[] = []
  const reader = async (): Promise<void> => {
    // The readers share one iterator: each object is taken once.
    for (const [key, digest] of objects) {
      let [status, found] = [503, '']
      await until(`${nodeId} serves ${key}`, async () => {
        const answer = await cluster.call(nodeId, 'GET', objectPath(key))
        ;[status, found] = [answer.status, sha256(answer.body)]
        return status !== 503
      })
      if (status !== 200 || found !== digest) faults.push(`${key} at ${nodeId}: ${status}, other bytes`)
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  return faults
}

/** Size, etag and time of each object are in a listing too. */
async function listFaults({ cluster, ledger }: Evidence, nodeId: string): Promise<readonly string[]> {
  const faults: string[] = []
  const one = cluster.plan[0]?.nodeId ?? ''
  for (const [client, keys] of ledger.folders.entries()) {
    const [answer, first] = await Promise.all([
      cluster.call(nodeId, 'GET', folderPath(client)),
      cluster.call(one, 'GET', folderPath(client)),
    ])
    const fault = answer.status === 200 ? listingFault(answer, keys) : `${answer.status}`
    if (fault !== null) faults.push(`c${client}/ at ${nodeId}: ${fault}`)
    if (!answer.body.equals(first.body)) faults.push(`c${client}/ at ${nodeId} is listed otherwise at ${one}`)
  }
  return faults
}

/** As the rows of one of them say; the others have the same. */
async function placeFaults(cluster: ProcessCluster, members: readonly string[]): Promise<readonly string[]> {
  const copies = Math.min(COPIES, members.length)
  return copyCountFaults(cluster.node(members[0] ?? '').dataDir, { members, copies })
}

async function scrubFaults(admin: AdminClient): Promise<readonly string[]> {
  const { answer } = await admin.call('scrub', { body: { reason: 'after the faults' } })
  const { status, nodes, error } = await ended(admin, answer)
  const bad = nodes.filter(({ lost, isDone }) => lost > 0 || !isDone)
  return [
    ...(status === 'succeeded' ? [] : [`the scrub is ${status}: ${error}`]),
    ...bad.map(
      ({ nodeId, lost, isDone }) =>
        `${nodeId}: ${lost} copies were bad${isDone ? '' : ', and it is not done'}`,
    ),
  ]
}

async function recountFaults(admin: AdminClient): Promise<readonly string[]> {
  const { answer } = await admin.call('recount', { body: { reason: 'after the faults' } })
  const counted = await ended(admin, answer)
  return recountSays(counted, (await admin.call('getRepair', {})).answer)
}

interface Counted {
  readonly lastRecount: { readonly differences: number; readonly firstDifference: string | null } | null
  readonly collection: { readonly halted: { readonly reason: string } | null }
}

export function recountSays(
  { status, error }: { readonly status: string; readonly error: string | null },
  { lastRecount, collection }: Counted,
): readonly string[] {
  return [
    ...(status === 'succeeded' ? [] : [`the recount is ${status}: ${error}`]),
    ...(lastRecount?.differences === 0
      ? []
      : [`differences: ${lastRecount?.differences}, ${lastRecount?.firstDifference}`]),
    ...(collection.halted === null ? [] : [`the collection is halted: ${collection.halted.reason}`]),
  ]
}

/** `started`: an operation; the type also allows the plan of a dry run, which was not requested. */
async function ended(admin: AdminClient, started: object) {
  const id = 'operationId' in started ? String(started.operationId) : ''
  const look = async () => (await admin.call('getOperation', { params: { id } })).answer
  let operation = await look()
  await until(`operation ${id} ends`, async () => {
    operation = await look()
    return operation.finishedAt !== null
  })
  return operation
}

async function stopFaults(cluster: ProcessCluster, nodeId: string): Promise<readonly string[]> {
  const code = await cluster.signal(nodeId, 'SIGTERM')
  return code === 0 ? [] : [`${nodeId} ended with ${code}`]
}

async function diskFaults(cluster: ProcessCluster, nodeId: string): Promise<readonly string[]> {
  const { faults, incomplete } = await auditNode(cluster.node(nodeId).dataDir, nodeId, COPIES)
  return [...faults, ...(incomplete > 0 ? [`${nodeId}: ${incomplete} copies are owed or not listed`] : [])]
}
