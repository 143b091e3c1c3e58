/**
 * Disks that go back to an older copy of themselves, and which quorums remain while some are in doubt.
 *
 * Owns: which disk may go back when and how, and an operator's confirmation of those that did not. Knows nothing of: the rule of the
 * core (docs/adr/0029-disks-that-go-back.md); its promises are computed here from scratch.
 * Rules: at most one disk holds less than it promised. No node is a quorum by itself in any configuration since the copy, and nodes that
 * know nothing of a configuration that followed another could not decide under the older one. A copy of an orderly stop is never set back
 * in place under a host that was off: that is undetectable.
 */
import { decodeMachineRecord } from '../../../cluster/node/base/machine-record.ts'
import type { NodeParts } from '../../../cluster/node/base/options.ts'
import type { Configuration } from '../../../cluster/raft/types.ts'
import { hasAlone, isEveryVoter, isQuorum, isWideQuorum } from './quorums.ts'
import { SimDiskProof } from './sim-disk-proof.ts'
import type { SimProcess } from './sim-process.ts'
import type { DiskImage, SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

/** Between the first processes of two copies that are put back. */
const RESTORED_BOOTS = 1_000_000
/** Below it no node reports that its disk is in doubt. */
const DOUBT_LEVEL = 3

export class SimDisks {
  readonly #world: SimWorld
  #putBack = 0
  readonly counts = { wentBack: 0, trustedAgain: 0, expelled: 0, declared: 0 }

  constructor(world: SimWorld) {
    this.#world = world
  }

  /** The evidence with which a process judges its disk; nothing where all disks of a run are trusted. */
  partsOf(host: SimHost, process: SimProcess): Pick<NodeParts, 'diskProof' | 'onExpelled'> {
    const { plan, scheduler } = this.#world
    if (!plan.provesDisks) return {}
    const diskProof = new SimDiskProof({
      evidence: () => host.evidence,
      flush: () =>
        new Promise((resolve) => {
          const ms = this.#world.flushMs(host, plan.flushMs)
          scheduler.after(ms, 'proof kept', { owner: process }, resolve)
        }),
      onJudged: (trust) => {
        if (host.isForgetful && trust === 'proved')
          scheduler.violate(`${host.id} starts from an older copy of its disk and takes it for current`)
      },
      onConfirmed: () => this.#trusted(host),
    })
    return { diskProof, onExpelled: (code) => this.#expelled(host, code) }
  }

  /** For the first process on a copy: no other process of any name has it. */
  nextBoot(): number {
    this.#putBack += 1
    return this.#putBack * RESTORED_BOOTS
  }

  /** A copy as an operator may keep it. Null: not worth keeping. */
  copyOf(host: SimHost): DiskImage | null {
    const isSpoiled = host.isLost || host.isForgetful || host.isDamaged || host.isStateDamaged
    return isSpoiled || !host.isInstalled || host.state.record === null ? null : host.image()
  }

  /** The promise of record 29 covers it. */
  mayGoBack(host: SimHost, image: DiskImage): boolean {
    const { hosts, checks, plan } = this.#world
    const isSpoiled = (one: SimHost): boolean =>
      one.isLost || one.isForgetful || one.isDamaged || one.isStateDamaged
    if (isSpoiled(host) || hosts.some(({ isForgetful }) => isForgetful)) return false
    // A copy of an earlier process is refused; where any node may get a vote, it could be given one nevertheless.
    if (plan.weights.members > 0 && image.boot !== host.boot) return false
    if (levelOf(image) < DOUBT_LEVEL || this.#configurationsSince(image.stateIndex).some(hasAlone))
      return false
    if (this.#couldDecideAlone(host)) return false
    const whole = new Set(hosts.filter((one) => one !== host && !isSpoiled(one)).map(({ id }) => id))
    return checks.configurationsInForce.every((configuration) => isQuorum(configuration, whole))
  }

  /** The process ends, and finds that copy when it starts again. */
  goBack(host: SimHost, image: DiskImage, downMs: number): void {
    const { random, scheduler } = this.#world
    const inPlace = random.faults.chance(0.5)
    const isHostOff = !(inPlace && image.proof.noted?.state === 'stopped') && random.faults.chance(0.5)
    if (isHostOff) this.#world.cutPower(host)
    else this.#world.kill(host)
    const isForgetful = !isSame(image, host)
    // Copies of chunks come back by repair, which no simulated service does.
    host.restore({ ...image, copies: [...host.copies] }, this.nextBoot(), inPlace)
    host.isLost = false
    host.isForgetful = isForgetful
    this.counts.wentBack += 1
    const how = `${inPlace ? 'set back in place' : 'copied'}, host ${isHostOff ? 'off' : 'on'}`
    scheduler.note(() => `${host.id} goes back to ${String(image.log)}: ${how}`)
    this.#world.startLater(host, downMs)
  }

  /** By the rule, with those of `core` that take part now. */
  canDecide(core: readonly SimHost[]): boolean {
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
  declareCurrent(core: readonly SimHost[]): void {
    for (const host of core) {
      const isInDoubt = (host.process?.status()?.trust ?? 'suspect') !== 'proved'
      if (host.isForgetful || host.process?.node.isRepairing === true || !isInDoubt) continue
      this.#world.scheduler.note(() => `an operator trusts the disk of ${host.id}`)
      this.counts.declared += 1
      this.#world.kill(host)
      host.evidence.declareCurrent()
      this.#world.startLater(host, 0)
    }
  }

  /**
   * Whether the nodes without the configuration that followed one are a quorum under it, once this one forgets: then
   * they could continue as if it were still in force, without any node that knows the later one.
   */
  #couldDecideAlone(host: SimHost): boolean {
    const { hosts, checks } = this.#world
    const committed = checks.committedConfigurations
    return committed.some(({ configuration }, at) => {
      const followedAt = committed[at + 1]?.index
      if (followedAt === undefined) return false
      const ignorant = hosts.filter(
        (one) => one === host || one.isLost || Math.max(one.durable.lastIndex, one.stateIndex) < followedAt,
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

  #trusted(host: SimHost): void {
    if (!host.isForgetful) return
    host.isForgetful = false
    this.counts.trustedAgain += 1
  }

  #expelled(host: SimHost, code: string): void {
    if (code !== 'member_rolled_back') return
    if (host.formerLogs.length === 0)
      this.#world.scheduler.violate(`${host.id} is refused as an older copy, and is none`)
    host.isLost = true
    host.isForgetful = false
    this.counts.expelled += 1
  }
}

function levelOf({ state: { record } }: DiskImage): number {
  return record === null ? 0 : decodeMachineRecord(record).featureLevel
}

/** Nothing was promised since. A copy that was made after a crash in the middle of a flush may hold what that flush wrote. */
function isSame({ log, instead }: DiskImage, { durable }: SimHost): boolean {
  return [log, ...(instead === null ? [] : [instead])].some(
    (held) =>
      held.currentTerm === durable.currentTerm &&
      held.votedFor === durable.votedFor &&
      held.lastIndex === durable.lastIndex &&
      held.chainAt(held.lastIndex) === durable.chainAt(durable.lastIndex),
  )
}
