/**
 * One turn: a system is started on an empty folder, runs the chosen rows, and is stopped.
 *
 * Owns: warm-up, the measurement of one row. Rule: a fresh start for each turn, so that none pays for the files of another.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Load, runLoad } from '../bench/load.ts'
import { Processes } from '../bench/processes.ts'
import { percentile } from '../bench/statistics.ts'
import { type DiskBound, diskBound } from './disk-bound.ts'
import { Field } from './field.ts'
import { type CellOnMachine, onMachine, sampleMachine, usedSince } from './machine.ts'
import { type RaceRow, rowsOf } from './rows.ts'
import type { RaceSystem } from './system.ts'

/** Not counted: compilation of hot code. The first row of a turn gets more. */
const WARM_UP = {
  share: 0.4,
  secondsMin: 0.5,
  secondsMax: 3,
  firstSecondsMin: 3,
  firstOperationsMin: 2000,
} as const

/** The row that is compared with what the disk takes. */
export const BOUND_ROW = 'put-64m'

export interface Cell {
  readonly row: string
  readonly name: string
  readonly operations: number
  readonly seconds: number
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly errors: number
  readonly firstError: string | null
  /** Of the nodes together, in microseconds of processor time. Null: no /proc. */
  readonly nodeMicros: number | null
  readonly clientMicros: number
  /** By the processes of the nodes. Null: the row does not only write. */
  readonly writtenPerStored: number | null
  /** Of the whole disk. */
  readonly flushes: number | null
  /** The peaks of the nodes, added. */
  readonly residentBytes: number | null
  readonly machine: CellOnMachine | null
}

export interface Turn {
  readonly system: string
  readonly version: string
  readonly durability: string
  /** Processor seconds of the nodes in a second without requests. */
  readonly idleShare: number | null
  /** Measured before the rows. Null: no row is compared with it. */
  readonly bound: DiskBound | null
  readonly compared: number
  readonly cells: readonly Cell[]
}

export interface TurnPlan {
  readonly clients: number
  readonly seconds: number
  /** After how many operations a row ends; null: after its time. */
  readonly operations: number | null
  readonly idleSeconds: number
  readonly compareEach: number
  readonly chosen: readonly string[]
  readonly say: (text: string) => void
}

export async function runTurn(system: RaceSystem, plan: TurnPlan): Promise<Turn> {
  await system.open()
  const field = new Field(system, { compareEach: plan.compareEach, only: null })
  try {
    const idleShare = await idle(system, plan.idleSeconds)
    const bound = plan.chosen.includes(BOUND_ROW) ? await diskBound(system.folder) : null
    const cells: Cell[] = []
    for (const row of rowsOf(field, plan)) {
      plan.say(`${system.name}: ${row.name} ...`)
      cells.push(await measured(system, row, { ...plan, isFirst: cells.length === 0 }))
    }
    const { name, version, durability } = system
    return { system: name, version, durability, idleShare, bound, compared: field.compared, cells }
  } finally {
    field.close()
  }
}

async function idle({ pids }: RaceSystem, seconds: number): Promise<number | null> {
  const processes = Processes.of(pids)
  if (processes === null || seconds === 0) return null
  processes.startMeasuring()
  await wait(1000 * seconds)
  return processes.sinceStart().cpuSeconds / seconds
}

export interface Measuring extends Pick<TurnPlan, 'seconds' | 'operations'> {
  readonly isFirst: boolean
}

/** The row as a load that ends after so many operations as well. */
export function loadOf(row: RaceRow, operations: number | null): Omit<Load, 'seconds'> {
  const { clients } = row
  const operationsMax = operations === null ? Number.POSITIVE_INFINITY : Math.max(4, operations * row.share)
  let started = 0
  return {
    clients,
    operation: (client) => {
      started++
      return row.operation({ client, clients })
    },
    isOver: () => started >= operationsMax || row.isOver?.() === true,
  }
}

/** A row that uses up its objects is warm from making them. */
export async function warmUp(row: RaceRow, { seconds, operations, isFirst }: Measuring): Promise<void> {
  if (row.isOver !== undefined) return
  const { share, secondsMin, secondsMax, firstSecondsMin, firstOperationsMin } = WARM_UP
  if (operations === null) {
    const some = Math.min(secondsMax, Math.max(secondsMin, share * seconds))
    await runLoad({ ...loadOf(row, null), seconds: isFirst ? Math.max(firstSecondsMin, some) : some })
  } else {
    const some = Math.max(isFirst ? firstOperationsMin : 1, Math.ceil(share * operations))
    await runLoad({ ...loadOf(row, some), seconds })
  }
}

async function measured(system: RaceSystem, row: RaceRow, measuring: Measuring): Promise<Cell> {
  await row.prepare()
  await warmUp(row, measuring)
  const processes = Processes.of(system.pids)
  processes?.startMeasuring()
  const machineBefore = sampleMachine(system.folder)
  const clientBefore = process.cpuUsage()
  const {
    latencies,
    seconds: took,
    errors,
    firstError,
  } = await runLoad({
    ...loadOf(row, measuring.operations),
    seconds: measuring.seconds,
  })
  const { user, system: kernel } = process.cpuUsage(clientBefore)
  const nodes = processes?.sinceStart() ?? null
  const clientSeconds = (user + kernel) / 1e6
  const use = usedSince(machineBefore, system.folder)
  const flushes = use?.flushes ?? null
  const sorted = latencies.sorted()
  const operations = sorted.length
  const stored = row.writes && row.bytes !== null ? operations * row.bytes : 0
  return {
    row: row.id,
    name: row.name,
    operations,
    seconds: took,
    perSecond: operations / took,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    errors,
    firstError,
    nodeMicros: nodes === null ? null : (1e6 * nodes.cpuSeconds) / operations,
    clientMicros: (1e6 * clientSeconds) / operations,
    writtenPerStored: nodes === null || stored === 0 ? null : nodes.writtenBytes / stored,
    flushes: flushes === null ? null : flushes / operations,
    residentBytes: nodes?.peakResidentBytes.reduce((sum, bytes) => sum + bytes, 0) ?? null,
    machine: onMachine(use, clientSeconds + (nodes?.cpuSeconds ?? 0)),
  }
}
