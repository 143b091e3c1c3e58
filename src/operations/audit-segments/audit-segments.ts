/**
 * Segments of the audit log, made and opened again.
 *
 * Owns: what is said of a segment in its row, and the few that stay open. Knows nothing of: which one somebody wants, and when one
 * is made. Rules: what is opened is compared with its row before any caller sees it; memory for open segments is bounded.
 */
import { isDeepStrictEqual } from 'node:util'
import { Condition } from '../../../cluster/index.ts'
import { batchOf } from '../../state-machine/audit/audit-chain.ts'
import type { AuditIndex, AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import type { PlacedLink } from '../../store/reads/audit-rows.ts'
import { parseRow, plainRows, textsOf } from './link-rows.ts'
import { decodeSegment, encodeSegment, SegmentBrokenError, type SealedLink } from './segment-format.ts'
import { IndexBuilder } from './segment-index.ts'

/** Plain bytes of the segments that stay open; one stays in any case. */
const OPEN_BYTES_MAX = 32 * 1024 * 1024
/** Queries and verifications at a time: each holds one opened segment besides. */
const WALKS_MAX = 8

export interface MadeSegment {
  readonly segment: Omit<AuditSegmentRecord, 'chunkId' | 'size'>
  readonly packed: Buffer
}

/** `anchor`: the hash before the first of `links`, which follow each other. */
export async function makeSegment(anchor: string, links: readonly PlacedLink[]): Promise<MadeSegment> {
  const { bytes, packed } = await encodeSegment(anchor, links)
  const made = await decodeSegment(packed)
  const isSame = made.links.every((link, n) => isEqual(link, links[n]))
  if (!isSame || made.links.length !== links.length || made.anchor !== anchor)
    throw new Error('The segment does not decode to the links that it was made of')
  return { segment: { ...describe(made), bytes }, packed }
}

function isEqual(made: SealedLink, placed: PlacedLink | undefined): boolean {
  if (placed === undefined || placed.sequence !== made.sequence) return false
  const { time, text, packed, hash } = placed.link
  const rows = packed === null ? undefined : plainRows(packed)
  return time === made.time && text === made.text && hash === made.hash && rows === made.rows
}

/** Everything that follows from the links. */
function describe({ anchor, links }: { readonly anchor: string; readonly links: readonly SealedLink[] }) {
  const [oldest, newest] = [links[0], links.at(-1)]
  if (oldest === undefined || newest === undefined) throw new SegmentBrokenError('The segment is empty')
  const index = new IndexBuilder()
  const spools = new Map<string, { readonly node: string; readonly spool: string; readonly time: number }>()
  let rows = 0
  for (const { time, text, rows: batch } of links) {
    if (batch !== undefined) {
      const { nodeId: node, spool } = batchOf(text)
      spools.set(`${node}\n${spool}`, { node, spool, time })
    }
    for (const row of textsOf(text, batch)) {
      rows++
      const parsed = parseRow(row)
      if (parsed !== null) index.add(parsed)
    }
  }
  return {
    first: oldest.sequence,
    next: newest.sequence + 1,
    anchor,
    hash: newest.hash,
    firstTime: oldest.time,
    lastTime: newest.time,
    rows,
    spools: [...spools.values()],
    index: index.finish(),
  }
}

/** In what the row of a segment differs from its links; null: in nothing. For verification. */
export function rowFault(segment: AuditSegmentRecord, links: readonly SealedLink[]): string | null {
  const found = comparable(describe({ anchor: segment.anchor, links }))
  const claimed = comparable(segment)
  const names = (Object.keys(found) as (keyof typeof found)[]).filter(
    (name) => !isDeepStrictEqual(found[name], claimed[name]),
  )
  return names.length === 0 ? null : names.join(', ')
}

/** Rows that were read hold bytes of another class than those that were just made. */
function comparable<T extends { readonly index: AuditIndex }>({ index, ...same }: T) {
  return { ...same, index: { ...index, names: Buffer.from(index.names).toString('hex') } }
}

/** Why no node can read the rows of a segment. */
export interface SegmentFault {
  readonly fault: string
}

export class AuditSegments {
  readonly #content: { read(id: string, size: number): Promise<Buffer> }
  /** In the order of last use, longest ago first. */
  readonly #open = new Map<string, { readonly links: readonly SealedLink[]; readonly bytes: number }>()
  #bytes = 0
  #walks = 0

  constructor(content: { read(id: string, size: number): Promise<Buffer> }) {
    this.#content = content
  }

  /** Throws Condition `slow_down` while WALKS_MAX others are at work. */
  async walk<T>(work: () => Promise<T>): Promise<T> {
    if (this.#walks >= WALKS_MAX)
      throw new Condition('slow_down', `${WALKS_MAX} others read the audit log through this node now`)
    this.#walks++
    try {
      return await work()
    } finally {
      this.#walks--
    }
  }

  /** Its links, or why there are none. `kept` false: for a walk through all of them, which would push out what others use. */
  async open(segment: AuditSegmentRecord, isKept = true): Promise<readonly SealedLink[] | SegmentFault> {
    const { chunkId, size, bytes } = segment
    const known = this.#open.get(chunkId)
    if (known !== undefined && isKept) {
      this.#open.delete(chunkId)
      this.#open.set(chunkId, known)
      return known.links
    }
    try {
      const { anchor, links } = await decodeSegment(await this.#content.read(chunkId, size))
      const isThat =
        anchor === segment.anchor &&
        links[0]?.sequence === segment.first &&
        links.length === segment.next - segment.first &&
        links.at(-1)?.hash === segment.hash
      if (!isThat) return { fault: 'the segment holds other links than its row says' }
      if (isKept) this.#keep(chunkId, { links, bytes })
      return links
    } catch (error) {
      if (error instanceof SegmentBrokenError) return { fault: error.message }
      if (error instanceof Condition && error.code === 'not_enough_replicas')
        return { fault: 'no copy of the segment can be read' }
      throw error
    }
  }

  #keep(id: string, opened: { readonly links: readonly SealedLink[]; readonly bytes: number }): void {
    if (this.#open.has(id)) return
    this.#open.set(id, opened)
    this.#bytes += opened.bytes
    for (const [oldest, { bytes }] of this.#open) {
      if (this.#bytes <= OPEN_BYTES_MAX || oldest === id) return
      this.#open.delete(oldest)
      this.#bytes -= bytes
    }
  }
}
