/**
 * One member of a test network: the real core, a disk that can lose what it has not confirmed, a toy state machine.
 *
 * Owns: what survives a crash and what does not. Knows nothing of: other members, randomness.
 * Acts as the driver at a restart: a state machine that is ahead of the log, or contradicts it, voids the log.
 */
import { Raft } from '../../cluster/raft/raft.ts'
import type {
  AppendWal,
  Configuration,
  DiskTrust,
  Entry,
  HardState,
  LogBase,
  LogIndex,
  NodeId,
  RaftOptions,
  ReadLog,
  Term,
} from '../../cluster/raft/types.ts'
import { decodeConfiguration } from '../../cluster/raft/configuration.ts'
import { check, keyOf } from './checker.ts'

/** Entries after a base, as a WAL keeps them. */
export class LogImage {
  base: LogBase = { index: 0, term: 0 }
  entries: Entry[] = []
  hardState: HardState = { currentTerm: 0, votedFor: null }

  get lastIndex(): LogIndex {
    return this.base.index + this.entries.length
  }

  entryAt(index: LogIndex): Entry | null {
    return this.entries[index - this.base.index - 1] ?? null
  }

  termAt(index: LogIndex): Term | null {
    return index === this.base.index ? this.base.term : (this.entryAt(index)?.term ?? null)
  }

  write({ hardState, base, entries }: Pick<AppendWal, 'hardState' | 'base' | 'entries'>): void {
    if (hardState !== null) this.hardState = hardState
    if (base !== null) this.restart(base)
    const first = entries[0]
    if (first === undefined) return
    check(
      first.index <= this.lastIndex + 1,
      `WAL write at ${first.index} leaves a gap after ${this.lastIndex}`,
    )
    check(
      first.index > this.base.index,
      `WAL write at ${first.index} lies before the base ${this.base.index}`,
    )
    this.entries.length = first.index - this.base.index - 1
    this.entries.push(...entries)
  }

  restart(base: LogBase): void {
    this.base = base
    this.entries = []
  }

  compact(index: LogIndex): void {
    const term = this.termAt(index)
    if (term === null) return
    this.entries = this.entries.slice(index - this.base.index)
    this.base = { index, term }
  }

  copy(): LogImage {
    const copy = new LogImage()
    copy.base = this.base
    copy.entries = [...this.entries]
    copy.hardState = this.hardState
    return copy
  }
}

/** Durable by definition: its applied index is always durable. */
interface Machine {
  index: LogIndex
  term: Term
  configuration: Configuration
  configurationIndex: LogIndex
  /** Key of every applied entry: a snapshot carries them all, so machines can be compared. */
  keys: string[]
}

export interface DiskImage {
  readonly disk: LogImage
  readonly machine: Machine
}

export class TestNode {
  readonly id: NodeId
  raft: Raft | null = null
  disk = new LogImage()
  /** The log as the core last described it, durable or not. */
  log = new LogImage()
  machine: Machine
  walQueue: AppendWal[] = []
  applyQueue: (readonly Entry[])[] = []
  readQueue: ReadLog[] = []
  fetch: { readonly from: NodeId; readonly atLeast: LogBase } | null = null
  handedIndex: LogIndex = 0
  /** In settle(): leave WAL writes unconfirmed. */
  isDiskSlow = false
  readonly openReads = new Set<number>()
  /** The trust with which the next process starts. */
  trust: DiskTrust = 'proved'
  /** Disks that were replaced by older copies, with what they acknowledged. */
  readonly former: { readonly disk: LogImage; readonly keys: readonly string[] }[] = []
  /** Names the process in the log; an entry with it proves the disk. */
  registration: Uint8Array | null = null

  constructor(id: NodeId, configuration: Configuration) {
    this.id = id
    this.machine = { index: 0, term: 0, configuration, configurationIndex: 0, keys: [] }
  }

  /** The last index that survives a crash. */
  get durableIndex(): LogIndex {
    return Math.max(this.disk.lastIndex, this.machine.index)
  }

  /** In force as it is applied, and all that its log holds. */
  get configurations(): readonly Configuration[] {
    const entries = [...this.log.entries, ...this.disk.entries].filter(({ kind }) => kind === 'configuration')
    return [this.machine.configuration, ...entries.map(({ data }) => decodeConfiguration(data))]
  }

  /** A copy of the disk as it is. */
  image(): DiskImage {
    return { disk: this.disk.copy(), machine: { ...this.machine, keys: [...this.machine.keys] } }
  }

  /** Replaces the disk by the copy. The process is down. */
  restore({ disk, machine }: DiskImage): void {
    this.former.push({ disk: this.disk, keys: this.machine.keys })
    this.disk = disk
    this.machine = machine
  }

  /** True when its own entry is applied and the process does not know yet that its disk is proved. */
  get isNewlyProved(): boolean {
    const { registration, trust } = this
    if (registration === null || trust === 'proved') return false
    const end = `:command:${registration.join('.')}`
    return this.machine.keys.some((key) => key.endsWith(end))
  }

  holds(entry: Entry): boolean {
    const key = keyOf(entry)
    const didHold = this.former.some(
      ({ disk, keys }) => disk.termAt(entry.index) === entry.term || keys[entry.index - 1] === key,
    )
    if (didHold) return true
    if (this.disk.termAt(entry.index) === entry.term) return true
    return this.machine.index >= entry.index && this.machine.keys[entry.index - 1] === keyOf(entry)
  }

  confirmWal(): number {
    const write = this.walQueue.shift()
    check(write !== undefined, 'nothing to confirm')
    this.disk.write(write)
    return write.sequence
  }

  apply(): LogIndex {
    for (const entry of this.applyQueue.shift() ?? []) {
      check(
        entry.index === this.machine.index + 1,
        `${this.id} applies ${entry.index} after ${this.machine.index}`,
      )
      this.machine.keys.push(keyOf(entry))
      this.machine = { ...this.machine, index: entry.index, term: entry.term }
      if (entry.kind !== 'configuration') continue
      this.machine.configuration = decodeConfiguration(entry.data)
      this.machine.configurationIndex = entry.index
    }
    return this.machine.index
  }

  /** The first `survivors` of the unconfirmed writes reached the disk all the same. */
  crash(survivors: number): void {
    this.raft = null
    for (const write of this.walQueue.slice(0, survivors)) this.disk.write(write)
    this.walQueue = []
    this.applyQueue = []
    this.readQueue = []
    this.fetch = null
  }

  start(options: RaftOptions): void {
    check(this.raft === null, `${this.id} runs already`)
    const { index, term, configuration, configurationIndex } = this.machine
    if (this.disk.termAt(index) !== term) this.disk.restart({ index, term })
    if (term > this.disk.hardState.currentTerm) this.disk.hardState = { currentTerm: term, votedFor: null }
    this.log = this.disk.copy()
    this.handedIndex = index
    const { hardState, base, entries } = this.disk
    this.raft = new Raft(options, {
      hardState,
      base,
      entries: [...entries],
      configuration,
      configurationIndex,
      appliedIndex: index,
      trust: this.trust,
    })
  }
}
