/**
 * Moves links of the audit log from rows into segments: immutable, compressed, sealed, stored with copies like objects.
 *
 * Owns: when links are sealed, how many at once, and the order. Knows nothing of: the layout of a segment, where copies go.
 * Rules: rows are removed only by the entry that registers their segment, which is proposed only after every copy was read back and
 * the segment was decoded to exactly these links; below the feature level the log keeps its rows; a round does a bounded part.
 * Where copies cannot be written, as on full disks, rows stay; the retries become rarer, and the failure is logged.
 */
import { newAuditKeys } from '../access/credentials.ts'
import type { MasterKey } from '../access/master-key.ts'
import { Condition, type Cluster, type Logger, type MetricSample } from '../../cluster/index.ts'
import { makeSegment } from '../operations/audit-segments/audit-segments.ts'
import { isSealing, unsealedLinks } from '../operations/audit-segments/audit-status.ts'
import { endUpload } from '../operations/base/commit-body.ts'
import type { UploadOutcome } from '../content/uploads.ts'
import { AUDIT_SEGMENT_LINKS_MAX, AUDIT_SEGMENT_SPOOLS_MAX } from '../state-machine/audit/records.ts'
import { batchOf } from '../state-machine/audit/audit-chain.ts'
import { rowsBegin } from '../state-machine/audit/audit-segments.ts'
import type { ChunkUse } from '../state-machine/chunks/commands.ts'
import type { PlacedLink } from '../store/reads/audit-rows.ts'
import type { Propose } from '../commands/propose.ts'
import { RetryWait } from './base/retry-wait.ts'
import { auditHead } from '../state-machine/audit/append.ts'
import { auditLinksFrom } from '../store/reads/audit-rows.ts'
import { auditRowKeys } from '../state-machine/audit/keys.ts'
import type { StateReader } from '../store/reads/state-reader.ts'

/** When there are enough rows for a segment. */
export interface SegmentBounds {
  readonly links: number
  /** Texts and packed rows; a first link that is larger has a segment of its own. */
  readonly bytes: number
  /** Rows of requests, unpacked: a reader of a segment holds all of them in memory. */
  readonly rows: number
  /** Rows older than this are sealed, however few they are. */
  readonly ageMs: number
}

export const SEGMENT_BOUNDS: SegmentBounds = {
  links: AUDIT_SEGMENT_LINKS_MAX,
  bytes: 3 * 1024 * 1024,
  rows: 8_192,
  ageMs: 3_600_000,
}
/** Full segments of one round: the rows of an upgraded cluster are sealed in steps. */
const SEGMENTS_PER_ROUND = 4

export interface AuditSealingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'> & {
    readonly membership: { local(): { readonly stateLevel: number } }
  }
  readonly state: Pick<StateReader, 'get' | 'lease'>
  readonly content: {
    store(plain: Buffer): Promise<{
      readonly chunk: ChunkUse
      readonly copiesMin: number
      readonly end: (outcome: UploadOutcome) => void
    }>
  }
  readonly masterKey: Pick<MasterKey, 'seal'>
  readonly propose: Propose
  /** Milliseconds since 1970: the confirmed time of the log. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number
  readonly logger: Logger
}

/** `refused`: another node led meanwhile, or the session of the upload ended. */
type Step = 'more' | 'done' | 'refused'

interface Gathered {
  readonly links: readonly PlacedLink[]
  /** A bound was reached: more rows would make the next segment. */
  readonly isFull: boolean
}

export class AuditSealing {
  readonly #parts: AuditSealingParts
  readonly #bounds: SegmentBounds
  /** Rows that were measured and are too few: from `first` on, up to `next`. */
  #measured: Measured = { first: 0, next: 0, ...NOTHING }
  readonly #retry = new RetryWait()

  constructor(parts: AuditSealingParts, bounds: SegmentBounds = SEGMENT_BOUNDS) {
    this.#parts = parts
    this.#bounds = bounds
  }

  /** One round, unless the last failure is too recent. Throws Condition. */
  async round(): Promise<false> {
    const { cluster, monotonic, logger } = this.#parts
    if (!cluster.isJobRunner()) this.#retry.ended()
    else if (this.#retry.isDue(monotonic())) {
      try {
        await this.#sealSome()
      } catch (err) {
        const reason = err instanceof Condition ? err.code : 'error'
        const { failures, isNews } = this.#retry.failed(monotonic(), reason)
        if (isNews) logger.warn({ err, failures }, 'audit rows wait to be sealed')
        throw err
      }
    }
    return false
  }

  async #sealSome(): Promise<void> {
    const { monotonic, logger } = this.#parts
    let step: Step = 'more'
    for (let segments = 0; segments < SEGMENTS_PER_ROUND && step === 'more'; segments++)
      step = await this.#sealNext()
    if (step === 'refused') this.#retry.failed(monotonic(), step)
    else if (this.#retry.ended()) logger.info({}, 'audit rows are sealed again')
  }

  /** Called at every scrape. */
  samples(): readonly MetricSample[] {
    const { total } = this.#retry
    const failures = {
      help: 'Times this node could not seal audit rows.',
      kind: 'counter',
      value: total,
    } as const
    return [...this.#waiting(), { name: 'holdfast_audit_sealing_failures_total', ...failures }]
  }

  #waiting(): readonly MetricSample[] {
    const { cluster, state, now } = this.#parts
    try {
      const { links, oldest } = unsealedLinks(state)
      const age = oldest === null || !isSealing(cluster) ? 0 : Math.max(0, now() - oldest) / 1000
      const rows = {
        help: 'Links of the audit log that are rows of the state.',
        kind: 'gauge',
        value: links,
      } as const
      const seconds = {
        help: 'Age of the oldest of them, 0 below feature level 3.',
        kind: 'gauge',
        value: age,
      } as const
      return [
        { name: 'holdfast_audit_unsealed_links', ...rows },
        { name: 'holdfast_audit_unsealed_oldest_seconds', ...seconds },
      ]
    } catch (cause) {
      // The state is being replaced.
      if (cause instanceof Condition) return []
      throw cause
    }
  }

  async #sealNext(): Promise<Step> {
    const { cluster, state, now } = this.#parts
    if (!cluster.isJobRunner() || !isSealing(cluster)) return 'done'
    const head = auditHead(state)
    const { first, anchor } = rowsBegin(head)
    if (first === head.next || !(await this.#isDue(first, head.next, now()))) return 'done'
    const { links, isFull } = await this.#gather(first)
    if (links.length === 0) return 'done'
    if (!(await this.#seal(anchor, links))) return 'refused'
    return isFull ? 'more' : 'done'
  }

  /** So many rows are there, or one is so old. Each row is measured once. */
  async #isDue(first: number, end: number, now: number): Promise<boolean> {
    const { state } = this.#parts
    if (end - first >= this.#bounds.links) return true
    const oldest = state.get(auditRowKeys.auditLink(first))
    if (oldest === undefined) return false
    if (now - oldest.time >= this.#bounds.ageMs) return true
    if (this.#measured.first !== first) this.#measured = { first, next: first, ...NOTHING }
    while (this.#measured.next < end && !this.#isEnough(this.#measured)) {
      const links = await auditLinksFrom(state, this.#measured.next)
      const last = links.at(-1)
      if (last === undefined) return false
      const size = links.reduce<LinkSize>((sum, placed) => plus(sum, sizeOf(placed)), this.#measured)
      this.#measured = { first, next: last.sequence + 1, ...size }
    }
    return this.#isEnough(this.#measured)
  }

  #isEnough({ bytes, rows }: LinkSize): boolean {
    return bytes >= this.#bounds.bytes || rows >= this.#bounds.rows
  }

  async #gather(first: number): Promise<Gathered> {
    const { state } = this.#parts
    const links: PlacedLink[] = []
    const spools = new Set<string>()
    let size: LinkSize = NOTHING
    for (let place = first; ; place = (links.at(-1)?.sequence ?? place) + 1) {
      const read = await auditLinksFrom(state, place)
      if (read.length === 0) return { links, isFull: false }
      for (const placed of read) {
        if (placed.sequence !== first + links.length) return { links, isFull: false }
        const before = size
        size = plus(size, sizeOf(placed))
        const spool = spoolOf(placed)
        if (spool !== null) spools.add(spool)
        const isFull =
          links.length >= this.#bounds.links ||
          this.#isEnough(before) ||
          size.bytes > this.#bounds.bytes ||
          spools.size > AUDIT_SEGMENT_SPOOLS_MAX
        if (isFull && links.length > 0) return { links, isFull: true }
        links.push(placed)
      }
    }
  }

  async #seal(anchor: string, links: readonly PlacedLink[]): Promise<boolean> {
    const { content, propose, logger } = this.#parts
    await this.#ensureKeys()
    const { segment, packed } = await makeSegment(anchor, links)
    const { chunk, copiesMin, end } = await content.store(packed)
    const named = { ...segment, chunkId: chunk.id, size: chunk.size }
    const reply = await endUpload(end, () => propose({ type: 'sealAudit', segment: named, chunk, copiesMin }))
    const { first, next, bytes } = segment
    if (reply.ok) logger.debug({ first, next, bytes, stored: chunk.sealedSize }, 'audit rows sealed')
    else logger.warn({ reason: reply.message }, 'audit rows not sealed')
    return reply.ok
  }

  async #ensureKeys(): Promise<void> {
    const { state, masterKey, propose } = this.#parts
    if (state.get(auditRowKeys.auditKeys()) !== undefined) return
    const reply = await propose({ type: 'setAuditKeys', keys: newAuditKeys(masterKey) })
    if (!reply.ok) throw new Condition('slow_down', reply.message)
  }
}

interface LinkSize {
  readonly bytes: number
  readonly rows: number
}

interface Measured extends LinkSize {
  readonly first: number
  readonly next: number
}

const NOTHING: LinkSize = { bytes: 0, rows: 0 }

function plus(one: LinkSize, other: LinkSize): LinkSize {
  return { bytes: one.bytes + other.bytes, rows: one.rows + other.rows }
}

function sizeOf({ link: { text, packed } }: PlacedLink): LinkSize {
  if (packed === null) return { bytes: text.length, rows: 1 }
  const { count } = batchOf(text)
  return { bytes: text.length + packed.length, rows: count }
}

function spoolOf({ link: { text, packed } }: PlacedLink): string | null {
  if (packed === null) return null
  const { nodeId, spool } = batchOf(text)
  return `${nodeId}\n${spool}`
}
