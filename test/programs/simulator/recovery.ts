/**
 * The end of a run: faults stop for a random healthy majority. It must elect, serve and become equal, and every call must end.
 *
 * Owns: the choice of nodes, the bounds. Knows nothing of: the faults before.
 */
import type { SimFaults } from './sim-faults.ts'
import { enoughToDecide } from './sim-members.ts'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

/** Recovery must be over by then. Election time-outs of virtual time, and events. */
const RECOVERY_TIMEOUTS = 200
const RECOVERY_EVENTS_MAX = 400_000
/**
 * After half of the time clients pause for so long between calls: where the log keeps four entries and blocks are small, a copy of a large state
 * otherwise ends behind the log, again and again. In service the log is kept for a member that copies (`logPinBytes`). ms
 */
const RESTING_THINK_MS = 20_000
/** Then an operator checks whether to wait for the disks in doubt. Election time-outs. */
const PATIENCE_TIMEOUTS = 40

/** Faults stop for a random healthy majority. It must elect, serve and become equal, and every call must end. */
export function recover(world: SimWorld, faults: SimFaults): void {
  const { scheduler, plan, clients, checks } = world
  let core = chooseCore(world)
  /** The nodes of the core that are members at the end, and are accepted. */
  const members = (): readonly SimHost[] => membersOf(world, core).filter(({ isLost }) => !isLost)
  faults.stop()
  clients.slowDown()
  for (const host of world.hosts) {
    // A node whose disk was full takes nothing new until it is started again.
    if (host.process !== null && host.process.hasMetFault) world.kill(host)
    if (core.includes(host)) world.startLater(host, 0)
    else world.kill(host)
    if (!core.includes(host)) host.downUntil = Number.POSITIVE_INFINITY
  }
  /** The content of a torn write may be known only to a node outside of the core. */
  const widen = (): void => {
    const rest = world.hosts.filter((host) => !host.isLost && !core.includes(host))
    if (rest.length === 0 || !core.some(({ process }) => process?.node.isRepairing === true)) return
    core = [...core, ...rest]
    for (const host of rest) world.startLater(host, 0)
  }
  // A flush that a fault has slowed down is still running.
  const halfMs = scheduler.now + (RECOVERY_TIMEOUTS / 2) * plan.electionTimeoutMs
  const limitMs = halfMs + (RECOVERY_TIMEOUTS / 2) * plan.electionTimeoutMs + plan.deadlineMs + plan.spikeMs
  const until = (what: string, isDone: () => boolean): void => {
    const limit = scheduler.events + RECOVERY_EVENTS_MAX
    while (!isDone() && scheduler.violation === null) {
      if (!scheduler.step() || scheduler.now > limitMs || scheduler.events > limit)
        scheduler.violate(
          `recovery: ${what} within ${Math.round(limitMs - scheduler.now)} ms of the limit; ${stateOf(world, core)}`,
        )
    }
  }
  callOperator(world, () => core.filter(({ isLost }) => !isLost))
  until('every node of the core is ready', () => {
    widen()
    if (scheduler.now > halfMs) clients.slowDown(RESTING_THINK_MS)
    return isAllOf(members(), (host) => host.process?.node.readiness().ready === true)
  })
  clients.finish()
  until(
    'every disk that went back is complete, or refused',
    () => !members().some((host) => host.isForgetful),
  )
  until('every call ends', () => clients.openCalls === 0)
  let answered = 0
  const before = clients.counts.acknowledged
  const asked = members()
  for (const host of asked) clients.writeAt(host, () => (answered += 1))
  until('every node is answered', () => answered === asked.length)
  if (scheduler.violation === null && clients.counts.acknowledged !== before + asked.length)
    scheduler.violate(`recovery: a healthy group refuses writes; ${stateOf(world, core)}`)
  until('the core is equal', () => isEqual(world, members()))
  checks.compareLogs()
  for (const { state, id } of members())
    if (state.rows.recounted() !== state.rows.digest)
      scheduler.violate(`the running checksum of ${id} is not that of its rows`)
}

/** Where the rest has no quorum without the disks in doubt, an operator has to confirm them. */
export function callOperator(world: SimWorld, core: () => readonly SimHost[]): void {
  if (!world.plan.provesDisks) return
  world.scheduler.after(PATIENCE_TIMEOUTS * world.plan.electionTimeoutMs, 'operator', {}, () => {
    if (!world.disks.canDecide(core())) world.disks.declareCurrent(core())
    callOperator(world, core)
  })
}

function chooseCore(world: SimWorld): readonly SimHost[] {
  const faults = world.random.faults
  const isSpoiled = (host: SimHost): boolean => host.isDamaged || host.isStateDamaged || host.isForgetful
  const healthy = faults.shuffle(world.hosts.filter((host) => !host.isLost && !isSpoiled(host)))
  const majority = (world.hosts.length >> 1) + 1
  const least = majority + faults.below(healthy.length - majority + 1)
  const chosen = enoughToDecide(healthy, least, world.checks.configurationsInForce)
  // Damaged nodes are included: the others must repair them.
  return [...chosen, ...world.hosts.filter((host) => isSpoiled(host) && !host.isLost)]
}

/** Null while no node leads or the members are changing. */
export function membersOf({ leader }: SimWorld, core: readonly SimHost[]): readonly SimHost[] {
  const configuration = leader?.process?.status()?.configuration
  if (configuration === undefined || configuration.outgoing.length > 0) return []
  const { voters, learners } = configuration
  return core.filter(({ id }) => voters.includes(id) || learners.includes(id))
}

export function isAllOf(hosts: readonly SimHost[], holds: (host: SimHost) => boolean): boolean {
  return hosts.length > 0 && hosts.every(holds)
}

export function isEqual(world: SimWorld, core: readonly SimHost[]): boolean {
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

export function stateOf(world: SimWorld, core: readonly SimHost[]): string {
  const lines = core.map(({ id, process }) => {
    const status = process?.status() ?? null
    if (process === null || status === null) return `${id} down`
    const { role, term, leaderId, commitIndex, appliedIndex, lastIndex } = status
    const { reasons } = process.node.readiness()
    return `${id} ${role} term ${term} leader ${leaderId ?? '-'} last ${lastIndex} commit ${commitIndex} applied ${appliedIndex} ${reasons.join('. ')}`
  })
  return `${lines.join('; ')}; ${world.clients.openCalls} calls open`
}
