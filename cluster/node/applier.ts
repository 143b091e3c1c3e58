/**
 * From committed entries to durable state and replies.
 *
 * Owns: the machine record (applied index, sessions, time, configuration) and the entries that wait for the state machine.
 * Knows nothing of: what commands do. Rule: one StateMachine.apply at a time, in log order, each entry once; the record travels in
 * the same atomic write as the rows, so that after a crash nobody has to guess which of the two is newer. From a state that is
 * damaged nobody is answered, and nothing is applied to it.
 */
import { assert } from './assert.ts'
import { decodeCommandEntry, type SessionId } from './log-entry.ts'
import { decodeMachineRecord, encodeMachineRecord, type MachineRecord } from './machine-record.ts'
import { decodeRecoveryNote } from './recovery-note.ts'
import { type Registered, Sessions } from './sessions.ts'
import { decodeConfiguration, noteOf } from '../raft/configuration.ts'
import type { Configuration, Entry, LogIndex, NodeId, Term } from '../raft/types.ts'
import type { ApplyBatch, StateDamagedError, StateMachine } from '../types.ts'
import { damageIn } from './distrust.ts'
import type { NodeLimits } from './limits.ts'

/** A reply for this very process. */
export interface Completion {
  readonly sequence: number
  readonly reply: Uint8Array
}

export interface ApplierParts {
  readonly stateMachine: Pick<StateMachine, 'apply' | 'checksum'>
  readonly session: SessionId
  readonly limits: NodeLimits
  /** What the state machine holds. */
  readonly record: MachineRecord
  /** Everything up to `appliedIndex` is durable. `entries` are those that just became so. */
  readonly onApplied: (entries: readonly Entry[], completions: readonly Completion[]) => void
  /** The state holds everything up to an index where every node takes its checksum, and nothing after it. */
  readonly onPoint: (index: LogIndex, checksum: Uint8Array) => void
  /** The batch met damage and had no effect that counts; it waits for another state, as everything after it. */
  readonly onDamaged: (damage: StateDamagedError) => void
  /** The state on disk and in memory may differ now: nothing may be answered any more. */
  readonly onFatal: (error: Error) => void
}

type Batch = ApplyBatch['entries'][number]
/** Where in the answer of the state machine the reply for this process stands; null for a proposal without a command. */
type Expected = readonly {
  readonly sequence: number
  readonly place: { readonly entry: number; readonly command: number } | null
}[]

const NO_REPLY = new Uint8Array(0)

export class Applier {
  readonly #parts: ApplierParts
  #waiting: Entry[] = []
  /** Of the latest batch. */
  #taken: readonly Entry[] = []
  #appliedIndex: LogIndex
  #appliedTerm: Term
  #lastTime: number
  #configuration: Configuration
  #configurationIndex: LogIndex
  #sessions: Sessions
  #recoveryEpoch: number
  #featureLevel: number
  /** The batch or the install under way. */
  #work: Promise<void> | null = null
  #isPaused = false
  /** The state is damaged: nothing goes on before an install. */
  #isSuspended = false
  #isClosed = false

  constructor(parts: ApplierParts) {
    this.#parts = parts
    const { record } = parts
    this.#appliedIndex = record.appliedIndex
    this.#appliedTerm = record.appliedTerm
    this.#lastTime = record.lastTime
    this.#configuration = record.configuration
    this.#configurationIndex = record.configurationIndex
    this.#sessions = new Sessions(record.sessions)
    this.#recoveryEpoch = record.recoveryEpoch
    this.#featureLevel = record.featureLevel
  }

  /** Durable in the state machine. */
  get appliedIndex(): LogIndex {
    return this.#appliedIndex
  }

  get appliedTerm(): Term {
    return this.#appliedTerm
  }

  /** The last one that was handed to the state machine: committed. */
  get configuration(): Configuration {
    return this.#configuration
  }

  /** Of the entry that brought it. */
  get configurationIndex(): LogIndex {
    return this.#configurationIndex
  }

  get recoveryEpoch(): number {
    return this.#recoveryEpoch
  }

  /** As of the last entry that was handed to the state machine: committed. */
  get featureLevel(): number {
    return this.#featureLevel
  }

  hasTakenEffect(sequence: number): boolean {
    return this.#sessions.holds(this.#parts.session, sequence)
  }

  registered(nodeId: NodeId): Registered | null {
    return this.#sessions.registered(nodeId)
  }

  push(entries: readonly Entry[]): void {
    for (const entry of entries) this.#waiting.push(entry)
    this.#next()
  }

  /** Nothing more is applied to this state, and nobody hears what the batch under way replies. Until an install. */
  suspend(): void {
    this.#isSuspended = true
  }

  /**
   * Runs `work` while no batch is applied; it replaces the state and gives the record of the new one, or null to keep the old one.
   * Entries that the new state holds already are dropped. `onAdopted` hears of it before the first of the others is applied.
   */
  async install(
    work: () => Promise<Uint8Array | null>,
    onAdopted: (record: MachineRecord) => void = () => undefined,
  ): Promise<MachineRecord | null> {
    assert(!this.#isPaused, 'one install at a time')
    this.#isPaused = true
    try {
      await this.#work
      if (this.#isClosed) return null
      const bytes = await work()
      if (bytes === null) return null
      const record = decodeMachineRecord(bytes)
      this.#adopt(record)
      onAdopted(record)
      return record
    } finally {
      this.#isPaused = false
      this.#next()
    }
  }

  /** Resolves when the batch under way is finished; nothing is begun after. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting = []
    await this.#work
  }

  #adopt(record: MachineRecord): void {
    assert(record.appliedIndex >= this.#appliedIndex, 'a snapshot never takes the state back')
    this.#appliedIndex = record.appliedIndex
    this.#appliedTerm = record.appliedTerm
    this.#lastTime = record.lastTime
    this.#configuration = record.configuration
    this.#configurationIndex = record.configurationIndex
    this.#sessions = new Sessions(record.sessions)
    this.#recoveryEpoch = record.recoveryEpoch
    this.#featureLevel = record.featureLevel
    this.#isSuspended = false
    this.#waiting = this.#waiting.filter(({ index }) => index > record.appliedIndex)
  }

  #next(): void {
    if (this.#work || this.#isPaused || this.#isSuspended || this.#isClosed) return
    if (this.#waiting.length === 0) return
    this.#work = this.#applyBatch().then(
      () => {
        this.#work = null
        this.#next()
      },
      (error: unknown) => {
        this.#work = null
        this.#failed(error)
      },
    )
  }

  /** What was not applied waits again: the next state may hold it, or not. */
  #failed(error: unknown): void {
    const damage = damageIn(error)
    if (damage === null) {
      this.#isClosed = true
      const cause = error instanceof Error ? error : new Error(String(error))
      this.#parts.onFatal(new Error(`Cannot apply the log: ${cause.message}`, { cause }))
      return
    }
    this.#isSuspended = true
    this.#waiting.unshift(...this.#taken.filter(({ index }) => index > this.#appliedIndex))
    this.#parts.onDamaged(damage)
  }

  async #applyBatch(): Promise<void> {
    const entries = this.#take()
    this.#taken = entries
    const { batches, expected } = this.#admit(entries)
    const last = entries.at(-1)
    assert(last !== undefined, 'a batch has an entry')
    const record = encodeMachineRecord({
      appliedIndex: last.index,
      appliedTerm: last.term,
      lastTime: this.#lastTime,
      configuration: this.#configuration,
      configurationIndex: this.#configurationIndex,
      sessions: this.#sessions.rows(),
      recoveryEpoch: this.#recoveryEpoch,
      featureLevel: this.#featureLevel,
    })
    const replies = await this.#parts.stateMachine.apply({ entries: batches, record })
    assert(replies.length === batches.length, 'the state machine answers each entry')
    const completions = expected.map(({ sequence, place }) => {
      const reply = place ? replies[place.entry]?.[place.command] : NO_REPLY
      assert(reply !== undefined, 'the state machine answers each command')
      return { sequence, reply }
    })
    this.#appliedIndex = last.index
    this.#appliedTerm = last.term
    if (this.#isClosed) return
    this.#parts.onApplied(entries, this.#isSuspended ? [] : completions)
    if (this.#isSuspended) return
    if (last.index % this.#parts.limits.checksumEvery === 0)
      this.#parts.onPoint(last.index, this.#parts.stateMachine.checksum())
  }

  /** Cuts what is waiting to the limits of one batch, and at the points of all nodes; checks that the log has no gap. */
  #take(): readonly Entry[] {
    const { applyEntriesMax, applyBytesMax, checksumEvery } = this.#parts.limits
    let count = 0
    let bytes = 0
    for (const { index, data } of this.#waiting) {
      bytes += data.length
      if (count > 0 && (count >= applyEntriesMax || bytes > applyBytesMax)) break
      count += 1
      assert(index === this.#appliedIndex + count, `entry ${index} follows what is applied without a gap`)
      if (index % checksumEvery === 0) break
    }
    return this.#waiting.splice(0, count)
  }

  #admit(entries: readonly Entry[]): { batches: readonly Batch[]; expected: Expected } {
    const batches: Batch[] = []
    const expected: Expected[number][] = []
    for (const { index, kind, data } of entries) {
      if (kind === 'configuration') batches.push(...this.#reconfigure(index, data))
      if (kind !== 'command') continue
      const { time, proposals, level } = decodeCommandEntry(data)
      if (level !== null) this.#raise(level)
      this.#goOn(time)
      const commands: Uint8Array[] = []
      for (const proposal of proposals) {
        if (this.#sessions.admit(proposal) !== 'fresh') continue
        const { sequence, command } = proposal
        const place = command.length > 0 ? { entry: batches.length, command: commands.length } : null
        if (place) commands.push(command)
        if (this.#isOwn(proposal)) expected.push({ sequence, place })
      }
      if (commands.length > 0) batches.push({ index, time: this.#lastTime, commands })
    }
    return { batches, expected }
  }

  /** Never back: a leader that had not applied the raise of the one before it may have asked again. */
  #raise(level: number): void {
    const { featureLevelMax } = this.#parts.limits
    assert(
      level <= featureLevelMax,
      `the log raises the state to feature level ${level}, this node knows ${featureLevelMax}: start the version that the others run`,
    )
    this.#featureLevel = Math.max(this.#featureLevel, level)
  }

  /** A group that was brought back hears in the same entry what that means for the service. */
  #reconfigure(index: LogIndex, data: Uint8Array): readonly Batch[] {
    this.#configuration = decodeConfiguration(data)
    this.#configurationIndex = index
    const note = noteOf(data)
    if (note === null) return []
    const { recoveryEpoch, featureLevel, time, command } = decodeRecoveryNote(note)
    assert(recoveryEpoch > this.#recoveryEpoch, 'a recovery raises the epoch')
    this.#recoveryEpoch = recoveryEpoch
    this.#raise(featureLevel)
    this.#goOn(time)
    return [{ index, time: this.#lastTime, commands: [command] }]
  }

  #goOn(time: number): void {
    // Clocks of leaders differ and may go back; the time of the state never does.
    this.#lastTime = Math.max(this.#lastTime + 1, time)
  }

  #isOwn({ nodeId, incarnation, boot }: SessionId): boolean {
    const { session } = this.#parts
    return nodeId === session.nodeId && incarnation === session.incarnation && boot === session.boot
  }
}
