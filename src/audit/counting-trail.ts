/**
 * The audit rows of one node by caller: known callers and unproved ones have a spool each, and floods are counted.
 *
 * Owns: which row goes where, and the bounds of counting. Knows nothing of: requests, the log.
 * Rules: an unproved caller never takes space from a known one: with its spool full its requests are counted, in memory of a fixed size,
 * until there is space; only the spool of known callers refuses requests. A count is at most a window old when it is written, so a
 * node that loses power loses that much of the counts, and no row.
 */
import { join } from 'node:path'
import { counter, gauge, type MetricSample } from '../../cluster/index.ts'
import type { AuditRow } from '../state-machine/audit/records.ts'
import { AuditSpool, type AuditSpoolOptions } from './audit-spool.ts'
import { type AuditTrail, type CallerKind, EACH_ROW, type RowClass } from './audit-trail.ts'
import { RequestTally, type TallyBounds } from './request-tally.ts'

const MINUTE_MS = 60_000

/** The rows of a group of unproved callers are cut short: together some 2 MB. */
const UNPROVED: TallyBounds = { ownRows: 10, ownRowsOfAll: 600, groupsMax: 1_024, windowMs: MINUTE_MS }
/** Only refusals and scrapes of known callers are counted. */
const KNOWN: TallyBounds = { ownRows: 100, ownRowsOfAll: 6_000, groupsMax: 1_024, windowMs: MINUTE_MS }

/** Bytes of rows of unproved callers in memory, beyond which they are counted. */
const UNPROVED_PENDING_BYTES_MAX = 1024 * 1024

interface CountingTrailOptions
  extends Pick<AuditSpoolOptions, 'dir' | 'logger' | 'files' | 'later' | 'cipher'> {
  readonly strict: boolean
  /** Bytes on disk at which requests are refused. */
  readonly spoolBytesMax: number
  /** Bytes on disk at which requests of unproved callers are counted. */
  readonly unprovedSpoolBytesMax: number
  /** Monotonic milliseconds. */
  readonly now: () => number
}

interface CountingTrailParts {
  readonly known: AuditSpool
  readonly unproved: AuditSpool
  readonly now: () => number
}

interface Desk {
  readonly spool: AuditSpool
  readonly tally: RequestTally
}

export class CountingTrail implements AuditTrail {
  /** Resolves with the cause when rows may have been lost. Never rejects. */
  readonly failed: Promise<Error>
  readonly #desks: Readonly<Record<CallerKind, Desk>>
  readonly #now: () => number

  static async open(options: CountingTrailOptions): Promise<CountingTrail> {
    const { strict: isStrict, now, dir } = options
    const known = await AuditSpool.open({ ...options, isStrict, bytesMax: options.spoolBytesMax })
    const unproved = await AuditSpool.open({
      ...options,
      isStrict,
      dir: join(dir, 'unproved'),
      bytesMax: options.unprovedSpoolBytesMax,
      pendingBytesMax: UNPROVED_PENDING_BYTES_MAX,
    })
    return new CountingTrail({ known, unproved, now })
  }

  private constructor({ known, unproved, now }: CountingTrailParts) {
    this.#desks = {
      known: { spool: known, tally: new RequestTally(KNOWN) },
      unproved: { spool: unproved, tally: new RequestTally(UNPROVED) },
    }
    this.#now = now
    this.failed = Promise.race([known.failed, unproved.failed])
  }

  get isStrict(): boolean {
    return this.#desks.known.spool.isStrict
  }

  /** In the order of shipping: rows of known callers come first. */
  get spools(): readonly AuditSpool[] {
    return [this.#desks.known.spool, this.#desks.unproved.spool]
  }

  admit(): void {
    this.#desks.known.spool.admit()
  }

  append(row: AuditRow, { caller, kept, by }: RowClass = EACH_ROW): void {
    const { spool, tally } = this.#desks[caller]
    const isOwn =
      kept === 'each' ||
      tally.take(row, { by, mayBeOwn: kept === 'first' && spool.hasSpace, now: this.#now() })
    if (isOwn) spool.append(row)
  }

  durable(caller: CallerKind = 'known'): Promise<void> {
    return this.#desks[caller].spool.durable()
  }

  /** Writes the counts whose window has ended, as far as there is space. */
  sweep(): void {
    const now = this.#now()
    for (const { spool, tally } of Object.values(this.#desks)) {
      while (spool.hasSpace) {
        const row = tally.takeEnded(now)
        if (row === null) break
        spool.append(row)
      }
    }
  }

  /** Writes all counts and flushes. Nothing is appended any more. */
  async close(): Promise<void> {
    for (const { spool, tally } of Object.values(this.#desks)) {
      for (let row = tally.takeEnded(Infinity); row !== null; row = tally.takeEnded(Infinity))
        spool.append(row)
      await spool.close()
    }
  }

  /** `time`: milliseconds since 1970. */
  samples(time: number): readonly MetricSample[] {
    return (['known', 'unproved'] as const).flatMap((callers) => {
      const { spool, tally } = this.#desks[callers]
      const counted: readonly MetricSample[] = [
        counter(
          'holdfast_audit_counted_requests_total',
          'Requests that are in the count of an audit row instead of a row of their own.',
          tally.counted,
        ),
        gauge('holdfast_audit_counted_groups', 'Kinds of requests that are being counted.', tally.groups),
      ]
      return [...spool.samples(time), ...counted].map((sample) => ({ ...sample, labels: { callers } }))
    })
  }
}
