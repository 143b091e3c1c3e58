/**
 * Disks that go back to an older copy of themselves, and who can decide while some are in doubt.
 *
 * Owns: which disk may go back when, by which hand, and an operator's word for those that did not. Knows nothing of: the rule of the
 * core (docs/adr/0029-disks-that-go-back.md); what it promises is computed here from scratch.
 * Rules: at most one disk holds less than it promised. Nobody decides alone in any configuration since the copy was made, and those who
 * know nothing of a configuration that followed another could not decide under the older one. A copy of an orderly stop is never set back
 * in place under a host that was off: nothing tells.
 */
import { decodeMachineRecord } from '../../../cluster/node/base/machine-record.ts'
import type { NodeParts } from '../../../cluster/node/base/options.ts'
import type { Configuration } from '../../../cluster/raft/types.ts'
import { hasAlone, isEveryVoter, isQuorum, isWideQuorum } from './quorums.ts'
import { SimDiskProof } from './sim-disk-proof.ts'
import type { SimProcess } from './sim-process.ts'
import type { DiskImage, SimSeat } from './sim-seat.ts'
import type { SimWorld } from './sim-world.ts'

/** Between the first processes of two copies that are put back. */
const RESTORED_BOOTS = 1_000_000
/** Below it nobody says that its disk is in doubt. */
const DOUBT_LEVEL = 3

export class SimDisks {
  readonly #world: SimWorld
  #putBack = 0
  readonly counts = { wentBack: 0, trustedAgain: 0, expelled: 0, declared: 0 }

  constructor(world: SimWorld) {
    this.#world = world
  }

  /** What a process needs to judge its disk; nothing where all disks of a run are trusted. */
  partsOf(seat: SimSeat, process: SimProcess): Pick<NodeParts, 'diskProof' | 'onExpelled'> {
    const { plan, stage } = this.#world
    if (!plan.provesDisks) return {}
    const diskProof = new SimDiskProof({
      evidence: () => seat.evidence,
      flush: () =>
        new Promise((resolve) => {
          const ms = this.#world.flushMs(seat, plan.flushMs)
          stage.after(ms, 'proof kept', { owner: process }, resolve)
        }),
      onJudged: (trust) => {
        if (seat.isForgetful && trust === 'proved')
          stage.violate(`${seat.id} starts from an older copy of its disk and takes it for current`)
      },
      onConfirmed: () => this.#trusted(seat),
    })
    return { diskProof, onExpelled: (code) => this.#expelled(seat, code) }
  }

  /** For the first process on a copy: no other process of any name has it. */
  nextBoot(): number {
    this.#putBack += 1
    return this.#putBack * RESTORED_BOOTS
  }

  /** As somebody might keep it. Null: not worth keeping. */
  copyOf(seat: SimSeat): DiskImage | null {
    const isSpoiled = seat.isLost || seat.isForgetful || seat.isDamaged || seat.isStateDamaged
    return isSpoiled || !seat.isInstalled || seat.state.record === null ? null : seat.image()
  }

  /** The promise of record 29 covers it. */
  mayGoBack(seat: SimSeat, image: DiskImage): boolean {
    const { seats, checks, plan } = this.#world
    const isSpoiled = (one: SimSeat): boolean =>
      one.isLost || one.isForgetful || one.isDamaged || one.isStateDamaged
    if (isSpoiled(seat) || seats.some(({ isForgetful }) => isForgetful)) return false
    // Of an earlier process it is not heard any more; where votes go to anybody, it could be given one nevertheless.
    if (plan.weights.members > 0 && image.boot !== seat.boot) return false
    if (levelOf(image) < DOUBT_LEVEL || this.#configurationsSince(image.stateIndex).some(hasAlone))
      return false
    if (this.#couldDecideAlone(seat)) return false
    const whole = new Set(seats.filter((one) => one !== seat && !isSpoiled(one)).map(({ id }) => id))
    return checks.configurationsInForce.every((configuration) => isQuorum(configuration, whole))
  }

  /** The process ends, and finds that copy when it starts again. */
  goBack(seat: SimSeat, image: DiskImage, downMs: number): void {
    const { random, stage } = this.#world
    const inPlace = random.faults.chance(0.5)
    const isHostOff = !(inPlace && image.proof.noted?.state === 'stopped') && random.faults.chance(0.5)
    if (isHostOff) this.#world.cutPower(seat)
    else this.#world.kill(seat)
    const isForgetful = !isSame(image, seat)
    // Copies of chunks come back by repair, which no simulated service does.
    seat.restore({ ...image, copies: [...seat.copies] }, this.nextBoot(), inPlace)
    seat.isLost = false
    seat.isForgetful = isForgetful
    this.counts.wentBack += 1
    const how = `${inPlace ? 'set back in place' : 'copied'}, host ${isHostOff ? 'off' : 'on'}`
    stage.note(() => `${seat.id} goes back to ${String(image.log)}: ${how}`)
    this.#world.startLater(seat, downMs)
  }

  /** By the rule, with those of `core` that take part now. */
  canDecide(core: readonly SimSeat[]): boolean {
    const able = core.flatMap(({ id, process, stateIndex }) => {
      const status = process?.status() ?? null
      return status === null ? [] : [{ id, trust: status.trust, stateIndex }]
    })
    const named = (those: typeof able): ReadonlySet<string> => new Set(those.map(({ id }) => id))
    const proved = named(able.filter(({ trust }) => trust === 'proved'))
    const counting = named(able.filter(({ trust }) => trust !== 'rolledBack'))
    const all = named(able)
    return this.#configurationsSince(Math.min(...able.map(({ stateIndex }) => stateIndex))).every(
      (one) => isQuorum(one, proved) || isWideQuorum(one, counting) || isEveryVoter(one, all),
    )
  }

  /** An operator knows whose disk has not gone back, and says so. */
  declareCurrent(core: readonly SimSeat[]): void {
    for (const seat of core) {
      const isInDoubt = (seat.process?.status()?.trust ?? 'suspect') !== 'proved'
      if (seat.isForgetful || seat.process?.node.isMending === true || !isInDoubt) continue
      this.#world.stage.note(() => `an operator trusts the disk of ${seat.id}`)
      this.counts.declared += 1
      this.#world.kill(seat)
      seat.evidence.declareCurrent()
      this.#world.startLater(seat, 0)
    }
  }

  /**
   * Whether those who know nothing of the configuration that followed one are enough to decide under it, once this one forgets: then
   * they could go on as if it were still in force, and nobody who knows better would have to be asked.
   */
  #couldDecideAlone(seat: SimSeat): boolean {
    const { seats, checks } = this.#world
    const committed = checks.committedConfigurations
    return committed.some(({ configuration }, at) => {
      const followedAt = committed[at + 1]?.index
      if (followedAt === undefined) return false
      const ignorant = seats.filter(
        (one) => one === seat || one.isLost || Math.max(one.durable.lastIndex, one.stateIndex) < followedAt,
      )
      return isWideQuorum(configuration, new Set(ignorant.map(({ id }) => id)))
    })
  }

  /** Committed ones, from the one in force there, and all that may be in force. */
  #configurationsSince(index: number): readonly Configuration[] {
    const { committedConfigurations: committed, configurationsInForce } = this.#world.checks
    const from = committed.findLastIndex((one) => one.index <= index)
    const later = committed.slice(Math.max(0, from)).map(({ configuration }) => configuration)
    return [...later, ...configurationsInForce]
  }

  #trusted(seat: SimSeat): void {
    if (!seat.isForgetful) return
    seat.isForgetful = false
    this.counts.trustedAgain += 1
  }

  #expelled(seat: SimSeat, code: string): void {
    if (code !== 'member_rolled_back') return
    if (seat.formerLogs.length === 0)
      this.#world.stage.violate(`${seat.id} is not heard as an older copy, and is none`)
    seat.isLost = true
    seat.isForgetful = false
    this.counts.expelled += 1
  }
}

function levelOf({ state: { record } }: DiskImage): number {
  return record === null ? 0 : decodeMachineRecord(record).featureLevel
}

/** Nothing was promised since. */
function isSame({ log }: DiskImage, { durable }: SimSeat): boolean {
  return (
    log.currentTerm === durable.currentTerm &&
    log.votedFor === durable.votedFor &&
    log.lastIndex === durable.lastIndex &&
    log.chainAt(log.lastIndex) === durable.chainAt(durable.lastIndex)
  )
}
