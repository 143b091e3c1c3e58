/**
 * What else the machine does while a row is measured, and whether it is quiet enough for a verdict.
 *
 * Linux only; elsewhere every figure is null and no verdict is given.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** USER_HZ, the fixed unit of times in /proc. [proc_stat(5)] */
const TICKS_A_SECOND = 100
/** Flush requests that a device completed: field 16 after major, minor and name. [Documentation/admin-guide/iostats.rst] */
const FLUSHES_AT = 2 + 16

export interface MachineSample {
  readonly at: number
  /** Seconds of all processors together. */
  readonly busySeconds: number
  readonly stolenSeconds: number
  /** Of the device under the folder, by whomever. Null: its figures are not to be had. */
  readonly flushes: number | null
}

export interface MachineUse {
  readonly seconds: number
  readonly busySeconds: number
  readonly stolenSeconds: number
  readonly flushes: number | null
}

/** What makes the machine not quiet. Shares are of all processors. */
export const QUIET = { loadMax: 0.5, stolenShareMax: 0.01, othersShareMax: 0.05 } as const

/** Null: no /proc. `folder` names the disk whose flushes are counted. */
export function sampleMachine(folder: string): MachineSample | null {
  if (!existsSync('/proc/stat')) return null
  const [, ...fields] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').trim().split(/\s+/)
  const [user = 0, nice = 0, system = 0, , , hard = 0, soft = 0, stolen = 0] = fields.map(Number)
  return {
    at: performance.now(),
    busySeconds: (user + nice + system + hard + soft) / TICKS_A_SECOND,
    stolenSeconds: stolen / TICKS_A_SECOND,
    flushes: flushesOf(folder),
  }
}

export function usedSince(before: MachineSample | null, folder: string): MachineUse | null {
  const now = sampleMachine(folder)
  if (before === null || now === null) return null
  return {
    seconds: (now.at - before.at) / 1000,
    busySeconds: now.busySeconds - before.busySeconds,
    stolenSeconds: now.stolenSeconds - before.stolenSeconds,
    flushes: now.flushes === null || before.flushes === null ? null : now.flushes - before.flushes,
  }
}

function flushesOf(folder: string): number | null {
  const { dev } = statSync(folder)
  // The numbers of a device as the C library packs them. [makedev(3)]
  const major = (dev >> 8) & 0xfff
  const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00)
  const line = readFileSync('/proc/diskstats', 'utf8')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find(([first, second]) => Number(first) === major && Number(second) === minor)
  const flushes = line?.[FLUSHES_AT]
  return flushes === undefined ? null : Number(flushes)
}

/** Why no verdict can be given; empty when the machine is quiet. */
export function disquiet(loadBefore: number, cells: readonly (CellOnMachine | null)[]): readonly string[] {
  const processors = availableParallelism()
  const reasons: string[] = []
  if (loadBefore > QUIET.loadMax * processors)
    reasons.push(
      `the load was ${loadBefore.toFixed(2)} before the first turn, at most ${QUIET.loadMax * processors} is quiet`,
    )
  if (cells.length === 0 || cells.includes(null))
    return [...reasons, 'what else ran is not known: there is no /proc']
  const known = cells.filter((cell) => cell !== null)
  const worst = (of: (cell: CellOnMachine) => number): number => Math.max(...known.map(of))
  const stolen = worst(({ stolenShare }) => stolenShare)
  const others = worst(({ othersShare }) => othersShare)
  if (stolen > QUIET.stolenShareMax)
    reasons.push(
      `the host took ${percent(stolen)} of the processors in one row, at most ${percent(QUIET.stolenShareMax)} is quiet`,
    )
  if (others > QUIET.othersShareMax)
    reasons.push(
      `other processes used ${percent(others)} of the processors in one row, at most ${percent(QUIET.othersShareMax)} is quiet`,
    )
  return reasons
}

export interface CellOnMachine {
  readonly stolenShare: number
  readonly othersShare: number
}

/** `ownSeconds`: processor time of the nodes and of the client. */
export function onMachine(use: MachineUse | null, ownSeconds: number): CellOnMachine | null {
  if (use === null) return null
  const all = use.seconds * availableParallelism()
  return {
    stolenShare: use.stolenSeconds / all,
    othersShare: Math.max(0, use.busySeconds - ownSeconds) / all,
  }
}

export const loadNow = (): number => loadavg()[0] ?? 0

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
