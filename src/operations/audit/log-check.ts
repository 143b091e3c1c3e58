/**
 * Checks what a walk through the audit log meets: the chain of links, and each segment against its row.
 *
 * Owns: the kinds of faults, and what was counted. Knows nothing of: where the walk begins and ends.
 * Rules: what cannot be read is a fault of its own, and everything around it is checked all the same; a segment is compared with its row only when the walk covers all of it.
 */
import { ChainCheck, type ChainPlace, type NotedHead } from '../../state-machine/audit/audit-chain.ts'
import type { AuditHeadRecord, AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import { rowFault } from '../audit-segments/audit-segments.ts'
import { type SealedLink, sha256 } from '../audit-segments/segment-format.ts'
import type { WalkStep } from './audit-walk.ts'

const NO_BYTES = new Uint8Array()

/** A segment that cannot be read; a link that was changed, removed or swapped; a segment row that differs from its segment; a chain that ends at another link than its head says. */
export const LOG_FAULT_KINDS = ['unreadable', 'link', 'segmentRow', 'end'] as const

export interface LogFault {
  readonly kind: (typeof LOG_FAULT_KINDS)[number]
  /** The number of the first link of the segment it was found in. Null: in links that no segment holds yet. */
  readonly segment: number | null
  /** A sentence. */
  readonly text: string
}

interface Beginning {
  readonly noted?: NotedHead | null
  /** Null: at the oldest link that is kept. */
  readonly from?: ChainPlace | null
}

export class LogCheck {
  readonly #head: AuditHeadRecord
  readonly #chain: ChainCheck
  readonly #begin: number
  readonly #rowFaults: string[] = []
  #open: { readonly segment: AuditSegmentRecord; readonly links: SealedLink[] } | null = null
  /** The segment of the links that come now. */
  #segment: AuditSegmentRecord | null = null
  #firstFault: LogFault | null = null
  links = 0
  segments = 0

  constructor(head: AuditHeadRecord, { noted = null, from = null }: Beginning) {
    this.#head = head
    this.#chain = new ChainCheck(sha256, head, noted, from)
    this.#begin = from?.next ?? head.first
  }

  get rows(): number {
    return this.#chain.rows
  }

  get place(): ChainPlace {
    return this.#chain.place
  }

  get firstFault(): LogFault | null {
    return this.#firstFault
  }

  /** Whether a step belongs to the segment that was taken last. */
  isWithin(step: WalkStep): boolean {
    return step.kind === 'link' && step.link.sequence < (this.#segment?.next ?? 0)
  }

  take(step: WalkStep): void {
    if (!this.isWithin(step)) this.#closeSegment()
    if (step.kind === 'link') this.#takeLink(step.link)
    else this.#takeSegment(step)
  }

  /** The end of a part of the chain. */
  pause(): void {
    this.#closeSegment()
  }

  /** The end of the chain. Returns all faults as sentences; empty when the log is whole. */
  finish(): readonly string[] {
    this.#closeSegment()
    const found = this.#chain.finish()
    this.#note('end', found[0])
    return [...this.#rowFaults, ...found]
  }

  #takeLink(link: SealedLink): void {
    const { sequence, rows, ...rest } = link
    this.#open?.links.push(link)
    this.#chain.take(sequence, { ...rest, packed: rows === undefined ? null : NO_BYTES }, () => rows ?? null)
    this.links++
    this.#note('link', this.#chain.faults[0])
  }

  #takeSegment(step: Exclude<WalkStep, { readonly kind: 'link' }>): void {
    const { segment } = step
    this.segments++
    this.#segment = segment
    if (step.kind === 'gap') {
      this.#chain.skip(segment, step.fault)
      this.#note('unreadable', this.#chain.faults[0])
    } else if (segment.first >= this.#begin && segment.next <= this.#head.next) {
      this.#open = { segment, links: [] }
    }
  }

  #closeSegment(): void {
    const open = this.#open
    const fault = open === null ? null : rowFault(open.segment, open.links)
    if (fault !== null) {
      const text = `the row of the segment of link ${open?.segment.first} differs from it: ${fault}`
      this.#rowFaults.push(text)
      this.#note('segmentRow', text)
    }
    this.#open = this.#segment = null
  }

  /** Only the first one is kept. */
  #note(kind: LogFault['kind'], text: string | undefined): void {
    if (text !== undefined) this.#firstFault ??= { kind, segment: this.#segment?.first ?? null, text }
  }
}
