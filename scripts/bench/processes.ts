/**
 * The kernel's figures about the node processes: CPU time, memory, bytes written to the disk.
 *
 * Knows nothing of: operations. Linux only; elsewhere every figure is null and the table says so.
 * Rule: it reads only processes of the cluster that this benchmark started.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** USER_HZ, the fixed unit of times in /proc. [proc_pid_stat(5)] */
const TICKS_A_SECOND = 100

export interface ProcessSample {
  readonly cpuSeconds: number
  readonly writtenBytes: number
  readonly peakResidentBytes: number
}

export interface ProcessUse {
  readonly cpuSeconds: number
  readonly writtenBytes: number
  /** The peak of each process since `startMeasuring`. */
  readonly peakResidentBytes: readonly number[]
}

export class Processes {
  readonly #pids: readonly number[]
  #before: readonly ProcessSample[] = []

  private constructor(pids: readonly number[]) {
    this.#pids = pids
  }

  /** Null where there is no /proc to read from. */
  static of(pids: readonly number[]): Processes | null {
    return pids.length > 0 && existsSync(`/proc/${pids[0]}/io`) ? new Processes(pids) : null
  }

  startMeasuring(): void {
    // "5" sets the peak back to what is resident now. [proc_pid_clear_refs(5)]
    for (const pid of this.#pids) writeFileSync(`/proc/${pid}/clear_refs`, '5')
    this.#before = this.#pids.map(sample)
  }

  sinceStart(): ProcessUse {
    const now = this.#pids.map(sample)
    const grown = (of: (process: ProcessSample) => number): number =>
      sum(now.map(of)) - sum(this.#before.map(of))
    return {
      cpuSeconds: grown((process) => process.cpuSeconds),
      writtenBytes: grown((process) => process.writtenBytes),
      peakResidentBytes: now.map((process) => process.peakResidentBytes),
    }
  }
}

function sample(pid: number): ProcessSample {
  // The name of the program is in parentheses and may contain any character; the figures come after it.
  const fields = read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')
  const [userTicks, systemTicks] = [fields[11], fields[12]].map(Number)
  if (userTicks === undefined || systemTicks === undefined)
    throw new Error(`Cannot read the CPU time of ${pid}`)
  return {
    cpuSeconds: (userTicks + systemTicks) / TICKS_A_SECOND,
    writtenBytes: figure(read(pid, 'io'), 'write_bytes'),
    peakResidentBytes: 1024 * figure(read(pid, 'status'), 'VmHWM'),
  }
}

const read = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8')

function figure(text: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]
  if (value === undefined) throw new Error(`Cannot find ${name} in the kernel's figures of a process`)
  return Number(value)
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
