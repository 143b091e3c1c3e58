/**
 * The end of a run: faults stop for a random healthy majority. It must elect, serve and become equal, and every call must end.
 *
 * Owns: who is chosen, the bounds. Knows nothing of: what went wrong before.
 */
import type { SimFaults } from './sim-faults.ts'
import { enoughToDecide } from './sim-members.ts'
import type { SimSeat } from './sim-seat.ts'
import type { SimWorld } from './sim-world.ts'

/** Recovery must be over by then. Election time-outs of virtual time, and events. */
const RECOVERY_TIMEOUTS = 200
const RECOVERY_EVENTS_MAX = 400_000
/** Then an operator looks whether the disks in doubt can be waited for. Election time-outs. */
const PATIENCE_TIMEOUTS = 40

/** Faults stop for a random healthy majority. It must elect, serve and become equal, and every call must end. */
export function recover(world: SimWorld, faults: SimFaults): void {
  const { stage, plan, clients, checks } = world
  let core = chooseCore(world)
  /** Those of the core that are members when all is done, and are heard. */
  const members = (): readonly SimSeat[] => membersOf(world, core).filter(({ isLost }) => !isLost)
  faults.stop()
  clients.slowDown()
  for (const seat of world.seats) {
    // A node whose disk was full takes nothing new until it is started again.
    if (seat.process !== null && seat.process.hasMetFault) world.kill(seat)
    if (core.includes(seat)) world.startLater(seat, 0)
    else world.kill(seat)
    if (!core.includes(seat)) seat.downUntil = Number.POSITIVE_INFINITY
  }
  /** What a torn write was may be known to nobody but one that was left out. */
  const widen = (): void => {
    const rest = world.seats.filter((seat) => !seat.isLost && !core.includes(seat))
    if (rest.length === 0 || !core.some(({ process }) => process?.node.isMending === true)) return
    core = [...core, ...rest]
    for (const seat of rest) world.startLater(seat, 0)
  }
  // A flush that a fault has slowed down is still under way.
  const limitMs = stage.now + RECOVERY_TIMEOUTS * plan.electionTimeoutMs + plan.deadlineMs + plan.spikeMs
  const until = (what: string, isDone: () => boolean): void => {
    const limit = stage.events + RECOVERY_EVENTS_MAX
    while (!isDone() && stage.violation === null) {
      if (!stage.step() || stage.now > limitMs || stage.events > limit)
        stage.violate(
          `recovery: ${what} within ${Math.round(limitMs - stage.now)} ms of the limit; ${stateOf(world, core)}`,
        )
    }
  }
  callOperator(world, () => core.filter(({ isLost }) => !isLost))
  until('every node of the core is ready', () => {
    widen()
    return isAllOf(members(), (seat) => seat.process?.node.readiness().ready === true)
  })
  clients.finish()
  until('every disk that went back is whole, or not heard', () => !members().some((seat) => seat.isForgetful))
  until('every call ends', () => clients.openCalls === 0)
  let answered = 0
  const before = clients.counts.acknowledged
  const asked = members()
  for (const seat of asked) clients.writeAt(seat, () => (answered += 1))
  until('every node is answered', () => answered === asked.length)
  if (stage.violation === null && clients.counts.acknowledged !== before + asked.length)
    stage.violate(`recovery: a healthy group refuses writes; ${stateOf(world, core)}`)
  until('the core is equal', () => isEqual(world, members()))
  checks.compareLogs()
  for (const { state, id } of members())
    if (state.rows.recounted() !== state.rows.digest)
      stage.violate(`the running checksum of ${id} is not that of its rows`)
}

/** Where the rest can decide no more without those whose disks are in doubt, somebody has to speak for them. */
export function callOperator(world: SimWorld, core: () => readonly SimSeat[]): void {
  if (!world.plan.provesDisks) return
  world.stage.after(PATIENCE_TIMEOUTS * world.plan.electionTimeoutMs, 'operator', {}, () => {
    if (!world.disks.canDecide(core())) world.disks.declareCurrent(core())
    callOperator(world, core)
  })
}

function chooseCore(world: SimWorld): readonly SimSeat[] {
  const faults = world.random.faults
  const isSpoiled = (seat: SimSeat): boolean => seat.isDamaged || seat.isStateDamaged || seat.isForgetful
  const healthy = faults.shuffle(world.seats.filter((seat) => !seat.isLost && !isSpoiled(seat)))
  const majority = (world.seats.length >> 1) + 1
  const least = majority + faults.below(healthy.length - majority + 1)
  const chosen = enoughToDecide(healthy, least, world.checks.configurationsInForce)
  // Damaged ones come along: the others must mend them.
  return [...chosen, ...world.seats.filter((seat) => isSpoiled(seat) && !seat.isLost)]
}

/** None while nobody leads or the members are just changing. */
export function membersOf({ leader }: SimWorld, core: readonly SimSeat[]): readonly SimSeat[] {
  const configuration = leader?.process?.status()?.configuration
  if (configuration === undefined || configuration.outgoing.length > 0) return []
  const { voters, learners } = configuration
  return core.filter(({ id }) => voters.includes(id) || learners.includes(id))
}

export function isAllOf(seats: readonly SimSeat[], holds: (seat: SimSeat) => boolean): boolean {
  return seats.length > 0 && seats.every(holds)
}

export function isEqual(world: SimWorld, core: readonly SimSeat[]): boolean {
  const { leader } = world
  if (leader === null || !core.includes(leader)) return false
  const last = leader.process?.status()?.lastIndex ?? -1
  const leaders = core.filter(({ process }) => process?.status()?.role === 'leader')
  return (
    leaders.length === 1 &&
    core.every(
      ({ process, stateIndex, state }) =>
        process?.status()?.appliedIndex === last &&
        stateIndex === last &&
        state.rows.digest === leader.state.rows.digest,
    )
  )
}

export function stateOf(world: SimWorld, core: readonly SimSeat[]): string {
  const lines = core.map(({ id, process }) => {
    const status = process?.status() ?? null
    if (process === null || status === null) return `${id} down`
    const { role, term, leaderId, commitIndex, appliedIndex, lastIndex } = status
    const { reasons } = process.node.readiness()
    return `${id} ${role} term ${term} leader ${leaderId ?? '-'} last ${lastIndex} commit ${commitIndex} applied ${appliedIndex} ${reasons.join('. ')}`
  })
  return `${lines.join('; ')}; ${world.clients.openCalls} calls open`
}
