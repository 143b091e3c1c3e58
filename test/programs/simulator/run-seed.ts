/**
 * One seed from its start to its verdict: faults for so many events, then a healthy group that must converge.
 *
 * Owns: the two modes and the figures of a run. Knows nothing of: faults in detail, the checks.
 * Rule: the outcome is a function of the options and of the code, and of nothing else.
 */
import { type BackgroundFigures, BackgroundOracle } from './background-oracle.ts'
import { backgroundPlan } from './background-plan.ts'
import { judgeHistory } from './judge-history.ts'
import { memberPlan } from './member-plan.ts'
import { recoverMembers } from './member-recovery.ts'
import { MemberWalk, type WalkFigures } from './member-walk.ts'
import { recover } from './recovery.ts'
import { settle } from './settling.ts'
import { SimFaults } from './sim-faults.ts'
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
  /** Changes to the plan of the seed. */
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
  readonly repaired: number
  readonly rebuilt: number
  /** Blocks of an install that the state before it held already. */
  readonly reused: number
  /** Disks that went back to an older copy, the refused ones among them, and confirmations of an operator. */
  readonly wentBack: number
  readonly expelled: number
  readonly declared: number
}

export interface Outcome {
  readonly seed: number
  /** Null: every promise was kept. */
  readonly violation: string | null
  /** Of everything that happened. */
  readonly hash: string
  readonly figures: Figures
  /** Of a walk of membership. */
  readonly walk: WalkFigures | null
  /** Of a walk with work in the background. */
  readonly background: BackgroundFigures | null
  readonly trace: readonly string[]
  /** How often each command got each answer, where an observer exists. */
  readonly answers: Readonly<Record<string, number>>
  /** Of the checker of histories; null: it was not asked. */
  readonly verdict: string | null
}

/** Full comparisons of logs are made this often. Events. */
const COMPARE_EVERY = 5_000

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
  const drawn = { ...drawPlan(seed), ...plan }
  const world = new SimWorld(plannedFor(drawn, plan), { canary, traceLines })
  const faults = new SimFaults(world)
  const walk = MemberWalk.of(world)
  const background = world.setup.observer instanceof BackgroundOracle ? world.setup.observer : null
  const stray = (error: unknown): void =>
    world.scheduler.violate(
      `a promise was rejected without a handler: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
    )
  process.on('unhandledRejection', stray)
  let faultyEvents = 0
  try {
    trapped(() => {
      walk?.start()
      background?.start()
      underFaults(world, faults, events)
      faultyEvents = world.scheduler.events
      if (world.scheduler.violation === null) {
        if (walk === null) recover(world, faults)
        else recoverMembers(world, faults, walk)
        if (background !== null) settle(world, background)
      }
      if (world.scheduler.violation === null) world.setup.observer?.finish()
    }, walk?.instead)
  } finally {
    process.off('unhandledRejection', stray)
  }
  return {
    seed,
    violation: world.scheduler.violation,
    hash: world.scheduler.hash.hex,
    figures: figuresOf(world, faults, faultyEvents),
    walk: walk?.figures ?? null,
    background: background?.figures ?? null,
    trace: world.scheduler.trace,
    answers: Object.fromEntries(world.setup.observer?.answers ?? []),
    verdict: judgeWith === 0 ? null : verdictOf(world, judgeWith),
  }
}

function plannedFor(drawn: Plan, plan: Partial<Plan>): Plan {
  if (drawn.machine === 'members') return { ...memberPlan(drawn), ...plan }
  return drawn.machine === 'background' ? { ...backgroundPlan(drawn), ...plan } : drawn
}

function verdictOf({ clients }: SimWorld, configurationsMax: number): string {
  const verdict = judgeHistory(clients.history, clients.refusals, configurationsMax)
  return verdict.outcome === 'violation' ? `violation under ${verdict.violation.part}` : verdict.outcome
}

function underFaults(world: SimWorld, faults: SimFaults, events: number): void {
  const { scheduler, hosts, clients, checks } = world
  for (const host of hosts) world.start(host)
  clients.start(hosts)
  faults.start()
  for (let next = COMPARE_EVERY; scheduler.events < events && scheduler.violation === null; ) {
    if (!scheduler.step()) scheduler.violate('nothing is left to happen')
    if (scheduler.events < next) continue
    next += COMPARE_EVERY
    checks.compareLogs()
  }
}

function figuresOf(world: SimWorld, faults: SimFaults, faultyEvents: number): Figures {
  const { scheduler, checks, clients, counts, network, oracle, disks } = world
  const done = (...kinds: Parameters<typeof faults.counts.get>[0][]): number =>
    kinds.reduce((sum, kind) => sum + (faults.counts.get(kind) ?? 0), 0)
  return {
    nodes: world.plan.nodes,
    events: faultyEvents,
    recoveryEvents: scheduler.events - faultyEvents,
    virtualSeconds: scheduler.now / 1000,
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
    repaired: counts.repaired,
    rebuilt: counts.rebuilt,
    reused: counts.reused,
    wentBack: disks.counts.wentBack,
    expelled: disks.counts.expelled,
    declared: disks.counts.declared,
  }
}
