/**
 * Moves copies from a disk of this node that is much fuller than others to the emptier ones, as after a disk was added.
 *
 * Owns: the passes, their pace. Knows nothing of: which disk is too full, how a copy moves.
 * Rules: a pass moves at most the bytes that bring the fuller disk to the mean of all, so copies never move back and forth; then the disks
 * rest, because small copies free their space only when their packs are compacted. A copy moves under its lock.
 */
import { BackgroundLoop } from '../base/background-loop.ts'
import type { Clock } from '../base/clock.ts'
import { counter } from '../base/metric-samples.ts'
import type { BlobName, Logger, MetricSample } from '../base/types.ts'
import type { CopyLocks } from '../blobs/disk/copy-locks.ts'
import type { CopyMover } from '../blobs/disks/copy-mover.ts'
import type { Throttle } from './throttle.ts'

const GROUP_MAX = 64
const LOOK_EVERY_MS = 60_000
const REST_AFTER_PASS_MS = 10 * 60_000

export interface EvenOutParts {
  readonly disks: Pick<CopyMover, 'crowding' | 'on' | 'moveTo'>
  readonly locks: CopyLocks
  /** Shared with all other background work on blobs. */
  readonly throttle: Pick<Throttle, 'pass'>
  readonly clock: Clock
  readonly logger: Logger
}

interface Pass {
  readonly from: string
  readonly to: readonly string[]
  bytesLeft: number
  after: BlobName | null
}

export class EvenOutDisks {
  readonly #parts: EvenOutParts
  readonly #loop: BackgroundLoop
  #pass: Pass | null = null
  #copies = 0
  #bytes = 0

  constructor(parts: EvenOutParts) {
    this.#parts = parts
    const { clock, logger } = parts
    this.#loop = new BackgroundLoop({
      clock,
      logger,
      failure: 'disks not evened out yet',
      retryMs: LOOK_EVERY_MS,
      round: () => this.#round(),
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Resolves when the copy that is being moved has its place. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  metrics(): readonly MetricSample[] {
    return evenOutSamples(this.#copies, this.#bytes)
  }

  /** Returns the time until the next round. */
  async #round(): Promise<number> {
    const pass = (this.#pass ??= await this.#begin())
    if (pass === null) return LOOK_EVERY_MS
    const names = await this.#parts.disks.on(pass.from, pass.after, GROUP_MAX)
    for (const name of names) {
      if (!this.#loop.isStarted) return LOOK_EVERY_MS
      await this.#move(name, pass)
      pass.after = name
      if (pass.bytesLeft <= 0) break
    }
    if (names.length === GROUP_MAX && pass.bytesLeft > 0) return 0
    this.#pass = null
    this.#parts.logger.info({ disk: pass.from, copies: this.#copies }, 'disks evened out for now')
    return REST_AFTER_PASS_MS
  }

  async #begin(): Promise<Pass | null> {
    const crowding = await this.#parts.disks.crowding()
    if (crowding === null) return null
    const { from, to, bytes: bytesLeft } = crowding
    this.#parts.logger.info(
      { disk: from, bytes: bytesLeft },
      'disk is much fuller than others, copies leave it',
    )
    return { from, to, bytesLeft, after: null }
  }

  /** A copy that cannot be moved stays, and hides no other. */
  async #move(name: BlobName, pass: Pass): Promise<void> {
    const { disks, locks, throttle, logger } = this.#parts
    try {
      const bytes = await locks.hold(name, () => disks.moveTo(name, pass))
      if (bytes === 0) return
      pass.bytesLeft -= bytes
      this.#copies++
      this.#bytes += bytes
      await throttle.pass(bytes)
    } catch (err) {
      logger.warn({ blob: name.id, birth: name.birth, err }, 'copy not moved to an emptier disk')
    }
  }
}

export function evenOutSamples(copies: number, bytes: number): readonly MetricSample[] {
  const help = 'moved from a fuller disk of this node to an emptier one.'
  return [
    counter('holdfast_disk_even_out_copies_total', `Copies ${help}`, copies),
    counter('holdfast_disk_even_out_bytes_total', `Bytes of copies ${help}`, bytes),
  ]
}
