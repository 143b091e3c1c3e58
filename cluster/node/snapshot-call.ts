/**
 * The `snapshot.get` call: a node that was away longer than the log reaches pulls the whole state of another.
 *
 * Layout: answer header = { index, term } of the last entry inside; body = the stream of StateMachine.snapshot().
 * Knows nothing of: rows and checksums, which the stream carries itself. Rule: what is pulled counts only after the state machine
 * has verified and switched to it, and only if it is newer than what this node has applied.
 */
import { assert } from './assert.ts'
import { decodeMachineRecord } from './machine-record.ts'
import {
  PeerRefusedError,
  type ByteStream,
  type CallHandler,
  type Transport,
} from '../transport/transport.ts'
import type { LogBase, NodeId } from '../raft/types.ts'
import type { StateMachine, StateSnapshot } from '../types.ts'
import type { NodeLimits } from './limits.ts'

export const SNAPSHOT_METHOD = 'snapshot.get'

export interface SnapshotCounts {
  served: number
  installed: number
  failed: number
}

/** `isOpen` false: this node is stopping or has failed and gives nothing away. */
export function snapshotHandler(
  stateMachine: StateMachine,
  limits: NodeLimits,
  counts: SnapshotCounts,
  isOpen: () => boolean,
): CallHandler {
  let open = 0
  return async () => {
    if (!isOpen()) throw new PeerRefusedError('shutting_down', 'This node gives no snapshot any more')
    if (open >= limits.snapshotsServedMax)
      throw new PeerRefusedError('slow_down', 'This node sends snapshots already')
    open += 1
    try {
      const snapshot = await stateMachine.snapshot()
      const { appliedIndex, appliedTerm } = decodeMachineRecord(snapshot.record)
      const body = releasing(snapshot, () => (open -= 1))
      counts.served += 1
      return { header: { index: appliedIndex, term: appliedTerm }, body }
    } catch (error) {
      open -= 1
      throw error
    }
  }
}

export interface OfferedSnapshot {
  readonly base: LogBase
  readonly stream: ByteStream
}

/** The stream must be read to its end or left by `return`. Throws PeerRefusedError or PeerUnreachableError. */
export async function callSnapshot(
  transport: Transport,
  from: NodeId,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<OfferedSnapshot> {
  const { header, body } = await transport.call(from, SNAPSHOT_METHOD, { header: null, ...options })
  assert(typeof header === 'object' && header !== null, 'a snapshot answer has a header')
  assert('index' in header && typeof header.index === 'number', 'a snapshot answer names its index')
  assert('term' in header && typeof header.term === 'number', 'a snapshot answer names its term')
  return { base: { index: header.index, term: header.term }, stream: body }
}

/** Gives the cut up exactly once: at the end of the stream, when the reader leaves, or when it fails. */
function releasing(snapshot: StateSnapshot, onReleased: () => void): ByteStream {
  let isReleased = false
  const release = async (): Promise<void> => {
    if (isReleased) return
    isReleased = true
    onReleased()
    await snapshot.release()
  }
  return {
    // Not a generator: `return` on a generator that nobody has started runs no `finally`, and the cut would stay open.
    [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
      const source = snapshot.stream[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const step = await source.next()
            if (step.done) await release()
            return step
          } catch (error) {
            await release()
            throw error
          }
        },
        async return() {
          await source.return?.()
          await release()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
