/**
 * How many bytes the segments of the audit log have, and which of the oldest are too many.
 *
 * Owns: the running sum. Knows nothing of: copies, when to trim.
 * Rules: one look reads a bounded number of rows; segments join without a gap, so each names the next. A log that was trimmed by
 * something else is measured again.
 */
import { rowsBegin } from '../state-machine/audit/audit-segments.ts'
import { auditHead } from '../state-machine/audit/append.ts'
import { auditRowKeys } from '../state-machine/audit/keys.ts'
import { AUDIT_TRIM_SEGMENTS_MAX } from '../state-machine/audit/records.ts'
import type { View } from '../state-machine/base/view.ts'

const ROWS_PER_LOOK = 1_000

/** The oldest segments that one entry may trim. */
export interface Excess {
  readonly bytes: number
  /** Number of the first link behind them. */
  readonly next: number
  /** Of their newest link. ms since 1970 */
  readonly lastTime: number
}

export class AuditSize {
  #from = 0
  #to = 0
  #bytes = 0

  /** Of one copy of all segments, compressed; null: it takes further looks to say. */
  look(view: View): number | null {
    const head = auditHead(view)
    const end = rowsBegin(head).first
    if (head.first !== this.#from) {
      this.#from = head.first
      this.#to = head.first
      this.#bytes = 0
    }
    for (let rows = 0; this.#to < end; rows++) {
      if (rows === ROWS_PER_LOOK) return null
      const segment = view.get(auditRowKeys.auditSegment(this.#to))
      if (segment === undefined) return null
      this.#bytes += segment.size
      this.#to = segment.next
    }
    return this.#bytes
  }

  /** As many of the oldest as have `bytes` together, within one entry. Null: there are none. */
  oldest(view: View, bytes: number): Excess | null {
    let found: Excess = { bytes: 0, next: this.#from, lastTime: 0 }
    for (let n = 0; n < AUDIT_TRIM_SEGMENTS_MAX && found.bytes < bytes && found.next < this.#to; n++) {
      const segment = view.get(auditRowKeys.auditSegment(found.next))
      if (segment === undefined) break
      const { next, size, lastTime } = segment
      found = { bytes: found.bytes + size, next, lastTime }
    }
    return found.bytes === 0 ? null : found
  }

  /** These are gone, so that the others need not be measured again. */
  trimmed({ bytes, next }: Excess): void {
    this.#from = next
    this.#bytes -= bytes
  }
}
