/**
 * Blobs on several nodes: writes to R nodes at once and answers after W, reads from the best copy, has reported faults verified.
 *
 * Owns: which nodes get a copy and in which order copies are tried.
 * Knows nothing of: Raft, rows, what a blob means. A blob that this node writes is garbage until a committed row names it.
 * Rules: a copy is reported only after its node confirmed it as durable; a bounded number of writes holds bytes of callers;
 * only the node that owns a copy decides that it is bad; views of disks decide only which nodes are contacted.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { type PlacementMember, placeReplicas } from '../../placement/rendezvous.ts'
import { PeerRefusedError, type PeerCalls } from '../../transport/transport.ts'
import {
  type BlobCopy,
  BlobDamagedError,
  BlobMissingError,
  type BlobId,
  type BlobReading,
  type BlobRef,
  type Blobs,
  type BlobToWrite,
  Condition,
  type Logger,
  type Member,
  type MetricSample,
  type NodeId,
  type PeerTraces,
  type Trace,
  type WrittenBlob,
} from '../../base/types.ts'
import type { CopyVerdict } from '../base/blob-calls.ts'
import { BLOB_LIMITS, type BlobLimits } from '../base/blob-limits.ts'
import { blobMetrics } from './blob-metrics.ts'
import { HedgedReading } from './blob-reading.ts'
import { BlobService } from '../peers/blob-service.ts'
import { type BlobStore, BlobWriteError, type DiskUsage } from '../base/blob-store.ts'
import { WholeBytes } from '../base/whole-bytes.ts'
import { BytesInUse } from '../files/bytes-in-use.ts'
import type { CopyLocks } from '../disk/copy-locks.ts'
import { CopiesFailedError, CopyRound } from './copy-round.ts'
import { DiskRounds } from '../peers/disk-rounds.ts'
import type { DiskLevel } from '../../base/disk-level.ts'
import { LatencyHistogram } from '../../base/latency-histogram.ts'
import { DiskViews } from '../peers/disk-views.ts'
import { Hedge } from '../peers/hedge.ts'
import { LocalBlobs } from '../disk/local-blobs.ts'
import { type OutgoingBlob, PeerBlobs } from '../peers/peer-blobs.ts'
import { PeerHealth } from '../peers/peer-health.ts'
import { Slots } from '../peers/slots.ts'

const SESSION_DIGITS = 24

export type CopyFault = 'missing' | 'damaged'

export interface ReplicatedBlobsOptions {
  readonly nodeId: NodeId
  /** A live view: read again each time. Weight 0: takes no new copies. */
  readonly members: readonly Member[]
  readonly store: BlobStore
  /** Shared with all components that write, judge or remove copies of this node. */
  readonly locks: CopyLocks
  readonly transport: PeerCalls
  readonly clock: Clock
  /** The name of this data directory, and of one run of the process in it: together never used twice in a cluster. */
  readonly incarnation: string
  readonly boot: string
  readonly logger: Logger
  /** The owner confirmed that this copy is bad. */
  readonly onFault?: (ref: BlobRef, nodeId: NodeId, fault: CopyFault) => void
  /** Called with each verdict of this node on a copy of its own. */
  readonly onJudged?: (verdict: CopyVerdict) => void
  readonly limits?: Partial<BlobLimits>
  readonly trace?: Trace | null
  /** What a copy is for, towards the peer that stores it. */
  readonly peerTraces?: PeerTraces | null
}

export class ReplicatedBlobs implements Blobs {
  readonly #options: ReplicatedBlobsOptions
  readonly #limits: BlobLimits
  readonly #health: PeerHealth
  readonly #local: LocalBlobs
  readonly #peers: PeerBlobs
  readonly #disks: DiskViews
  readonly #diskRounds: DiskRounds
  readonly #writes: Slots
  readonly #hedge: Hedge
  readonly #reports = new Set<string>()
  #sessions = 0
  #lateCopies = 0
  readonly #writeTimes = new LatencyHistogram()
  readonly #writeWaits = new LatencyHistogram()
  #ownWrites = 0
  #stopping = false
  #usage: DiskUsage | null = null
  #usageAsked = false

  /** Registers the blob calls, so it must be called before the transport starts. */
  constructor(options: ReplicatedBlobsOptions) {
    const { clock, transport, peerTraces: traces = null } = options
    const limits = { ...BLOB_LIMITS, ...options.limits }
    this.#options = options
    this.#limits = limits
    this.#health = new PeerHealth({
      clock,
      coolDownMs: limits.coolDownMs,
      coolDownMaxMs: limits.coolDownMaxMs,
    })
    this.#local = new LocalBlobs(options)
    this.#peers = new PeerBlobs({ transport, health: this.#health, clock, limits, traces })
    this.#disks = new DiskViews({ clock, believedMs: limits.diskBelievedMs })
    this.#diskRounds = new DiskRounds({
      members: () => options.members.map(({ nodeId }) => nodeId),
      views: this.#disks,
      ask: (member) => (member === options.nodeId ? this.#local.usage() : this.#peers.disk(member)),
      clock,
      everyMs: limits.diskAskEveryMs,
      logger: options.logger,
    })
    this.#writes = new Slots({
      refusal: 'Cannot write a blob',
      count: limits.writesMax,
      waitersMax: limits.writesWaitingMax,
      waitMs: limits.writeWaitMs,
      clock,
    })
    this.#hedge = new Hedge({
      delayMinMs: limits.hedgeDelayMinMs,
      delayMaxMs: limits.hedgeDelayMaxMs,
      shareMax: limits.hedgeShareMax,
    })
    new BlobService({ local: this.#local, clock, limits, traces }).register(transport)
  }

  get copiesToAck(): number {
    const takers = this.#options.members.filter(({ weight }) => weight > 0).length
    return Math.min(this.#limits.copiesNeeded, this.#limits.copiesWanted, takers)
  }

  /** Once, when peers can be reached: from then on placement takes their disks into account. */
  start(): void {
    this.#diskRounds.start()
  }

  /** Where the copies of a blob should be at present, best first: on no full and no suspect disk. */
  placement(id: BlobId): readonly NodeId[] {
    const fit = this.#rankForNew(id).filter((nodeId) => this.#disks.placementStatusOf(nodeId) !== 'unfit')
    return fit.slice(0, this.#limits.copiesWanted)
  }

  nextSession(): string {
    const { nodeId, incarnation, boot } = this.#options
    // Hashed, because a birth has at most 64 characters and the parts of a session have no such bound.
    const maker = createHash('sha256').update(JSON.stringify([nodeId, incarnation, boot, this.#sessions++]))
    return maker.digest('hex').slice(0, SESSION_DIGITS)
  }

  async write(blob: BlobToWrite): Promise<WrittenBlob> {
    if (this.#stopping) throw new Condition('shutting_down', 'Cannot write a blob: the node is stopping')
    const { clock } = this.#options
    const askedMs = clock.now()
    const release = await this.#writes.acquire()
    try {
      const startMs = clock.now()
      this.#writeWaits.observe((startMs - askedMs) / 1000)
      const users = new BytesInUse(blob.onSpent)
      const written = await users.until(this.#writeCopies({ ...blob, size: blob.bytes.length }, users))
      this.#writeTimes.observe((clock.now() - startMs) / 1000)
      return written
    } finally {
      release()
    }
  }

  copies(ref: BlobRef): readonly BlobCopy[] {
    return this.#readOrder(ref).map((nodeId) => ({
      nodeId,
      read: (start, end) => {
        if (nodeId === this.#options.nodeId) return this.#local.read(ref, start, end)
        return this.#peers.get(nodeId, ref, { start, end })
      },
    }))
  }

  reading(ref: BlobRef): BlobReading {
    return new HedgedReading({
      copies: this.copies(ref),
      clock: this.#options.clock,
      hedge: this.#hedge,
      onFault: ({ nodeId }, fault) => {
        if (fault instanceof BlobMissingError) this.report(ref, nodeId, 'missing')
        if (fault instanceof BlobDamagedError) this.report(ref, nodeId, 'damaged')
      },
    })
  }

  report(ref: BlobRef, nodeId: NodeId, fault: CopyFault): void {
    const key = `${ref.id}.${ref.birth}@${nodeId}`
    // Above the bound a report is dropped: the next reader of that copy reports it again.
    if (this.#stopping || this.#reports.has(key) || this.#reports.size >= this.#limits.reportsMax) return
    this.#reports.add(key)
    const logger = this.#options.logger
    this.#judge(ref, nodeId)
      .catch((err: unknown) =>
        logger.warn({ blob: ref.id, peer: nodeId, fault, err }, 'reported copy not verified'),
      )
      .finally(() => this.#reports.delete(key))
  }

  /** The node's latest answer; null without a recent one. */
  diskLevelOf(node: NodeId): DiskLevel | null {
    return this.#disks.latest(node)?.level ?? null
  }

  /** No new writes and reports; those in progress end within the call time-out. */
  stop(): void {
    this.#stopping = true
    this.#diskRounds.stop()
  }

  metrics(): readonly MetricSample[] {
    this.#refreshUsage()
    return blobMetrics({
      counts: this.#local.counts,
      usage: this.#usage,
      writesUnderWay: this.#writes.used,
      lateCopies: this.#lateCopies,
      writeTimes: this.#writeTimes.figures(),
      writeWaits: this.#writeWaits.figures(),
    })
  }

  // ---------------------------------------------------------------------------------------------

  async #writeCopies(blob: OutgoingBlob, users: BytesInUse): Promise<WrittenBlob> {
    const ranked = this.#rankForNew(blob.id)
    const wanted = Math.min(this.#limits.copiesWanted, ranked.length)
    const needed = Math.min(this.#limits.copiesNeeded, wanted)
    const round = new CopyRound({
      ranked,
      wanted,
      needed,
      zoneOf: (node) => this.#member(node)?.zone ?? node,
      graceMs: this.#limits.graceMs,
      zoneWaitMs: this.#limits.zoneWaitMs,
      clock: this.#options.clock,
      writeCopy: (node, signal) => users.until(this.#tracedCopy(node, blob, signal)),
      mayTry: (node) => this.#mayTry(node),
      isFull: (node) => this.#disks.isFull(node),
      keepLate: () => this.#keepLate(),
    })
    try {
      return await round.run()
    } catch (cause) {
      if (!(cause instanceof CopiesFailedError)) throw cause
      const full = ranked.filter((node) => this.#disks.isFull(node)).length
      throw asCondition(cause, ranked.length - full < needed)
    }
  }

  #mayTry(node: NodeId): boolean {
    if (this.#disks.isSuspect(node)) return false
    return node === this.#options.nodeId || this.#health.mayTry(node)
  }

  #tracedCopy(node: NodeId, blob: OutgoingBlob, signal: AbortSignal): Promise<void> {
    const { trace = null } = this.#options
    const write = (): Promise<void> => this.#writeCopy(node, blob, signal)
    return trace === null ? write() : trace('write copy', { 'holdfast.node': node, bytes: blob.size }, write)
  }

  async #writeCopy(node: NodeId, blob: OutgoingBlob, signal: AbortSignal): Promise<void> {
    try {
      if (node === this.#options.nodeId) await this.#writeOwnCopy(blob)
      else await this.#peers.put(node, blob, signal)
    } catch (err) {
      if (hasCode(err) && err.code === 'disk_full') this.#disks.refused(node)
      if (!signal.aborted)
        this.#options.logger.warn({ blob: blob.id, peer: node, err }, 'blob copy not written')
      throw err
    }
  }

  /** A call can be aborted, a write to a hanging disk cannot: so copies that wait for this node's disk have their own bound. */
  async #writeOwnCopy(blob: OutgoingBlob): Promise<void> {
    const { writesMax, lateCopiesMax } = this.#limits
    if (this.#ownWrites >= writesMax + lateCopiesMax) {
      throw new Condition(
        'slow_down',
        `Cannot write a blob: ${this.#ownWrites} are already waiting for the disk`,
      )
    }
    this.#ownWrites++
    try {
      await this.#local.write(blob, new WholeBytes(blob.bytes), blob)
    } finally {
      this.#ownWrites--
    }
  }

  #keepLate(): (() => void) | null {
    if (this.#lateCopies >= this.#limits.lateCopiesMax) return null
    this.#lateCopies++
    return () => {
      this.#lateCopies--
    }
  }

  #member(nodeId: NodeId): Member | undefined {
    return this.#options.members.find((member) => member.nodeId === nodeId)
  }

  /** All members, ranked for a new copy. */
  #rankForNew(blobId: string): NodeId[] {
    const status = (nodeId: NodeId) => this.#disks.placementStatusOf(nodeId)
    const members = this.#options.members.map((member) => ({ ...member, status: status(member.nodeId) }))
    return this.#rank(blobId, members)
  }

  #rank(blobId: string, members: readonly PlacementMember[]): NodeId[] {
    return placeReplicas({ blobId, members, copies: members.length })
  }

  /**
   * Reachable nodes before unhealthy ones, then good disks before suspect ones, then this node before others, then its zone before
   * others. The hash decides among equals and so spreads the load.
   */
  #readOrder(ref: BlobRef): NodeId[] {
    const holders = [...new Set(ref.replicas)].flatMap((nodeId) => this.#member(nodeId) ?? [])
    const self = this.#options.nodeId
    const zone = this.#member(self)?.zone
    const distance = (nodeId: NodeId) => {
      const suspicion = this.#disks.isSuspect(nodeId) ? 3 : 0
      if (nodeId === self) return suspicion
      const silence = this.#health.isHealthy(nodeId) ? 0 : 6
      return 1 + silence + suspicion + (this.#member(nodeId)?.zone === zone ? 0 : 1)
    }
    // A member that no longer takes new blobs (weight 0) may still hold this one.
    const ranked = this.#rank(
      ref.id,
      holders.map((member) => ({ ...member, weight: member.weight || 1 })),
    )
    return ranked.sort((one, other) => distance(one) - distance(other))
  }

  async #judge(ref: BlobRef, nodeId: NodeId): Promise<void> {
    const isOwn = nodeId === this.#options.nodeId
    const verdict = isOwn ? await this.#local.judge(ref) : await this.#peers.report(nodeId, ref)
    if (verdict === 'good') {
      this.#options.logger.info({ blob: ref.id, peer: nodeId }, 'reported copy is good')
    } else {
      this.#options.logger.warn({ blob: ref.id, peer: nodeId, fault: verdict }, 'copy confirmed bad')
      this.#options.onFault?.(ref, nodeId, verdict)
    }
  }

  /** A scrape must not wait for the disk: it shows the measurement that the previous scrape started. */
  #refreshUsage(): void {
    if (this.#usageAsked) return
    this.#usageAsked = true
    this.#options.store
      .usage()
      .then((usage) => {
        this.#usage = usage
      })
      .catch((err: unknown) => this.#options.logger.warn({ err }, 'disk usage not readable'))
      .finally(() => {
        this.#usageAsked = false
      })
  }
}

const CALLER_FAULTS: readonly string[] = ['checksum_mismatch', 'size_mismatch', 'name_taken']

/**
 * A caller's mistake is not a transient fault: if this node's store finds the bytes wrong, that error is reported as it is.
 * `isFull`: so many disks are full that the remaining nodes are too few for the copies.
 */
function asCondition(failed: CopiesFailedError, isFull: boolean): Error {
  for (const error of failed.errors) {
    if (error instanceof TypeError) return error
    if (error instanceof BlobWriteError && CALLER_FAULTS.includes(error.code)) return error
  }
  if (isFull) {
    const message = `${failed.message}, and too many disks are full: free space, or add some`
    return new Condition('disk_full', message, { cause: failed })
  }
  const isBusy = failed.errors.some((error) => hasCode(error) && error.code === 'slow_down')
  return new Condition(isBusy ? 'slow_down' : 'not_enough_replicas', failed.message, { cause: failed })
}

function hasCode(error: unknown): error is PeerRefusedError | Condition | BlobWriteError {
  return error instanceof PeerRefusedError || error instanceof Condition || error instanceof BlobWriteError
}
