/**
 * Takes the state over from the first peer that has a wanted one.
 *
 * Owns: the order in which peers are asked, and which of their errors is reported. Knows nothing of: why the state is needed.
 * Rule: a pulled state counts only after the state machine has verified it and switched. A peer that fails midway costs only the rest:
 * the state machine keeps the pulled blocks, and the next peer sends only those that differ.
 */
import { assert } from '../../base/assert.ts'
import { collectBody } from '../../transport/collect-body.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { SnapshotCounts } from './snapshot-cuts.ts'
import { decodeMachineRecord } from '../base/machine-record.ts'
import {
  BLOCK_BYTES_MAX,
  decodeBlock,
  decodeOpened,
  encodeBlockRequest,
  RECORD_BYTES_MAX,
  SNAPSHOT_METHODS,
} from './snapshot-calls.ts'
import type { LogBase, NodeId } from '../../raft/types.ts'
import type { Transport } from '../../transport/transport.ts'
import {
  type Logger,
  type StateBlockRequest,
  StateDamagedError,
  type StateMachine,
  type StateSource,
} from '../../base/types.ts'

/** How often each peer is asked: after a forgotten snapshot or a lost connection the pull continues with another. Count. */
const ROUNDS = 2

export interface StatePullParts {
  readonly transport: Transport
  readonly stateMachine: StateMachine
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Absent: not counted. */
  readonly counts?: Pick<SnapshotCounts, 'fetchedBytes' | 'reusedBytes'>
  readonly limits: Pick<NodeLimits, 'snapshotCallTimeoutMs' | 'featureLevelMax'>
}

export interface StateWanted {
  /** In the order of the requests. */
  readonly peers: readonly NodeId[]
  readonly isWanted: (base: LogBase) => boolean
}

/** The record of the installed state, or null when no peer had a wanted one. Throws the last error when a pull failed. */
export async function pullState(
  parts: StatePullParts,
  { peers, isWanted }: StateWanted,
): Promise<Uint8Array | null> {
  let failure: unknown = null
  for (const peer of Array.from({ length: ROUNDS }, () => peers).flat()) {
    if (parts.signal.aborted) break
    try {
      const record = await pullFrom(parts, peer, isWanted)
      if (record !== null) return record
    } catch (error) {
      if (error instanceof StateDamagedError) throw error
      parts.logger.debug({ peer, err: error }, 'state not pulled from this peer')
      failure = error
    }
  }
  if (failure !== null) throw failure
  return null
}

async function pullFrom(
  parts: StatePullParts,
  peer: NodeId,
  isWanted: (base: LogBase) => boolean,
): Promise<Uint8Array | null> {
  const { transport, stateMachine, signal, limits } = parts
  const { featureLevelMax, snapshotCallTimeoutMs: timeoutMs } = limits
  const answer = await transport.call(peer, SNAPSHOT_METHODS.open, { header: null, signal, timeoutMs })
  const record = await collectBody(answer.body, RECORD_BYTES_MAX)
  const { id, base, checksum } = decodeOpened(answer.header)
  const { appliedIndex, appliedTerm, featureLevel } = decodeMachineRecord(record)
  assert(
    featureLevel <= featureLevelMax,
    `the state of ${peer} is at feature level ${featureLevel}, this node knows ${featureLevelMax}`,
  )
  assert(appliedIndex === base.index && appliedTerm === base.term, 'a snapshot holds what its header states')
  try {
    if (!isWanted(base)) return null
    const block = (request: StateBlockRequest) => callBlock(parts, peer, { id, request })
    const source: StateSource = { record, checksum, block }
    return await stateMachine.install(source)
  } finally {
    giveUp(parts, peer, id)
  }
}

async function callBlock(
  { transport, signal, counts, limits: { snapshotCallTimeoutMs: timeoutMs } }: StatePullParts,
  peer: NodeId,
  { id, request }: { readonly id: string; readonly request: StateBlockRequest },
) {
  const header = encodeBlockRequest(id, request)
  const answer = await transport.call(peer, SNAPSHOT_METHODS.block, { header, signal, timeoutMs })
  const block = decodeBlock(answer.header, await collectBody(answer.body, BLOCK_BYTES_MAX))
  if (counts) {
    counts.fetchedBytes += block.rows?.length ?? 0
    counts.reusedBytes += block.rows === null ? (request.held?.bytes ?? 0) : 0
  }
  return block
}

/** Not awaited: a peer that does not receive it drops the cut by itself. */
function giveUp(
  { transport, logger, limits: { snapshotCallTimeoutMs: timeoutMs } }: StatePullParts,
  peer: NodeId,
  id: string,
): void {
  transport.call(peer, SNAPSHOT_METHODS.close, { header: { id }, timeoutMs }).then(
    ({ body }) => body[Symbol.asyncIterator]().return?.(),
    (error: unknown) => logger.debug({ peer, err: error }, 'snapshot not closed at its source'),
  )
}
