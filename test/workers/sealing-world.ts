/**
 * The real state with real sealing of chunks, copies in memory, and the worker that seals audit rows; one row for each `r<n>`.
 */
import { hash } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import type { Test } from 'tap'
import { rowFilter, type AuditFilters } from '../../src/operations/audit/audit-filters.ts'
import { auditPage, type AuditPage, type AuditPlace } from '../../src/operations/audit/audit-page.ts'
import { AuditSegments } from '../../src/operations/audit-segments/audit-segments.ts'
import { verifyAudit } from '../../src/operations/audit/verify-audit-log.ts'
import type { NotedHead } from '../../src/state-machine/audit/audit-chain.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import { AUDIT_OWNER } from '../../src/state-machine/base/record-ids.ts'
import {
  AuditSealing,
  type AuditSealingParts,
  SEGMENT_BOUNDS,
  type SegmentBounds,
} from '../../src/workers/audit-sealing.ts'
import { auditRow } from '../helpers/audit-disk.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { SILENT } from '../helpers/loggers.ts'
import { auditSegmentBefore } from '../../src/store/reads/audit-rows.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'

export const LATER = SEGMENT_BOUNDS.ageMs + 86_400_000

export class SealingWorld {
  readonly memory: MemoryServices
  readonly sealing: AuditSealing
  stateLevel = 3
  isJobRunner = true
  now = Date.now()
  #shipped = 0

  static async start(t: Pick<Test, 'teardown'>, bounds: Partial<SegmentBounds> = {}): Promise<SealingWorld> {
    const memory = await MemoryServices.start(t)
    memory.featureLevel = 3
    return new SealingWorld(memory, bounds)
  }

  private constructor(memory: MemoryServices, bounds: Partial<SegmentBounds>) {
    this.memory = memory
    this.sealing = this.worker(bounds)
  }

  /** As on a node that just began to lead. */
  worker(bounds: Partial<SegmentBounds> = {}): AuditSealing {
    const local = () => ({ stateLevel: this.stateLevel })
    const parts: AuditSealingParts = {
      cluster: { isJobRunner: () => this.isJobRunner, membership: { local } },
      state: this.memory.reader,
      content: this.memory.own,
      masterKey: testMasterKey,
      propose: this.memory.services.propose,
      now: () => this.now,
      monotonic: () => this.now,
      logger: SILENT,
    }
    return new AuditSealing(parts, { ...SEGMENT_BOUNDS, ...bounds })
  }

  async ship(rows: readonly Partial<AuditRow>[]): Promise<void> {
    const texts = rows.map((row, n) => JSON.stringify(auditRow(`r${this.#shipped + n}`, row)))
    const plain = texts.join('\n')
    const about = { first: this.#shipped, count: rows.length, digest: hash('sha256', plain) }
    this.#shipped += rows.length
    const packed = zstdCompressSync(plain)
    await this.memory.change({ type: 'shipAudit', node: 'n1', spool: 's', ...about, packed })
  }

  /** A batch for each row. */
  async log(count: number, row: Partial<AuditRow> = {}): Promise<void> {
    for (let n = 0; n < count; n++) await this.ship([row])
  }

  /** Seals all rows, as if an hour had passed. */
  async sealAll(): Promise<void> {
    this.now += LATER
    await this.sealing.round()
  }

  page(filters: AuditFilters = {}, limit = 1_000, from: AuditPlace | null = null): Promise<AuditPage> {
    const query = { since: 0, until: null, limit, from, filter: rowFilter(filters) }
    return auditPage({ state: this.memory.reader, segments: this.fresh() }, query)
  }

  /** Nothing of it is open yet. */
  fresh(): AuditSegments {
    return new AuditSegments(this.memory.own)
  }

  async ids(filters: AuditFilters = {}): Promise<readonly string[]> {
    return (await this.page(filters)).rows.map(({ row }) => row.requestId)
  }

  verify() {
    return verifyAudit({ state: this.memory.reader, segments: this.fresh() }, null)
  }

  /** Against a head that was noted outside. */
  verifyHead({ next, hash }: NotedHead) {
    return verifyAudit({ state: this.memory.reader, segments: this.fresh() }, { next, hash })
  }

  async segments() {
    const found = []
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const segment = await auditSegmentBefore(this.memory.reader, before)
      if (segment === null) return found.toReversed()
      found.push(segment)
      before = segment.first
    }
  }

  /** The names of the copies of a segment. */
  async copyOf(n: number): Promise<{ readonly id: string; readonly birth: string }> {
    const id = (await this.segments())[n]?.chunkId ?? ''
    const chunk = this.memory.reader.get(chunkKeys.chunk(AUDIT_OWNER, id))
    return { id, birth: chunk?.birth ?? '' }
  }
}

/** Request ids, the newest first. */
export const down = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, n) => `r${from - n}`)
