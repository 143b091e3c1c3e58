/**
 * One seed from its start to its verdict: faults for so many events, then a healthy group that must come together.
 *
 * Owns: the two modes and the figures of a run. Knows nothing of: how faults are done, what is checked.
 * Rule: the outcome is a function of the options and of the code, and of nothing else.
 */
import { judgeHistory } from './judge-history.ts'
import { SimFaults } from './sim-faults.ts'
import { enoughToDecide } from './sim-members.ts'
import type { SimSeat } from './sim-seat.ts'
import { type Canary, SimWorld } from './sim-world.ts'
import { drawPlan, type Plan } from './swarm.ts'
import { trapped } from './traps.ts'

export interface RunOptions {
  readonly seed: number
  /** Under faults; recovery comes on top. */
  readonly events: number
  /** Lines of the trace to keep. */
  readonly traceLines?: number
  readonly canary?: Canary | null
  /** Give the histories to the checker that knows nothing of the log, with so many configurations at most. */
  readonly judgeWith?: number
  /** Changes to what the seed draws. */
  readonly plan?: Partial<Plan>
}

export interface Figures {
  readonly nodes: number
  readonly events: number
  readonly recoveryEvents: number
  readonly virtualSeconds: number
  readonly terms: number
  readonly elections: number
  readonly commits: number
  readonly effects: number
  readonly acknowledged: number
  readonly reads: number
  readonly unknown: number
  readonly refused: number
  readonly crashes: number
  readonly snapshots: number
  readonly partitions: number
  readonly configurations: number
  readonly frames: number
  readonly mended: number
  readonly rebuilt: number
}

export interface Outcome {
  readonly seed: number
  /** Null: every promise was kept. */
  readonly violation: string | null
  /** Of everything that happened. */
  readonly hash: string
  readonly figures: Figures
  readonly trace: readonly string[]
  /** Of what the machine is asked for, where somebody watches: how often which command was answered how. */
  readonly answers: Readonly<Record<string, number>>
  /** Of the checker of histories; null: it was not asked. */
  readonly verdict: string | null
}

/** Full comparisons of logs are made this often. Events. */
const COMPARE_EVERY = 5_000
/** Recovery must be over by then. Election time-outs of virtual time, and events. */
const RECOVERY_TIMEOUTS = 200
const RECOVERY_EVENTS_MAX = 400_000

/** Runs in one piece in a turn of its own: nothing else of this thread runs meanwhile. */
export function runSeed(options: RunOptions): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(runNow(options))
      } catch (error) {
        reject(error)
      }
    })
  })
}

function runNow(options: RunOptions): Outcome {
  const { seed, events, traceLines = 0, canary = null, plan = {}, judgeWith = 0 } = options
  const world = new SimWorld({ ...drawPlan(seed), ...plan }, { canary, traceLines })
  const faults = new SimFaults(world)
  const stray = (error: unknown): void =>
    world.stage.violate(
      `a promise was rejected and nobody listened: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
    )
  process.on('unhandledRejection', stray)
  let faultyEvents = 0
  try {
    trapped(() => {
      underFaults(world, faults, events)
      faultyEvents = world.stage.events
      if (world.stage.violation === null) recover(world, faults)
      if (world.stage.violation === null) world.subject.witness?.finish()
    })
  } finally {
    process.off('unhandledRejection', stray)
  }
  return {
    seed,
    violation: world.stage.violation,
    hash: world.stage.hash.hex,
    figures: figuresOf(world, faults, faultyEvents),
    trace: world.stage.trace,
    answers: Object.fromEntries(world.subject.witness?.answers ?? []),
    verdict: judgeWith === 0 ? null : verdictOf(world, judgeWith),
  }
}

function verdictOf({ clients }: SimWorld, configurationsMax: number): string {
  const verdict = judgeHistory(clients.history, clients.refusals, configurationsMax)
  return verdict.outcome === 'violation' ? `violation under ${verdict.violation.part}` : verdict.outcome
}

function underFaults(world: SimWorld, faults: SimFaults, events: number): void {
  const { stage, seats, clients, checks } = world
  for (const seat of seats) world.start(seat)
  clients.start(seats)
  faults.start()
  for (let next = COMPARE_EVERY; stage.events < events && stage.violation === null; ) {
    if (!stage.step()) stage.violate('nothing is left to happen')
    if (stage.events < next) continue
    next += COMPARE_EVERY
    checks.compareLogs()
  }
}

/** Faults stop for a random healthy majority. It must elect, serve and become equal, and every call must end. */
function recover(world: SimWorld, faults: SimFaults): void {
  const { stage, plan, clients, checks } = world
  let core = chooseCore(world)
  /** Those of the core that are members when all is done. */
  const members = (): readonly SimSeat[] => membersOf(world, core)
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
  until('every node of the core is ready', () => {
    widen()
    return isAllOf(members(), (seat) => seat.process?.node.readiness().ready === true)
  })
  clients.finish()
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

function chooseCore(world: SimWorld): readonly SimSeat[] {
  const faults = world.random.faults
  const isSpoiled = (seat: SimSeat): boolean => seat.isDamaged || seat.isStateDamaged
  const healthy = faults.shuffle(world.seats.filter((seat) => !seat.isLost && !isSpoiled(seat)))
  const majority = (world.seats.length >> 1) + 1
  const least = majority + faults.below(healthy.length - majority + 1)
  const chosen = enoughToDecide(healthy, least, world.checks.configurationsInForce)
  // Damaged ones come along: the others must mend them.
  return [...chosen, ...world.seats.filter((seat) => isSpoiled(seat) && !seat.isLost)]
}

/** None while nobody leads or the members are just changing. */
function membersOf({ leader }: SimWorld, core: readonly SimSeat[]): readonly SimSeat[] {
  const configuration = leader?.process?.status()?.configuration
  if (configuration === undefined || configuration.outgoing.length > 0) return []
  const { voters, learners } = configuration
  return core.filter(({ id }) => voters.includes(id) || learners.includes(id))
}

function isAllOf(seats: readonly SimSeat[], holds: (seat: SimSeat) => boolean): boolean {
  return seats.length > 0 && seats.every(holds)
}

function isEqual(world: SimWorld, core: readonly SimSeat[]): boolean {
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

function stateOf(world: SimWorld, core: readonly SimSeat[]): string {
  const lines = core.map(({ id, process }) => {
    const status = process?.status() ?? null
    if (process === null || status === null) return `${id} down`
    const { role, term, leaderId, commitIndex, appliedIndex, lastIndex } = status
    const { reasons } = process.node.readiness()
    return `${id} ${role} term ${term} leader ${leaderId ?? '-'} last ${lastIndex} commit ${commitIndex} applied ${appliedIndex} ${reasons.join('. ')}`
  })
  return `${lines.join('; ')}; ${world.clients.openCalls} calls open`
}

function figuresOf(world: SimWorld, faults: SimFaults, faultyEvents: number): Figures {
  const { stage, checks, clients, counts, network, oracle } = world
  const done = (...kinds: Parameters<typeof faults.counts.get>[0][]): number =>
    kinds.reduce((sum, kind) => sum + (faults.counts.get(kind) ?? 0), 0)
  return {
    nodes: world.plan.nodes,
    events: faultyEvents,
    recoveryEvents: stage.events - faultyEvents,
    virtualSeconds: stage.now / 1000,
    terms: checks.highestTerm,
    elections: checks.elections,
    commits: checks.committedIndex,
    effects: oracle.effectCount,
    acknowledged: clients.counts.acknowledged,
    reads: clients.counts.reads,
    unknown: clients.counts.unknown,
    refused: clients.counts.refused,
    crashes: counts.crashes,
    snapshots: counts.snapshots,
    partitions: done('isolate', 'oneWay', 'split', 'bridge'),
    configurations: checks.configurationChanges,
    frames: network.frames,
    mended: counts.mended,
    rebuilt: counts.rebuilt,
  }
}
