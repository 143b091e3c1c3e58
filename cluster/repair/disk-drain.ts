/**
 * Moves the copies of disks that take no new ones to the other disks of this node.
 *
 * Owns: the walk, its pace. Knows nothing of: why a disk is emptied, rows: a copy belongs to the node, whichever of its disks has it.
 * Rules: a copy is moved under its lock, and removed where it was only after it was read back where it is. One that cannot be moved, because
 * it is damaged or its disk does not read it, stays and is met again by the next walk; it hides no other.
 */
import type { BlobName, Logger, MetricSample } from '../base/types.ts'
import { BackgroundLoop } from '../base/background-loop.ts'
import type { Clock } from '../base/clock.ts'
import { counter } from '../base/metric-samples.ts'
import { BlobWriteError } from '../blobs/base/blob-store.ts'
import type { CopyLocks } from '../blobs/disk/copy-locks.ts'
import type { Throttle } from './throttle.ts'

const GROUP_MAX = 64
const REST_MS = 5_000
/** While no other disk has space. */
const FULL_REST_MS = 60_000

export interface DiskDrainParts {
  readonly disks: {
    leaving(after: BlobName | null, limit: number): Promise<readonly BlobName[]>
    moveOff(name: BlobName): Promise<number>
  }
  readonly locks: CopyLocks
  /** Shared with all other background work on blobs. */
  readonly throttle: Pick<Throttle, 'pass'>
  readonly clock: Clock
  readonly logger: Logger
}

export class DiskDrain {
  readonly #parts: DiskDrainParts
  readonly #loop: BackgroundLoop
  #after: BlobName | null = null
  #copies = 0
  #bytes = 0

  constructor(parts: DiskDrainParts) {
    this.#parts = parts
    const { clock, logger } = parts
    this.#loop = new BackgroundLoop({
      clock,
      logger,
      failure: 'copies not moved to another disk yet',
      retryMs: REST_MS,
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
    return drainSamples(this.#copies, this.#bytes)
  }

  /** Returns the time until the next round. */
  async #round(): Promise<number> {
    const { disks, logger } = this.#parts
    const names = await disks.leaving(this.#after, GROUP_MAX)
    for (const name of names) {
      if (!this.#loop.isStarted) return REST_MS
      try {
        await this.#move(name)
      } catch (err) {
        logger.warn({ blob: name.id, birth: name.birth, err }, 'copy not moved to another disk yet')
        if (err instanceof BlobWriteError && err.code === 'disk_full') return FULL_REST_MS
      }
      this.#after = name
    }
    if (names.length === GROUP_MAX) return 0
    this.#after = null
    return REST_MS
  }

  async #move(name: BlobName): Promise<void> {
    const { disks, locks, throttle } = this.#parts
    const bytes = await locks.hold(name, () => disks.moveOff(name))
    this.#copies++
    this.#bytes += bytes
    await throttle.pass(bytes)
  }
}

export function drainSamples(copies: number, bytes: number): readonly MetricSample[] {
  const help = 'moved from a disk of this node that is emptied to another one.'
  return [
    counter('holdfast_disk_drain_copies_total', `Copies ${help}`, copies),
    counter('holdfast_disk_drain_bytes_total', `Bytes of copies ${help}`, bytes),
  ]
}
