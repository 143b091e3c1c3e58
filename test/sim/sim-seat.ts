/**
 * A machine that processes come and go on: its disks, its clock, its name.
 *
 * Owns: what survives a process. Knows nothing of: why a process ends. Rule: `isLost` seats have no disk to come back with and
 * are at most a minority.
 */
import { LogMirror } from './log-mirror.ts'
import { SimFiles, type SimFilesOptions } from './sim-files.ts'
import { SimState } from './sim-machine.ts'
import type { SimProcess } from './sim-process.ts'

export class SimSeat {
  readonly id: string
  readonly place: number
  readonly #options: SimFilesOptions
  files: SimFiles
  state = new SimState()
  process: SimProcess | null = null
  boot = 0
  #generation = 1
  clockRate = 1
  wallOffsetMs = 0
  /** Every flush takes at least this long. ms */
  slowMs = 0
  durable = new LogMirror()
  instead: LogMirror | null = null
  formerLogs: LogMirror[] = []
  stateIndex = 0
  isDamaged = false
  /** Emptied or damaged: it can never take part again. */
  isLost = false
  /** Not before this time is it started again. */
  downUntil = 0

  constructor(id: string, place: number, options: SimFilesOptions) {
    this.id = id
    this.place = place
    this.#options = options
    this.files = new SimFiles(options)
  }

  get incarnation(): string {
    return `${this.id}-${this.#generation}`
  }

  /** Damaged, whether anybody has met it yet or not: nothing is to be had from it. */
  get isStateDamaged(): boolean {
    return this.state.isDamaged || this.state.fault !== null
  }

  /** The data directory is gone; an empty one takes its place. */
  wipe(): void {
    this.isLost = true
    this.formerLogs.push(this.durable)
    this.durable = new LogMirror()
    this.instead = null
    this.stateIndex = 0
    this.files = new SimFiles(this.#options)
    this.state = new SimState()
    this.boot = 0
    this.#generation += 1
  }
}
