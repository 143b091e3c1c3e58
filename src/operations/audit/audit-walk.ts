/**
 * Walks the audit log as one list, wherever its links lie: in rows, or in segments.
 *
 * Owns: where the next link is, and which segments are opened. Knows nothing of: which rows are wanted.
 * Rules: links keep their number when they move from rows into a segment, so a walk that goes by numbers meets each once; no
 * walk holds a cut of the state while it reads copies; a segment that cannot be read is reported as a gap.
 */
import { Condition } from '../../../cluster/index.ts'
import type { AuditIndex, AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import { auditHead } from '../../state-machine/audit/append.ts'
import { auditRowKeys } from '../../state-machine/audit/keys.ts'
import {
  auditLinksBefore,
  auditLinksFrom,
  auditSegmentBefore,
  type PlacedLink,
} from '../../store/reads/audit-rows.ts'
import type { StateReader } from '../../store/reads/state-reader.ts'
import type { AuditSegments } from '../audit-segments/audit-segments.ts'
import { plainRows } from '../audit-segments/link-rows.ts'
import type { SealedLink } from '../audit-segments/segment-format.ts'

export interface AuditWalkParts {
  readonly state: StateReader
  readonly segments: Pick<AuditSegments, 'open'>
}

interface WalkedLog {
  readonly state: StateReader
  readonly auditSegments: Pick<AuditSegments, 'open' | 'walk'>
}

export type WalkStep =
  | { readonly kind: 'link'; readonly link: SealedLink }
  /** `isOpened` false: passed over, nothing in it is wanted. */
  | { readonly kind: 'segment'; readonly segment: AuditSegmentRecord; readonly isOpened: boolean }
  | { readonly kind: 'gap'; readonly segment: AuditSegmentRecord; readonly fault: string }

/** The log is trimmed while it is read: then the walk begins again. */
const TRIES_MAX = 3

/** What `walk` resolves with, of a walk during which no link of it was trimmed; `firstOf`: the first link that it met. Throws Condition slow_down. */
export async function untrimmed<T>(
  { state, auditSegments: segments }: WalkedLog,
  walk: (parts: AuditWalkParts) => Promise<T>,
  firstOf: (walked: T) => number,
): Promise<T> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const walked = await segments.walk(() => walk({ state, segments }))
    if (auditHead(state).first <= firstOf(walked)) return walked
  }
  throw new Condition('slow_down', 'The audit log was trimmed while it was read; ask again')
}

/** The links before `end`, the newest first; a segment is yielded before its links. */
export async function* backwards(
  { state, segments }: AuditWalkParts,
  end: number,
  mayBeIn: (index: AuditIndex) => boolean,
): AsyncGenerator<WalkStep> {
  for (let place = end; place > 0; ) {
    const rows = await auditLinksBefore(state, place)
    // Asked after the rows: links that have left them in between are in a segment by now.
    const segment = await auditSegmentBefore(state, place)
    const sealedTo = segment === null ? 0 : Math.min(segment.next, place)
    const newest = rows[0]
    if (newest !== undefined && newest.sequence >= sealedTo) {
      for (const row of rows) {
        if (row.sequence < sealedTo) break
        yield { kind: 'link', link: opened(row) }
        place = row.sequence
      }
      continue
    }
    if (segment === null) return
    const isWanted = mayBeIn(segment.index)
    const links = isWanted ? await segments.open(segment) : []
    if ('fault' in links) yield { kind: 'gap', segment, fault: links.fault }
    else {
      yield { kind: 'segment', segment, isOpened: isWanted }
      for (const link of links.toReversed()) if (link.sequence < sealedTo) yield { kind: 'link', link }
    }
    place = segment.first
  }
}

/** From `first` on, before `end`, the oldest first; all are opened. Ends early where links are missing or were trimmed. */
export async function* forwards(
  { state, segments }: AuditWalkParts,
  first: number,
  end: number,
): AsyncGenerator<WalkStep> {
  for (let place = first; place < end; ) {
    const segment = await segmentAt(state, place)
    if (segment !== null) {
      const links = await segments.open(segment, false)
      if ('fault' in links) yield { kind: 'gap', segment, fault: links.fault }
      else {
        yield { kind: 'segment', segment, isOpened: true }
        // Links that were committed after `end` was read may be in the same segment.
        for (const link of links)
          if (link.sequence >= place && link.sequence < end) yield { kind: 'link', link }
      }
      place = segment.next
      continue
    }
    const rows = await auditLinksFrom(state, place)
    const oldest = rows[0]
    // They may have left the rows since the segment was looked for.
    if (oldest?.sequence !== place && (await segmentAt(state, place)) !== null) continue
    if (oldest === undefined) return
    for (const row of rows) {
      if (row.sequence >= end) return
      yield { kind: 'link', link: opened(row) }
      place = row.sequence + 1
    }
  }
}

/** How many links there are before `time`: where a walk towards the beginning starts. Times of links ascend. */
export async function linksBefore(state: StateReader, time: number): Promise<number> {
  const { first, next } = auditHead(state)
  let low = first
  let high = next
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = state.get(auditRowKeys.auditLink(middle))
    if (row !== undefined) {
      if (row.time < time) low = middle + 1
      else high = middle
      continue
    }
    const segment = await segmentAt(state, middle)
    // Trimmed meanwhile.
    if (segment === null) low = middle + 1
    else if (segment.lastTime < time) low = segment.next
    else if (segment.firstTime >= time) high = Math.min(middle, segment.first)
    // The walk looks at its links one by one.
    else return segment.next
  }
  return low
}

async function segmentAt(state: StateReader, sequence: number): Promise<AuditSegmentRecord | null> {
  const segment = await auditSegmentBefore(state, sequence + 1)
  return segment !== null && sequence < segment.next ? segment : null
}

function opened({ sequence, link }: PlacedLink): SealedLink {
  const { time, text, hash, packed } = link
  return { sequence, time, text, hash, rows: packed === null ? undefined : plainRows(packed) }
}
