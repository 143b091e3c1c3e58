/**
 * How much space the disk of the log and of the state has left, and which proposals it still takes.
 *
 * Owns: the levels of this node, what the group as a whole can store, when the reserve of the log is released and made again.
 * Knows nothing of: what commands mean; each proposal states what it needs space for. Rule: a proposal that frees space is never refused
 * here, so a group whose disks are all full can be emptied; the last space is reserved for that.
 */
import type { NodeId } from '../../raft/types.ts'
import type { Logger, RoomNeed } from '../../base/types.ts'
import type { WalReserve } from '../../wal/wal.ts'
import type { Clock } from '../../base/clock.ts'
import {
  bytesBefore,
  type DiskSize,
  type DiskThreshold,
  halfOfTheRest,
  hasReached,
} from '../../base/disk-level.ts'

/** `scarce`: nothing new is stored. `last`: only what frees space is taken. */
export type RoomLevel = 'open' | 'scarce' | 'last'

/** The disks of the group, as a node sees them. */
export interface RoomView {
  /** Of the file system of the log and the state. */
  usage(): Promise<DiskSize>
  /** From where on nothing new is stored. */
  readonly scarceFrom: DiskThreshold
  /** As that node reported lately; false where it reported nothing. */
  isScarceAt(peer: NodeId): boolean
}

export interface RoomWatchParts {
  readonly clock: Clock
  readonly logger: Logger
  /** Absent: there is always space. */
  readonly room?: RoomView
  readonly wal: { readonly reserve?: WalReserve }
  /** The log has released its reserve, and it is not made again yet. */
  readonly isReserveSpent: () => boolean
  readonly onReserveBack: () => void
  /** If this node leads. Null: to any voter. */
  readonly offerLead: (target: NodeId | null) => void
  /** This node included. */
  readonly voters: () => readonly NodeId[]
  readonly self: NodeId
}

/** Between two looks at the disk: the longer, the further it is from being scarce. ms */
const LOOK_EVERY_MS = 500
const LOOK_EVERY_MS_MAX = 4_000
/** No disk is filled faster. Bytes. */
const FILLED_IN_A_SECOND_MAX = 4 * 1024 ** 3
/** Below this, when no less is left than at the last look, the reserve of the log is released for LevelDB and other files of the disk. Bytes. */
export const FREE_BYTES_LEAST: number = 16 * 1024 * 1024
/** A disk that is smaller than so many times the reserve is judged as if it had none. */
const RESERVE_SHARE = 8

const TAKEN: { readonly [L in RoomLevel]: readonly RoomNeed[] } = {
  open: ['growth', 'upkeep', 'relief'],
  scarce: ['upkeep', 'relief'],
  last: ['relief'],
}

export class RoomWatch {
  readonly #parts: RoomWatchParts
  #level: RoomLevel = 'open'
  #isLooking = false
  #lastFreeBytes = Number.POSITIVE_INFINITY
  #nextLook = 0

  constructor(parts: RoomWatchParts) {
    this.#parts = parts
  }

  get level(): RoomLevel {
    return this.#level === 'open' && this.#parts.isReserveSpent() ? 'scarce' : this.#level
  }

  /** The voters that can store more are a majority. */
  get hasMajority(): boolean {
    const voters = this.#parts.voters()
    let roomy = 0
    // Asked for each proposal: a count makes no lists.
    for (const voter of voters) if (this.#isRoomy(voter)) roomy += 1
    return roomy * 2 > voters.length
  }

  /** The lead goes to a voter that can store more, if that helps the group; from a disk that does not answer, to any voter. */
  leaveDisk(isStalled: boolean): void {
    const { self, voters, offerLead } = this.#parts
    const successor = this.hasMajority
      ? voters().find((voter) => voter !== self && this.#isRoomy(voter))
      : undefined
    if (isStalled) offerLead(null)
    else if (successor !== undefined) offerLead(successor)
  }

  /** Null, or why a proposal with this need is refused here, as a sentence without its end. */
  refusal(need: RoomNeed): string | null {
    if (!TAKEN[this.level].includes(need)) return 'the disk of this node is full'
    if (need === 'growth' && !this.hasMajority) return 'the disks of a majority are full'
    return null
  }

  onTick(): void {
    const { clock, room, logger } = this.#parts
    if (room === undefined || this.#isLooking || clock.now() < this.#nextLook) return
    this.#nextLook = clock.now() + LOOK_EVERY_MS
    this.#isLooking = true
    void room
      .usage()
      .then((usage) => this.#onUsage(room, usage))
      .catch((err: unknown) => logger.warn({ err }, 'space on the disk not known'))
      .finally(() => (this.#isLooking = false))
  }

  #onUsage({ scarceFrom }: RoomView, { totalBytes, freeBytes }: DiskSize): void {
    const { logger } = this.#parts
    const { reserve } = this.#parts.wal
    const missing = missingReserve(reserve, totalBytes)
    const size = { totalBytes, freeBytes: freeBytes - missing }
    const level = roomLevel(size, scarceFrom)
    this.#nextLook += extraPause(size, scarceFrom)
    if (level !== this.#level)
      logger.warn({ level, totalBytes, freeBytes }, 'space on the disk of log and state')
    this.#level = level
    if (level === 'open' && reserve?.isHeld() === false) reserve.refill()
    // While another program is filling the disk it would take the reserve.
    const isSettled = freeBytes >= this.#lastFreeBytes
    this.#lastFreeBytes = freeBytes
    if (isSettled && freeBytes < FREE_BYTES_LEAST && reserve?.isHeld() === true) reserve.release()
    if (this.#parts.isReserveSpent() && reserve?.isHeld() === true) this.#parts.onReserveBack()
  }

  #isRoomy(voter: NodeId): boolean {
    const { self, room } = this.#parts
    return voter === self ? this.level === 'open' : room?.isScarceAt(voter) !== true
  }
}

/** As long as even the fastest disk takes to become scarce. ms */
function extraPause(size: DiskSize, scarceFrom: DiskThreshold): number {
  const bytes = bytesBefore(size, scarceFrom)
  return Math.min((1000 * bytes) / FILLED_IN_A_SECOND_MAX, LOOK_EVERY_MS_MAX - LOOK_EVERY_MS)
}

function roomLevel(size: DiskSize, scarceFrom: DiskThreshold): RoomLevel {
  if (hasReached(size, halfOfTheRest(scarceFrom))) return 'last'
  return hasReached(size, scarceFrom) ? 'scarce' : 'open'
}

/** The free bytes that belong to the reserve of the log, which was released or is not made yet. */
export function missingReserve(
  reserve: Pick<WalReserve, 'bytes' | 'isHeld'> | undefined,
  totalBytes: number,
): number {
  if (reserve === undefined || reserve.isHeld() || totalBytes < RESERVE_SHARE * reserve.bytes) return 0
  return reserve.bytes
}
