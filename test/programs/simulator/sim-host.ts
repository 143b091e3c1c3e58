/**
 * A machine that runs one process after another: its disks, its clock, its name.
 *
 * Owns: the state that survives a process. Knows nothing of: why a process ends. Rule: `isLost` hosts have no disk to come back with and
 * are at most a minority.
 */
import type { Membership } from '../../../cluster/directory/directory.ts'
import { decodeMachineRecord } from '../../../cluster/node/base/machine-record.ts'
import type { Member } from '../../../cluster/base/types.ts'
import { LogMirror } from './log-mirror.ts'
import { SimFiles, type SimFilesOptions } from './sim-files.ts'
import { loseUnflushed, SimState } from './sim-machine.ts'
import { SimRows } from './sim-rows.ts'
import { type DirectoryProof, SimEvidence } from './sim-disk-proof.ts'
import type { SimProcess } from './sim-process.ts'

export interface DiskImage {
  readonly files: SimFiles
  readonly state: Pick<SimState, 'rows' | 'record'>
  readonly log: LogMirror
  readonly instead: LogMirror | null
  readonly stateIndex: number
  readonly boot: number
  readonly before: readonly number[] | null
  readonly membership: Membership | null
  readonly incarnation: string
  readonly copies: readonly string[]
  readonly proof: DirectoryProof
}

export class SimHost {
  readonly id: string
  readonly place: number
  readonly #options: SimFilesOptions
  files: SimFiles
  state = new SimState()
  process: SimProcess | null = null
  boot = 0
  /** Of a directory that was put back: the processes before this one. Null: boots count up, and that is all there is to know. */
  before: readonly number[] | null = null
  /** Of the first process on a copy that was put back: as in real directories no other process of this name has it. */
  nextBoot: number | null = null
  #generation = 1
  clockRate = 1
  /** Every flush takes at least this long. ms */
  slowMs = 0
  durable = new LogMirror()
  instead: LogMirror | null = null
  formerLogs: LogMirror[] = []
  stateIndex = 0
  isDamaged = false
  /** Emptied or damaged: it can never take part again. */
  isLost = false
  /** It came back with an older disk, and has not yet recovered the lost entries. */
  isForgetful = false
  readonly evidence = new SimEvidence()
  /** Where members change: there is a machine of this name. */
  isInstalled = true
  /** The members of its configuration, and whether it starts with --join. */
  configured: readonly Member[] = []
  joins = false
  /** Durable: the members that it knew last, and the copies of chunks that it keeps, by birth. */
  membership: Membership | null = null
  copies = new Set<string>()
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

  /** Damaged, detected or not: it cannot serve its state. */
  get isStateDamaged(): boolean {
    return this.state.isDamaged || this.state.fault !== null
  }

  /** The state may be an earlier one afterwards. */
  losePower(below: (bound: number) => number): void {
    this.files.powerCut()
    if (loseUnflushed(this.state, below) > 0) this.stateIndex = indexIn(this.state.record)
  }

  /** A copy of the whole disk, as a snapshot of the volume holds it at this moment. */
  image(): DiskImage {
    const { rows, record } = this.state
    const state = { rows: new SimRows(rows.entries()), record }
    const { durable, stateIndex, boot, before, membership, incarnation } = this
    const log = durable.copy()
    const instead = this.instead?.copy() ?? null
    return {
      files: this.files.image(),
      state,
      log,
      instead,
      stateIndex,
      boot,
      before,
      membership,
      incarnation,
      copies: [...this.copies],
      proof: this.evidence.directory,
    }
  }

  /** That copy is in place again; later promises are lost. */
  restore(
    { files, state, log, instead, stateIndex, boot, before, membership, copies, proof }: DiskImage,
    nextBoot: number,
    inPlace = false,
  ): void {
    this.isLost = true
    this.formerLogs.push(this.durable)
    this.durable = log.copy()
    this.instead = instead?.copy() ?? null
    this.stateIndex = stateIndex
    this.files = files.image()
    this.state = Object.assign(new SimState(), {
      rows: new SimRows(state.rows.entries()),
      record: state.record,
    })
    this.membership = membership
    this.copies = new Set(copies)
    this.evidence.putBack(proof, inPlace)
    this.before = [...(before ?? []), boot]
    this.boot = boot
    this.nextBoot = nextBoot
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
    this.membership = null
    this.copies = new Set()
    this.boot = 0
    this.before = null
    this.nextBoot = null
    this.isForgetful = false
    this.evidence.emptied()
    this.#generation += 1
  }
}

function indexIn(record: Uint8Array | null): number {
  return record === null ? 0 : decodeMachineRecord(record).appliedIndex
}
