/**
 * The chain of the audit log: each link is hashed over the one before it.
 *
 * Owns: how a link is made and how a chain is checked. Knows nothing of: what rows say, where they are kept.
 * Rule: what is checked is what was hashed; a link that was changed, taken out, swapped or cut off at either end shows.
 */
import type { TextDigest } from '../base/view.ts'
import {
  type AuditBatch,
  type AuditHeadRecord,
  type AuditLinkRecord,
  type AuditSegmentRecord,
  NO_LINK,
} from './records.ts'

const FAULTS_SHOWN = 16

export const NO_HEAD: AuditHeadRecord = { next: 0, hash: NO_LINK, first: 0, anchor: NO_LINK }

export function linkHash(digest: TextDigest, before: string, text: string): string {
  return digest(`${before}\n${text}`)
}

/** The plain rows of a batch as they were hashed, or null when they cannot be unpacked. */
export type Unpacked = string | null

/** A place in the chain that somebody noted earlier: how many links there were, and the hash of the last. */
export interface NotedHead {
  readonly next: number
  readonly hash: string
}

export type SkippedLinks = Pick<AuditSegmentRecord, 'first' | 'next' | 'anchor' | 'hash' | 'lastTime'>

export class ChainCheck {
  readonly #digest: TextDigest
  readonly #head: AuditHeadRecord
  readonly #noted: NotedHead | null
  #expected: number
  #hash: string
  #time = 0
  #rows = 0
  #isNotedMet = false
  readonly #faults: string[] = []
  #faultCount = 0

  constructor(digest: TextDigest, head: AuditHeadRecord, noted: NotedHead | null = null) {
    this.#digest = digest
    this.#head = head
    this.#noted = noted
    this.#expected = head.first
    this.#hash = head.anchor
    this.#meetNoted()
  }

  get rows(): number {
    return this.#rows
  }

  /** In the order of the chain. `unpack` is asked for the rows of a batch. */
  take(sequence: number, link: AuditLinkRecord, unpack: (packed: Uint8Array) => Unpacked): void {
    if (sequence !== this.#expected)
      this.#fault(`link ${this.#expected} is missing, link ${sequence} follows`)
    const { time, text, packed, hash } = link
    if (linkHash(this.#digest, this.#hash, text) !== hash)
      this.#fault(`link ${sequence} does not follow from the one before it`)
    if (time < this.#time) this.#fault(`link ${sequence} is older than the one before it`)
    else this.#takeTime(sequence, link)
    this.#takeRows(sequence, { text, rows: packed === null ? undefined : unpack(packed) })
    // From what it claims on, so that one bad link is told once.
    this.#hash = hash
    this.#time = time
    this.#expected = sequence + 1
    this.#meetNoted()
  }

  /** Links that cannot be read. What follows is checked from the hash on that their row claims. */
  skip({ first, next, anchor, hash, lastTime }: SkippedLinks, why: string): void {
    this.#fault(`links ${first} to ${next - 1} cannot be read: ${why}`)
    if (first !== this.#expected) this.#fault(`link ${this.#expected} is missing, link ${first} follows`)
    if (anchor !== this.#hash) this.#fault(`link ${first} does not follow from the one before it`)
    const noted = this.#noted?.next
    // Whether it was there cannot be told, and the fault above says why.
    if (noted !== undefined && noted > first && noted < next) this.#isNotedMet = true
    this.#hash = hash
    this.#time = lastTime
    this.#expected = next
    this.#meetNoted()
  }

  /** What is wrong, in sentences; empty when the chain is whole. */
  finish(): readonly string[] {
    const { next, hash } = this.#head
    if (this.#expected !== next)
      this.#fault(`the chain ends before link ${this.#expected}, its head says ${next}`)
    else if (this.#hash !== hash) this.#fault('the last link is not the one that the head names')
    if (this.#noted !== null && !this.#isNotedMet)
      this.#fault(`the chain does not contain the head that was noted at ${this.#noted.next} links`)
    const more = this.#faultCount - this.#faults.length
    return more === 0 ? this.#faults : [...this.#faults, `and ${more} more`]
  }

  /** Times of links never fall: after the time of the log was set back they stay where they were until it has come up to them. */
  #takeTime(sequence: number, { time, text }: AuditLinkRecord): void {
    const said = parsed(text)?.time
    if (typeof said === 'number' && time === Math.max(said, this.#time)) return
    // What the link before it said is trimmed away.
    const isBehindTrimmed = sequence > 0 && sequence === this.#head.first
    if (isBehindTrimmed && typeof said === 'number' && said <= time) return
    this.#fault(`link ${sequence} stands under another time than its text says`)
  }

  #takeRows(
    sequence: number,
    { text, rows }: { readonly text: string; readonly rows: Unpacked | undefined },
  ): void {
    if (rows === undefined) {
      this.#rows++
      return
    }
    const { digest, count } = (parsed(text) ?? {}) as Partial<AuditBatch>
    if (rows === null) this.#fault(`the rows of link ${sequence} cannot be unpacked`)
    else if (this.#digest(rows) !== digest) this.#fault(`the rows of link ${sequence} were changed`)
    else if (rows.split('\n').length !== count) this.#fault(`link ${sequence} holds another number of rows`)
    else this.#rows += count
  }

  /** Trimmed away already: whether it was ever there cannot be told any more. */
  #meetNoted(): void {
    if (this.#noted === null) return
    const { next, hash } = this.#noted
    if (next < this.#head.first) this.#isNotedMet = true
    else if (next === this.#expected) this.#isNotedMet = hash === this.#hash
  }

  #fault(what: string): void {
    this.#faultCount++
    if (this.#faults.length < FAULTS_SHOWN) this.#faults.push(what)
  }
}

function parsed(text: string): { readonly time?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
