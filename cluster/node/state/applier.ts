/**
 * From committed entries to the state and replies.
 *
 * Owns: the machine record (applied index, sessions, time, configuration) and the entries that wait for the state machine.
 * Knows nothing of: what commands do. Rule: one StateMachine.apply at a time, in log order, each entry once; the record travels in
 * the same atomic write as the rows, so that after a crash the two always match. A damaged state answers no proposal, and
 * nothing is applied to it. An entry that cannot be applied ends the node, and the failure names it.
 */
import { ApplyFailure, LevelUnknownError } from './apply-failure.ts'
import { assert } from '../../base/assert.ts'
import { EntryCosts } from './entry-costs.ts'
import { type EntrySkip, skipOf } from '../base/entry-skips.ts'
import {
  decodeCommandEntry,
  decodedOrNull,
  type Proposal,
  type ProposalSessionId,
} from '../base/log-entry.ts'
import { type EntryTime, LogTime } from '../base/log-time.ts'
import { decodeMachineRecord, encodeMachineRecord, type MachineRecord } from '../base/machine-record.ts'
import { decodeRecoveryNote } from '../base/recovery-note.ts'
import { type Registered, ProposalSessions } from '../base/proposal-sessions.ts'
import { decodeConfiguration, noteOf } from '../../raft/configuration.ts'
import type { Configuration, Entry, LogIndex, NodeId, Term } from '../../raft/types.ts'
import {
  type ApplyBatch,
  EntryFailedError,
  type StateDamagedError,
  type StateMachine,
} from '../../base/types.ts'
import { damageIn } from './quarantine.ts'
import type { NodeLimits } from '../base/limits.ts'

/** A reply for a proposal of this process. */
export interface Completion {
  readonly sequence: number
  /** Of its entry; null: it took effect without one, or in one that was applied before. */
  readonly index: LogIndex | null
  readonly reply: Uint8Array
}

export interface ApplierParts {
  readonly stateMachine: Pick<StateMachine, 'apply' | 'checkpoint' | 'checksum' | 'cost'>
  readonly session: ProposalSessionId
  readonly limits: NodeLimits
  /** What the state machine holds. */
  readonly record: MachineRecord
  /** Ordered by an operator, for this data directory. Absent: none. */
  readonly skips?: readonly EntrySkip[]
  /** The state holds everything up to `appliedIndex`. `entries` are those that it just took. */
  readonly onApplied: (entries: readonly Entry[], completions: readonly Completion[]) => void
  /** The state holds everything up to an index where every node takes its checksum, and nothing after it. */
  readonly onPoint: (index: LogIndex, checksum: Uint8Array) => void
  /** The batch found damage and had no effect that counts; it waits for another state, as everything after it. */
  readonly onDamaged: (damage: StateDamagedError) => void
  /** The state on disk and in memory may differ now: no further answer may be given. */
  readonly onFatal: (error: Error) => void
}

type Batch = ApplyBatch['entries'][number]
/** Where the reply for this process is in the answer of the state machine; null for a proposal without a command. */
interface Expected {
  readonly sequence: number
  readonly place: { readonly entry: number; readonly command: number } | null
}

interface Admitted {
  readonly batches: Batch[]
  readonly expected: Expected[]
}

const NO_REPLY = new Uint8Array(0)

export class Applier {
  readonly #parts: ApplierParts
  #waiting: Entry[] = []
  readonly #costs: EntryCosts
  /** Of the latest batch. */
  #taken: readonly Entry[] = []
  #appliedIndex: LogIndex
  #appliedTerm: Term
  #time: LogTime
  #configuration: Configuration
  #configurationIndex: LogIndex
  #sessions: ProposalSessions
  #recoveryEpoch: number
  #featureLevel: number
  /** The batch or the install under way. */
  #work: Promise<void> | null = null
  #isPaused = false
  /** The state is damaged: nothing is applied before an install. */
  #isSuspended = false
  #isClosed = false

  constructor(parts: ApplierParts) {
    this.#parts = parts
    this.#costs = new EntryCosts(parts.stateMachine)
    const { record } = parts
    this.#appliedIndex = record.appliedIndex
    this.#appliedTerm = record.appliedTerm
    this.#time = new LogTime(record)
    this.#configuration = record.configuration
    this.#configurationIndex = record.configurationIndex
    this.#sessions = new ProposalSessions(record.sessions)
    this.#recoveryEpoch = record.recoveryEpoch
    this.#featureLevel = record.featureLevel
  }

  /** In the state machine; durable with its next checkpoint. */
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

  /** As of the last entry that was handed to the state machine. */
  get time(): EntryTime {
    return this.#time.present
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

  /** Nothing more is applied to this state, and the replies of the batch under way are dropped. Until an install. */
  suspend(): void {
    this.#isSuspended = true
  }

  /**
   * Runs `work` while no batch is applied; it replaces the state and gives the record of the new one, or null to keep the old one.
   * Entries that the new state holds already are dropped. `onAdopted` is called before the first of the others is applied.
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

  /** Resolves when the batch under way is finished; none is started after it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting = []
    this.#costs.clear()
    await this.#work
  }

  #adopt(record: MachineRecord): void {
    assert(record.appliedIndex >= this.#appliedIndex, 'a snapshot never takes the state back')
    this.#appliedIndex = record.appliedIndex
    this.#appliedTerm = record.appliedTerm
    this.#time = new LogTime(record)
    this.#configuration = record.configuration
    this.#configurationIndex = record.configurationIndex
    this.#sessions = new ProposalSessions(record.sessions)
    this.#recoveryEpoch = record.recoveryEpoch
    this.#featureLevel = record.featureLevel
    this.#isSuspended = false
    this.#waiting = this.#waiting.filter(({ index }) => index > record.appliedIndex)
    this.#costs.clear()
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

  /** Entries that were not applied wait again: the next state may hold them, or not. */
  #failed(error: unknown): void {
    const damage = damageIn(error)
    if (damage === null) {
      this.#isClosed = true
      this.#parts.onFatal(this.#failureOf(error))
      return
    }
    this.#isSuspended = true
    this.#waiting.unshift(...this.#taken.filter(({ index }) => index > this.#appliedIndex))
    this.#parts.onDamaged(damage)
  }

  #failureOf(error: unknown): Error {
    if (error instanceof EntryFailedError) {
      const entry = this.#taken.find(({ index }) => index === error.index)
      if (entry !== undefined) return new ApplyFailure(this.#parts.session.nodeId, entry, error.cause)
    }
    const cause = error instanceof Error ? error : new Error(String(error))
    return new Error(`Cannot apply the log: ${cause.message}`, { cause })
  }

  async #applyBatch(): Promise<void> {
    const entries = this.#take()
    this.#taken = entries
    const facts = this.#facts
    const { batches, expected } = this.#admit(entries)
    const changesFacts = this.#facts.some((fact, at) => fact !== facts[at])
    const last = entries.at(-1)
    assert(last !== undefined, 'a batch has an entry')
    const record = encodeMachineRecord({
      appliedIndex: last.index,
      appliedTerm: last.term,
      ...this.#time.record,
      configuration: this.#configuration,
      configurationIndex: this.#configurationIndex,
      sessions: this.#sessions.rows(),
      recoveryEpoch: this.#recoveryEpoch,
      featureLevel: this.#featureLevel,
    })
    const replies = await this.#parts.stateMachine.apply({ entries: batches, record })
    if (changesFacts) await this.#parts.stateMachine.checkpoint()
    assert(replies.length === batches.length, 'the state machine answers each entry')
    const completions = expected.map(({ sequence, place }) => {
      const reply = place ? replies[place.entry]?.[place.command] : NO_REPLY
      assert(reply !== undefined, 'the state machine answers each command')
      return { sequence, index: place ? (batches[place.entry]?.index ?? null) : null, reply }
    })
    this.#appliedIndex = last.index
    this.#appliedTerm = last.term
    if (this.#isClosed) return
    this.#parts.onApplied(entries, this.#isSuspended ? [] : completions)
    if (!this.#isSuspended && last.index % this.#parts.limits.checksumEvery === 0)
      this.#parts.onPoint(last.index, this.#parts.stateMachine.checksum())
  }

  /** By these a node judges peers and its own disk, so no power cut may take them back. [record 65] */
  get #facts(): readonly number[] {
    return [this.#sessions.registrations, this.#configurationIndex, this.#recoveryEpoch, this.#featureLevel]
  }

  /** Cuts the waiting entries to the limits of one batch, and at the checksum points; checks that the log has no gap. */
  #take(): readonly Entry[] {
    const { applyEntriesMax, applyBytesMax, applyCostMax, checksumEvery } = this.#parts.limits
    let count = 0
    let bytes = 0
    let cost = 0
    for (const entry of this.#waiting) {
      const { index, data } = entry
      bytes += data.length
      // A single entry is taken regardless of its cost, so its cost is not computed.
      if (this.#waiting.length > 1) cost += this.#costs.of(entry)
      const isFull = bytes > applyBytesMax || cost > applyCostMax
      if (count > 0 && (count >= applyEntriesMax || isFull)) break
      count += 1
      assert(index === this.#appliedIndex + count, `entry ${index} follows what is applied without a gap`)
      if (index % checksumEvery === 0) break
    }
    return this.#waiting.splice(0, count)
  }

  #admit(entries: readonly Entry[]): Admitted {
    const admitted: Admitted = { batches: [], expected: [] }
    for (const entry of entries) {
      try {
        this.#admitEntry(entry, admitted)
      } catch (error) {
        throw new EntryFailedError(entry.index, error)
      }
    }
    return admitted
  }

  #admitEntry(entry: Entry, { batches, expected }: Admitted): void {
    const { index, kind, data } = entry
    if (kind === 'configuration') batches.push(...this.#reconfigure(index, data))
    if (kind !== 'command') return
    const known = this.#costs.take(index)
    const skip = skipOf(this.#parts.skips ?? [], entry)
    if (skip !== null) return void batches.push(this.#skip(entry, skip))
    const { time, proposals, level } = known ?? decodeCommandEntry(data)
    this.#time.advance(time, this.#featureLevel)
    if (level !== null) this.#raise(level)
    const commands: Uint8Array[] = []
    let before: EntryTime | null = null
    for (const proposal of proposals) {
      if (this.#sessions.admit(proposal) !== 'fresh') continue
      before = this.#correct(proposal, time)
      const { sequence, command } = proposal
      const place = command.length > 0 ? { entry: batches.length, command: commands.length } : null
      if (place) commands.push(command)
      if (this.#isOwn(proposal)) expected.push({ sequence, place })
    }
    if (commands.length > 0) batches.push({ ...this.#batch(index, commands), ...beforeOf(before) })
  }

  /**
   * Its proposals count as made, so that none of them takes effect where it is repeated in the log. No caller waits for a reply: the
   * processes that proposed them have ended, or the order could not have been given.
   */
  #skip({ index, data }: Entry, { command }: EntrySkip): Batch {
    const entry = decodedOrNull(data)
    if (entry !== null) {
      this.#time.advance(entry.time, this.#featureLevel)
      for (const proposal of entry.proposals) this.#sessions.admit(proposal)
    }
    return this.#batch(index, [command])
  }

  /** Never back: a leader that had not applied the raise of the one before it may have asked again. */
  #raise(level: number): void {
    const { featureLevelMax } = this.#parts.limits
    if (level > featureLevelMax)
      throw new LevelUnknownError(
        `the log raises the state to feature level ${level}, this node knows ${featureLevelMax}`,
      )
    this.#featureLevel = Math.max(this.#featureLevel, level)
  }

  /** The entry that recovers a group also carries the command that informs the service. */
  #reconfigure(index: LogIndex, data: Uint8Array): readonly Batch[] {
    this.#configuration = decodeConfiguration(data)
    this.#configurationIndex = index
    const note = noteOf(data)
    if (note === null) return []
    const { recoveryEpoch, featureLevel, time, command } = decodeRecoveryNote(note)
    assert(recoveryEpoch > this.#recoveryEpoch, 'a recovery raises the epoch')
    this.#recoveryEpoch = recoveryEpoch
    this.#time.advance(time, this.#featureLevel)
    this.#raise(featureLevel)
    return [this.#batch(index, [command])]
  }

  #batch(index: LogIndex, commands: readonly Uint8Array[]): Batch {
    return { index, ...this.#time.present, featureLevel: this.#featureLevel, commands }
  }

  /** The time before; null: the proposal corrects nothing. */
  #correct({ correction }: Proposal, stamp: number): EntryTime | null {
    if (correction === undefined) return null
    const before = this.#time.present
    this.#time.correct(correction, stamp)
    return before
  }

  #isOwn({ nodeId, incarnation, boot }: ProposalSessionId): boolean {
    const { session } = this.#parts
    return nodeId === session.nodeId && incarnation === session.incarnation && boot === session.boot
  }
}

function beforeOf(before: EntryTime | null): Pick<Batch, 'before'> {
  if (before === null) return {}
  const { time, confirmedTime } = before
  return { before: { time, confirmedTime } }
}
