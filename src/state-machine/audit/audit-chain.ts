/**
 * The chain of the audit log: the hash of each link covers the hash of the link before it.
 *
 * Owns: how a link is made and how a chain is checked. Knows nothing of: the content of rows, where they are kept.
 * Rule: the check hashes the same text that was hashed; it detects a link that was changed, removed, swapped or cut off at either end.
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

/** A head of the chain that a person or program noted earlier: the number of links then, and the hash of the last one. */
export interface NotedHead {
  readonly next: number
  readonly hash: string
}

/** Up to where a chain was checked: the number of the next link, and hash and time (ms since 1970) of the link before it. */
export interface ChainPlace {
  readonly next: number
  readonly hash: string
  readonly time: number
}

export type SkippedLinks = Pick<AuditSegmentRecord, 'first' | 'next' | 'anchor' | 'hash' | 'lastTime'>

export class ChainCheck {
  readonly #digest: TextDigest
  readonly #head: AuditHeadRecord
  readonly #noted: NotedHead | null
  #expected: number
  #hash: string
  #time: number
  #rows = 0
  #isNotedMet = false
  readonly #faults: string[] = []
  #faultCount = 0

  /** `from`: where an earlier check of this chain ended; null: begin at the oldest link that is kept. */
  constructor(
    digest: TextDigest,
    head: AuditHeadRecord,
    noted: NotedHead | null = null,
    from: ChainPlace | null = null,
  ) {
    this.#digest = digest
    this.#head = head
    this.#noted = noted
    this.#expected = from?.next ?? head.first
    this.#hash = from?.hash ?? head.anchor
    this.#time = from?.time ?? 0
    this.#meetNoted()
  }

  get place(): ChainPlace {
    return { next: this.#expected, hash: this.#hash, time: this.#time }
  }

  /** The first faults so far, as sentences. */
  get faults(): readonly string[] {
    return this.#faults
  }

  get rows(): number {
    return this.#rows
  }

  /** Takes links in the order of the chain. `unpack` returns the rows of a batch. */
  take(sequence: number, link: AuditLinkRecord, unpack: (packed: Uint8Array) => Unpacked): void {
    if (sequence !== this.#expected)
      this.#fault(`link ${this.#expected} is missing, link ${sequence} follows`)
    const { time, text, packed, hash } = link
    if (linkHash(this.#digest, this.#hash, text) !== hash)
      this.#fault(`link ${sequence} does not follow from the one before it`)
    if (time < this.#time) this.#fault(`link ${sequence} is older than the one before it`)
    else this.#takeTime(sequence, link)
    this.#takeRows(sequence, { text, rows: packed === null ? undefined : unpack(packed) })
    // Continue from the claimed hash, so that one bad link is reported once.
    this.#hash = hash
    this.#time = time
    this.#expected = sequence + 1
    this.#meetNoted()
  }

  /** Skips links that cannot be read. The check continues from the hash that their segment row claims. */
  skip({ first, next, anchor, hash, lastTime }: SkippedLinks, why: string): void {
    this.#fault(`links ${first} to ${next - 1} cannot be read: ${why}`)
    if (first !== this.#expected) this.#fault(`link ${this.#expected} is missing, link ${first} follows`)
    if (anchor !== this.#hash) this.#fault(`link ${first} does not follow from the one before it`)
    const noted = this.#noted?.next
    // Whether the noted head was there is unknown; the fault above says why.
    if (noted !== undefined && noted > first && noted < next) this.#isNotedMet = true
    this.#hash = hash
    this.#time = lastTime
    this.#expected = next
    this.#meetNoted()
  }

  /** Returns the faults as sentences; empty when the chain is whole. */
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

  /** Link times never decrease: after the log time was set back they stay constant until it has caught up. */
  #takeTime(sequence: number, { time, text }: AuditLinkRecord): void {
    const textTime = parsed(text)?.time
    if (typeof textTime === 'number' && time === Math.max(textTime, this.#time)) return
    // The time of the link before it is unknown: that link is trimmed.
    const isBehindTrimmed = sequence > 0 && sequence === this.#head.first
    if (isBehindTrimmed && typeof textTime === 'number' && textTime <= time) return
    this.#fault(`the time of link ${sequence} differs from the time in its text`)
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

  /** A noted head that is trimmed counts as met: whether it was ever there cannot be checked any more. */
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

/** Of a link that was made here, whose rows are packed. */
export const batchOf = (text: string): AuditBatch => JSON.parse(text) as AuditBatch

function parsed(text: string): { readonly time?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
