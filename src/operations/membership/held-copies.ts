/**
 * What a member holds when a change of the members begins, and how long the change may take.
 *
 * Owns: the figures of dry runs and of the first second of an operation. Knows nothing of: votes, gates.
 * Rule: no more than CHUNKS_MAX rows are looked at; where there are more, the last count of this node is used instead.
 */
import { chunkKeys, chunkRanges } from '../../state-machine/chunks/keys.ts'
import type { HeldBytes } from '../../state-machine/members/records.ts'
import type { MembershipKind } from '../../state-machine/long-operations/records.ts'
import type { Services } from '../base/services.ts'

export interface Held {
  readonly copiesToMove: number
  readonly bytesToMove: number
  /** Of those: no other copy is listed. */
  readonly lastCopies: number
  /** false: there are more chunks than were looked at. */
  readonly isComplete: boolean
}

const PAGE = 1_000
const CHUNKS_MAX = 10_000
const NOTHING_HELD: Held = { copiesToMove: 0, bytesToMove: 0, lastCopies: 0, isComplete: true }

/** Of a copy: fetched, written, flushed, read back, committed. Estimates until there is a pace. */
const COPY_MS = 10
const BYTES_PER_SECOND = 50 * 1024 * 1024
/** Of the state, to a node that has nothing. */
const STATE_MS = 5_000
const VOTES_MS = 1_000

interface Leaving {
  readonly kind: MembershipKind
  readonly nodeId: string
}

export async function heldBeforeChange(services: Services, { kind, nodeId }: Leaving): Promise<Held> {
  if (kind === 'join' || kind === 'remove') return NOTHING_HELD
  const walked = await walkedOver(services, nodeId)
  if (walked.isComplete) return walked
  const counted = (await services.replicaCounter.look())?.held.get(nodeId)
  if (counted === undefined) return walked
  const { replicas: copiesToMove, bytes: bytesToMove, lastCopies } = counted
  return { copiesToMove, bytesToMove, lastCopies, isComplete: true }
}

export async function begunWith(
  services: Services,
  leaving: Leaving,
): Promise<{ readonly toMove: HeldBytes; readonly dueInMs: number }> {
  const { copiesToMove: copies, bytesToMove: bytes } = await heldBeforeChange(services, leaving)
  const toMove = { copies, bytes }
  return { toMove, dueInMs: durationOf(services, leaving.kind, toMove) }
}

function durationOf({ state, config }: Services, kind: MembershipKind, { copies, bytes }: HeldBytes): number {
  const rate = state.get(chunkKeys.settings())?.repairBytesPerSecond ?? BYTES_PER_SECOND
  const joining = kind === 'join' || kind === 'replace' ? STATE_MS + config.cluster.promoteAfterMs : 0
  return Math.ceil(VOTES_MS + joining + Math.max(copies * COPY_MS, (bytes / rate) * 1_000))
}

async function walkedOver({ state }: Services, nodeId: string): Promise<Held> {
  let [copiesToMove, bytesToMove, lastCopies, seen, after] = [0, 0, 0, 0, '' as string | null]
  while (after !== null && seen < CHUNKS_MAX) {
    const { items, next } = await state.page(chunkRanges.chunks(), { after, limit: PAGE })
    for (const { replicas, sealedSize } of items) {
      if (!replicas.includes(nodeId)) continue
      copiesToMove += 1
      bytesToMove += sealedSize
      if (replicas.length === 1) lastCopies += 1
    }
    seen += items.length
    after = next
  }
  return { copiesToMove, bytesToMove, lastCopies, isComplete: after === null }
}
