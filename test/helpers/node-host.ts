/**
 * The host of one node in a NodeWorld: its disk and state, which survive crashes, and the ways in which a test may damage them.
 *
 * Rule: damage changes the disk, never the memory of a process; most of it happens while no process runs.
 */
import assert from 'node:assert/strict'
import {
  decodeMachineRecord,
  encodeMachineRecord,
  type MachineRecord,
} from '../../cluster/node/base/machine-record.ts'
import type { DiskFindings, DiskProof } from '../../cluster/node/base/disk-proof.ts'
import type { Node } from '../../cluster/node/node.ts'
import type { DiskTrust } from '../../cluster/raft/types.ts'
import type { LoopbackTransport } from '../../cluster/transport/loopback-transport.ts'
import type { ApplyBatch } from '../../cluster/base/types.ts'
import { MemoryDisk, MemoryWal } from '../../cluster/wal/memory-wal.ts'
import type { WalBatch, WalContent, WalEvents, WalReserve } from '../../cluster/wal/wal.ts'
import { MemoryState, type MemoryStateMachine } from './memory-state-machine.ts'

export const DISK_BYTES: number = 10 * 1024 ** 3

/** The process of a host between two crashes. */
export interface Process {
  readonly node: Node
  readonly wal: TappedWal
  readonly machine: MemoryStateMachine
  readonly transport: LoopbackTransport
}

export interface Backup {
  readonly log: Omit<WalBatch, 'sequence'>
  readonly state: MemoryState
  readonly boot: number
}

/** Lets a test raise the events that only a real disk raises. */
export class TappedWal extends MemoryWal {
  events: WalEvents | null = null
  #isReserveHeld = true
  readonly reserve: WalReserve = {
    bytes: 64 * 1024 ** 2,
    isHeld: () => this.#isReserveHeld,
    refill: () => (this.#isReserveHeld = true),
    release: () => {
      this.#isReserveHeld = false
      this.events?.onDiskFull()
    },
  }

  override open(events: WalEvents): Promise<WalContent> {
    this.events = events
    return super.open(events)
  }
}

/** The evidence outside the data of a directory: here the test sets it. */
class HostDiskProof implements DiskProof {
  /** The verdict of the next start. Stays until it is confirmed. */
  trust: DiskTrust = 'proved'

  async judge({ hasLostTail }: DiskFindings): Promise<DiskTrust> {
    if (hasLostTail) this.trust = 'rolledBack'
    return this.trust
  }

  async confirm(): Promise<void> {
    this.trust = 'proved'
  }

  async stopped(): Promise<void> {}
}

export class NodeHost {
  readonly incarnation: string
  readonly proof = new HostDiskProof()
  disk = new MemoryDisk()
  state = new MemoryState()
  boot = 0
  process: Process | null = null
  /** How long a flush of the log and a batch of the state take, from the next one on; null: a few ms. */
  flushMs: number | null = null
  applyMs: number | null = null
  /** Like a version that does not report its applied index. */
  hidesApplied = false
  /** Free bytes on the disk of log and state. */
  freeBytes = DISK_BYTES
  readonly #nodeId: string
  #batches: readonly ApplyBatch[] = []

  constructor(nodeId: string, generation: number) {
    this.#nodeId = nodeId
    this.incarnation = `${nodeId}-${generation}`
  }

  /** Everything that was ever applied here, over all processes. */
  get batches(): readonly ApplyBatch[] {
    return [...this.#batches, ...(this.process?.machine.batches ?? [])]
  }

  /** The process is gone. */
  leave(): void {
    this.#batches = this.batches
    this.process = null
  }

  fillDisk(): void {
    this.freeBytes = 0
    this.process?.wal.reserve.release()
  }

  /** The state directory is gone. */
  loseState(): void {
    this.#assertStopped()
    this.state = new MemoryState()
  }

  /** The last writes of the state have never reached the disk. */
  setStateBack(earlier: MemoryState): void {
    this.#assertStopped()
    this.state = earlier.copy()
  }

  /** One row differs from what was written; a reader of all rows can detect it. */
  damageState(): void {
    const { current } = this.state
    assert(current.texts.length > 0, 'there is a row to be damaged')
    this.state.current = { ...current, texts: [`${current.texts[0]}?`, ...current.texts.slice(1)] }
  }

  /** One row differs from the other nodes, and nothing on this node can detect it: apply itself went wrong. */
  divergeState(): void {
    this.state.diverge()
  }

  /** The bytes of one entry on the disk are damaged; with `keepTerm`, its header is whole. */
  damageLog(index: number, { keepTerm = true } = {}): void {
    this.#assertStopped()
    const { entries } = this.disk.image.content
    assert(
      entries.some((entry) => entry.index === index),
      `entry ${index} is in the log of ${this.#nodeId}`,
    )
    this.disk.damage(index, { keepTerm })
  }

  /** The contents of a copy of the data directory made now. */
  backup(): Backup {
    const { hardState, base, entries } = this.disk.image.content
    return { log: { hardState, base, entries: [...entries] }, state: this.state.copy(), boot: this.boot }
  }

  /** The log ends where it ended at the backup; the state stays. */
  cutLog({ log }: Backup): void {
    this.#assertStopped()
    this.disk = new MemoryDisk()
    this.disk.image.apply(log)
  }

  /** The data directory is an older copy of itself. */
  restore({ log, state, boot }: Backup): void {
    this.#assertStopped()
    this.disk = new MemoryDisk()
    this.disk.image.apply(log)
    this.state = state.copy()
    this.boot = boot
  }

  /** Rewrites the machine's own record in the state. */
  changeRecord(changes: Partial<MachineRecord>): void {
    this.#assertStopped()
    const { current } = this.state
    assert(current.record !== null, 'there is a record to be changed')
    const record = encodeMachineRecord({ ...decodeMachineRecord(current.record), ...changes })
    this.state.current = { ...current, record }
  }

  #assertStopped(): void {
    assert(this.process === null, `${this.#nodeId} does not run`)
  }
}
