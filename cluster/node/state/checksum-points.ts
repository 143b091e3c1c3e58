/**
 * The checksums of the state at indexes where every node takes one, and the verdict of comparing them.
 *
 * Owns: the last points of this node, and the verdict. Knows nothing of: which nodes are asked, what follows.
 * Rule: a node judges only itself, and only a majority of all members outvotes it.
 */
import { assert } from '../../base/assert.ts'
import type { LogIndex } from '../../raft/types.ts'

/** The checksum in lower-case hex. */
export type ChecksumPoint = readonly [index: LogIndex, checksum: string]

/** Enough for nodes that lag by several points. Count. */
export const POINTS_MAX = 16

export class ChecksumPoints {
  /** Ascending. */
  #points: readonly ChecksumPoint[] = []

  get points(): readonly ChecksumPoint[] {
    return this.#points
  }

  add(index: LogIndex, checksum: Uint8Array): void {
    const kept = this.#points.filter(([earlier]) => earlier < index)
    this.#points = [...kept, [index, Buffer.from(checksum).toString('hex')] as const].slice(-POINTS_MAX)
  }

  clear(): void {
    this.#points = []
  }
}

export interface Verdict {
  /** `outvoted`: a majority has another value. `undecided`: values differ and none has a majority. */
  readonly outcome: 'unknown' | 'agreed' | 'outvoted' | 'undecided'
  /** The point that decides; 0 when no member has one in common with this node. */
  readonly index: LogIndex
}

/** `others`: the points of each member that answered. `members`: how many there are, this one included. */
export function compareChecksums(
  own: readonly ChecksumPoint[],
  others: readonly (readonly ChecksumPoint[])[],
  members: number,
): Verdict {
  let newest: Verdict = { outcome: 'unknown', index: 0 }
  for (const [index, checksum] of own.toReversed()) {
    const theirs = others.flatMap((points) => points.filter(([at]) => at === index).map(([, value]) => value))
    if (theirs.length === 0) continue
    const outcome = outcomeOf(checksum, theirs, members)
    // A node that was wrong stays wrong, so an older point may decide where too few members have reached the newest.
    if (outcome === 'outvoted') return { outcome, index }
    if (newest.outcome === 'unknown') newest = { outcome, index }
  }
  return newest
}

function outcomeOf(own: string, others: readonly string[], members: number): Verdict['outcome'] {
  const counts = new Map([[own, 1]])
  for (const value of others) counts.set(value, (counts.get(value) ?? 0) + 1)
  const isMajority = (count: number): boolean => count > members / 2
  for (const [value, count] of counts) if (isMajority(count)) return value === own ? 'agreed' : 'outvoted'
  return counts.size === 1 ? 'agreed' : 'undecided'
}

export function decodePoints(header: unknown): readonly ChecksumPoint[] {
  assert(Array.isArray(header) && header.length <= POINTS_MAX, 'checksums come as a list')
  return header.map((row: unknown) => {
    assert(Array.isArray(row), 'a checksum has its index')
    const [index, checksum]: unknown[] = row
    assert(typeof index === 'number' && typeof checksum === 'string', 'a checksum has its index')
    return [index, checksum]
  })
}
