/**
 * The plan of one seed: how many nodes, how fast, which faults and how strong.
 *
 * Owns: the draw. Knows nothing of: how faults are done. Rule: each seed has some faults and omits others; bugs that need a rare
 * mix, or the absence of something, are found that way (swarm testing).
 */
import { Random } from './random.ts'

export const FAULTS = [
  'crash',
  'crashAtEffect',
  'crashLoop',
  'powerCutAll',
  'stopOrderly',
  'pause',
  'wallJump',
  'isolate',
  'oneWay',
  'split',
  'bridge',
  'heal',
  'clog',
  'swizzle',
  'slowDisk',
  'failSync',
  'fullDisk',
  'failApply',
  'wipe',
  'rot',
  'replay',
  'members',
  'damageRow',
  'rollBack',
] as const

export type Fault = (typeof FAULTS)[number]

/** The state machine of the group. */
export type Machine = 'registers' | 'objects' | 'members' | 'background'

export interface Plan {
  readonly seed: number
  readonly machine: Machine
  /** The state is behind the link that is between two threads. */
  readonly isBehindLink: boolean
  readonly nodes: number
  /** Machines that are not members at the beginning. */
  readonly spares: number
  readonly heartbeatMs: number
  readonly electionTimeoutMs: number
  readonly delayMinMs: number
  readonly delayMeanMs: number
  readonly tailRate: number
  readonly tailMs: number
  readonly lossRate: number
  readonly duplicateRate: number
  readonly keepsOrder: boolean
  readonly isBatching: boolean
  readonly flushMs: number
  readonly applyMs: number
  /** Share of flushes that take up to 30 s. */
  readonly spikeRate: number
  readonly spikeMs: number
  readonly shortWriteRate: number
  readonly tearsAnywhere: boolean
  /** Nodes ask the evidence at each start whether their disk is current, as in service; otherwise every disk is trusted. */
  readonly provesDisks: boolean
  readonly segmentBytesMax: number
  readonly blockBytes: number
  readonly logKeepEntries: number
  /** Entries of the log in memory; the others are read back from the segments. */
  readonly windowEntries: number
  /** Disk that the log may take for nodes that lag. */
  readonly logPinBytes: number
  readonly clientsPerNode: number
  readonly thinkMs: number
  readonly keys: number
  readonly readShare: number
  readonly paddingMax: number
  /** Largest difference of a clock's rate from 1. */
  readonly skew: number
  /** Mean time between two faults, and of being down, in a pause or cut off. ms */
  readonly faultEveryMs: number
  readonly faultLastsMs: number
  /** 0: never in this run. */
  readonly weights: Readonly<Record<Fault, number>>
  /** Small limits meet their bounds often. */
  readonly hasSmallLimits: boolean
  readonly deadlineMs: number
}

/** How often a fault is chosen when a seed has it. */
const WEIGHTS: Readonly<Record<Fault, number>> = {
  crash: 10,
  crashAtEffect: 10,
  crashLoop: 2,
  powerCutAll: 2,
  stopOrderly: 5,
  pause: 6,
  wallJump: 3,
  isolate: 8,
  oneWay: 6,
  split: 5,
  bridge: 3,
  heal: 14,
  clog: 5,
  swizzle: 3,
  slowDisk: 4,
  failSync: 3,
  fullDisk: 2,
  failApply: 2,
  wipe: 4,
  rot: 2,
  replay: 8,
  members: 30,
  damageRow: 12,
  rollBack: 10,
}

/** Keeps all other seeds unchanged. */
const DRAWN_APART: readonly Fault[] = ['members', 'damageRow', 'rollBack']

/** A node that finds a tear waits for a majority of the others. Voters, where one more may lose entries. */
const ROLL_BACK_TEARS_MIN = 5
/** Share of seeds. */
const ROLL_BACK_SHARE = 0.5
const OBJECTS_SHARE = 0.05

export function drawPlan(seed: number): Plan {
  const random = new Random(seed, 'plan')
  const some = <T>(rate: number, strong: () => T, none: T): T => (random.chance(rate) ? strong() : none)
  const heartbeatMs = random.pick([10, 20, 20, 50])
  const electionTimeoutMs = heartbeatMs * random.pick([10, 10, 10, 15, 20])
  const weights = Object.fromEntries(
    FAULTS.map((fault) => [
      fault,
      DRAWN_APART.includes(fault) ? 0 : some(0.6, () => WEIGHTS[fault] * random.between(0.3, 3), 0),
    ]),
  ) as Record<Fault, number>
  const nodes = random.pick([1, 2, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 7])
  const rollBack = nodes > 2 ? drawRollBack(seed) : 0
  return {
    seed,
    machine: drawMachine(seed),
    isBehindLink: false,
    nodes,
    spares: 0,
    heartbeatMs,
    electionTimeoutMs,
    delayMinMs: random.between(0.1, 1),
    delayMeanMs: random.pick([0.2, 1, 3, heartbeatMs / 2, heartbeatMs]),
    tailRate: some(0.5, () => random.pick([0.001, 0.01, 0.05]), 0),
    tailMs: random.pick([electionTimeoutMs, 10 * electionTimeoutMs, 60_000]),
    lossRate: some(0.5, () => random.pick([0.01, 0.05, 0.15, 0.3]), 0),
    duplicateRate: some(0.5, () => random.pick([0.01, 0.1, 0.3]), 0),
    keepsOrder: random.chance(0.4),
    isBatching: random.chance(0.6),
    flushMs: random.pick([0.1, 1, 3, heartbeatMs]),
    applyMs: random.pick([0.1, 1, 3, heartbeatMs]),
    spikeRate: some(0.4, () => random.pick([0.0005, 0.003]), 0),
    spikeMs: random.pick([electionTimeoutMs, 3_000, 30_000]),
    shortWriteRate: some(0.3, () => 0.05, 0),
    tearsAnywhere: random.chance(0.5) && (rollBack === 0 || nodes >= ROLL_BACK_TEARS_MIN),
    provesDisks: rollBack > 0,
    segmentBytesMax: random.pick([2_048, 8_192, 65_536]),
    blockBytes: random.pick([64, 512, 4_096]),
    logKeepEntries: random.pick([2, 4, 4, 8, 16, 64, 1_000]),
    windowEntries: drawWindow(seed),
    logPinBytes: drawPinBytes(seed),
    clientsPerNode: random.pick([1, 2, 3, 5]),
    thinkMs: random.pick([5, 20, 50, 200]),
    keys: random.pick([2, 8, 40]),
    readShare: random.pick([0.1, 0.4, 0.7]),
    paddingMax: random.pick([0, 0, 30, 400]),
    skew: some(0.5, () => random.pick([0.01, 0.1, 0.3, 0.6]), 0),
    faultEveryMs: electionTimeoutMs * random.pick([1, 2, 4, 8]),
    faultLastsMs: electionTimeoutMs * random.pick([1, 3, 6, 12]),
    weights: { ...(nodes > 1 ? withMembers(seed, withDamagedRows(seed, weights)) : weights), rollBack },
    hasSmallLimits: random.chance(0.5),
    deadlineMs: electionTimeoutMs * random.pick([4, 10, 20]),
  }
}

/** Drawn separately, which keeps all other seeds unchanged. */
function drawMachine(seed: number): Machine {
  return new Random(seed, 'machine').chance(OBJECTS_SHARE) ? 'objects' : 'registers'
}

/** Drawn separately for the same reason. */
function drawWindow(seed: number): number {
  return new Random(seed, 'window').pick([2, 8, 64, 16_384])
}

/** Of little, nothing fits and every node that lags needs a snapshot. Drawn apart for the same reason. */
function drawPinBytes(seed: number): number {
  return new Random(seed, 'pins').pick([1, 65_536, 1_048_576])
}

/**
 * In some seeds the members change. No disk is spoiled there: which minority may lose its promises would depend on the
 * members. Drawn separately, which keeps all other seeds unchanged.
 */
function withMembers(
  seed: number,
  weights: Readonly<Record<Fault, number>>,
): Readonly<Record<Fault, number>> {
  const random = new Random(seed, 'members')
  if (!random.chance(0.4)) return weights
  return { ...weights, wipe: 0, rot: 0, damageRow: 0, members: WEIGHTS.members * random.between(0.3, 3) }
}

/** Drawn apart for the same reason. */
function withDamagedRows(
  seed: number,
  weights: Readonly<Record<Fault, number>>,
): Readonly<Record<Fault, number>> {
  const random = new Random(seed, 'rows')
  return random.chance(0.6) ? { ...weights, damageRow: WEIGHTS.damageRow * random.between(0.3, 3) } : weights
}

/**
 * In some seeds disks go back. There the evidence for a disk counts as in service, so that every power cut leaves suspects; two voters are
 * enough for nothing while one forgets. Drawn apart for the same reason.
 */
function drawRollBack(seed: number): number {
  const random = new Random(seed, 'rollBacks')
  return random.chance(ROLL_BACK_SHARE) ? WEIGHTS.rollBack * random.between(0.3, 3) : 0
}
