/**
 * Audit rows of one node that no log entry contains yet, on its own disk until the cluster has taken them over.
 *
 * Owns: the space for them, and refusing requests without it. Knows nothing of: requests, the log.
 * Rule: fail closed. A request that cannot be audited is not served; a row whose flush failed stops the node.
 */
import {
  Condition,
  counter,
  gauge,
  type Logger,
  type MetadataCipher,
  type MetricSample,
} from '../../cluster/index.ts'
import type { AuditRow } from '../state-machine/audit/records.ts'
import type { AuditTrail } from './audit-trail.ts'
import { nodeSpoolFiles, type SpoolFiles } from './spool-files.ts'
import { filesLeft, type SpoolBatch, SpoolReader } from './spool-reader.ts'
import { GROUP_BYTES_MAX, SpoolWriter } from './spool-writer.ts'

/** Bytes of rows in memory at which requests are refused; rows of requests in progress are added to them. */
const PENDING_BYTES_MAX = 8 * 1024 * 1024
/** A row says itself whose and when it is. */
const NOWHERE = Buffer.alloc(0)

export interface AuditSpoolOptions {
  readonly dir: string
  readonly isStrict: boolean
  /** Bytes on disk at which requests are refused. */
  readonly bytesMax: number
  readonly pendingBytesMax?: number
  readonly logger: Logger
  /** Null or absent: rows lie on the disk as they are. */
  readonly cipher?: MetadataCipher | null
  readonly files?: SpoolFiles
  readonly later?: (work: () => void, ms: number) => void
}

export class AuditSpool implements AuditTrail {
  readonly isStrict: boolean
  /** Resolves with the cause when rows may have been lost. Never rejects. */
  readonly failed: Promise<Error>
  readonly #bytesMax: number
  readonly #pendingBytesMax: number
  readonly #writer: SpoolWriter
  readonly #reader: SpoolReader
  readonly #cipher: MetadataCipher | null
  #refused = 0
  #oldestMs: number | null = null

  static async open(options: AuditSpoolOptions): Promise<AuditSpool> {
    const { dir, files = nodeSpoolFiles } = options
    await files.makeDir(dir)
    return new AuditSpool({ ...options, files }, await filesLeft(files, dir))
  }

  private constructor(
    { dir, files, logger, later, ...options }: AuditSpoolOptions & { readonly files: SpoolFiles },
    left: Awaited<ReturnType<typeof filesLeft>>,
  ) {
    this.isStrict = options.isStrict
    this.#cipher = options.cipher ?? null
    this.#bytesMax = options.bytesMax
    this.#pendingBytesMax = options.pendingBytesMax ?? PENDING_BYTES_MAX
    let onFatal: (error: Error) => void = () => {}
    this.failed = new Promise((resolve) => (onFatal = resolve))
    const ordinal = (left.at(-1)?.ordinal ?? 0) + 1
    this.#writer = new SpoolWriter({
      dir,
      files,
      ordinal,
      onFatal,
      ...(later === undefined ? {} : { later }),
    })
    this.#reader = new SpoolReader({ dir, files, left, written: this.#writer.written, logger })
  }

  admit(): void {
    const why = this.#blocker()
    if (why === null) return
    this.#refused++
    throw new Condition('slow_down', `This node has no space for its audit log: ${why}; try another node`)
  }

  /** A row that is appended now is within the bounds. */
  get hasSpace(): boolean {
    return this.#blocker() === null
  }

  append(row: AuditRow): void {
    this.#writer.append(this.#sealed(JSON.stringify(row)))
  }

  durable(): Promise<void> {
    return this.#writer.durable()
  }

  async oldest(): Promise<SpoolBatch | null> {
    const stored = await this.#reader.oldest()
    const batch = stored && { ...stored, rows: stored.rows.map((row) => this.#opened(row)) }
    this.#oldestMs = batch === null ? null : timeOf(batch.rows[0])
    return batch
  }

  #sealed(row: string): string {
    const cipher = this.#cipher
    return cipher === null ? row : cipher.seal(NOWHERE, Buffer.from(row, 'utf8')).toString('base64')
  }

  #opened(stored: string): string {
    if (this.#cipher === null) return stored
    const row = this.#cipher.open(NOWHERE, Buffer.from(stored, 'base64'))
    if (row === null)
      throw new Error('Cannot read the audit spool: a row does not open with the metadata key')
    return row.toString('utf8')
  }

  /** At least one full batch is waiting, so there is no reason to gather more rows. */
  get hasFullBatch(): boolean {
    return this.#reader.bytes >= GROUP_BYTES_MAX
  }

  taken(batch: SpoolBatch): Promise<void> {
    return this.#reader.taken(batch)
  }

  /** Flushes what is pending. Nothing is appended any more. */
  close(): Promise<void> {
    return this.#writer.close()
  }

  /** `now`: milliseconds since 1970. */
  samples(now: number): readonly MetricSample[] {
    const age = this.#oldestMs === null ? 0 : Math.max(0, now - this.#oldestMs) / 1000
    return [
      gauge(
        'holdfast_audit_spool_bytes',
        'Bytes of audit rows on disk that the cluster has not taken over yet.',
        this.#reader.bytes,
      ),
      gauge('holdfast_audit_spool_oldest_seconds', 'Age of the oldest audit row on disk.', age),
      counter(
        'holdfast_audit_spool_rows_total',
        'Audit rows that this node has recorded.',
        this.#writer.appended,
      ),
      counter(
        'holdfast_audit_rows_lost_total',
        'Audit rows that could not be read back.',
        this.#reader.rowsLost,
      ),
      counter(
        'holdfast_audit_refused_total',
        'Requests refused because there was no space for their audit row.',
        this.#refused,
      ),
    ]
  }

  #blocker(): string | null {
    if (this.#writer.failure !== null) return 'its disk failed'
    if (this.#writer.isStalled) return 'its disk is full'
    if (this.#writer.pendingBytes >= this.#pendingBytesMax) return 'its disk is too slow'
    return this.#reader.bytes >= this.#bytesMax ? 'the cluster does not take it over' : null
  }
}

function timeOf(row: string | undefined): number | null {
  const { time } = JSON.parse(row ?? '{}') as Partial<AuditRow>
  return time ?? null
}
