/**
 * Brings a damaged node back to one consistent start with the help of the others.
 *
 * Owns: the requests to them, in turn and without end, and the use of each answer. Knows nothing of: elections; the core does not exist
 * yet. Rule: a node that repairs its log casts no vote and acknowledges nothing, because it does not know what it has promised until
 * its log is complete. It only serves entries that are intact in that log.
 */
import { assert } from '../../base/assert.ts'
import { callLogEntries, logEntriesHandler, type WantedEntry } from '../log/log-entries-call.ts'
import { appliedOf, type Found, type MissingLog, missingLogOf } from './log-repair-plan.ts'
import { pullState } from '../state/state-pull.ts'
import { type Logger, StartError, type StateMachine } from '../../base/types.ts'
import type { Entry, LogIndex, NodeId } from '../../raft/types.ts'
import type { CallHandler, Transport } from '../../transport/transport.ts'
import type { Wal, WalContent } from '../../wal/wal.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import type { NodeLimits } from '../base/limits.ts'

export interface LogRepairParts {
  readonly clock: Clock
  readonly wal: Wal
  readonly transport: Transport
  readonly stateMachine: StateMachine
  readonly logger: Logger
  readonly limits: NodeLimits
  /** Every other member, as far as the configuration is known here. */
  readonly peers: readonly NodeId[]
}

export class LogRepair {
  readonly #parts: LogRepairParts
  readonly #abort = new AbortController()
  #found: Found
  #waitsFor = ''
  /** Entries for holes, from peers: committed ones, and those that equal the lost ones by their term. */
  readonly #committed = new Map<LogIndex, Entry>()
  readonly #same = new Map<LogIndex, Entry>()
  /** The last refusal of each peer, so that the same one is logged once. */
  readonly #refusals = new Map<string, string>()
  #wake: () => void = () => undefined

  /** Throws StartError `cannot_mend` when there is no peer to ask. */
  constructor(found: Found, parts: LogRepairParts) {
    this.#found = found
    this.#parts = parts
    const missing = missingLogOf(found)
    if (missing !== null && missing.of !== 'base' && parts.peers.length === 0) throw cannotRepair(missing)
  }

  /** Other nodes may need the intact entries here while this one waits for them: serving an entry promises nothing. */
  readonly answerEntries: CallHandler = logEntriesHandler(() => {
    const { entries, holes } = this.#found.log
    const first = entries[0]?.index ?? 0
    const lost = new Set(holes.map(({ index }) => index))
    return {
      baseIndex: 0,
      commitIndex: 0,
      entry: (index) => (lost.has(index) ? null : (entries[index - first] ?? this.#readBack(index))),
      onAskedBeyond: () => undefined,
    }
  })

  /** An entry that the start left in the segments. */
  async #readBack(index: LogIndex): Promise<Entry | null> {
    const isOlder = (this.#found.log.older ?? []).some(({ first, last }) => first <= index && index <= last)
    if (!isOlder) return null
    const [entry] = (await this.#parts.wal.read({ from: index, through: index, bytesMax: 0 })) ?? []
    return entry ?? null
  }

  /** The missing entries or state, as a sentence. */
  get waitsFor(): string {
    return this.#waitsFor
  }

  /** Resolves when nothing is missing any more; null when `close` ended it. Throws when repair is impossible. */
  async run(): Promise<Found | null> {
    for (let attempt = 0; ; ) {
      const missing = missingLogOf(this.#found)
      if (missing === null) return this.#found
      this.#tell(missing)
      const hasMoved = await this.#repair(missing)
      if (this.#abort.signal.aborted) return null
      attempt = hasMoved ? 0 : attempt + 1
      if (!hasMoved) await this.#pause(attempt)
      if (this.#abort.signal.aborted) return null
    }
  }

  close(): void {
    this.#abort.abort()
    this.#wake()
  }

  /** True when it made progress. */
  async #repair(missing: MissingLog): Promise<boolean> {
    switch (missing.of) {
      case 'base':
        this.#take(await this.#parts.wal.repair({ base: missing.base }))
        return true
      case 'state':
        return this.#pull(missing.atLeast, this.#parts.peers)
      case 'entries':
        return this.#fill(this.#found.log.holes)
    }
  }

  /**
   * Exactly the lost entries close the holes whether they are committed or not: then nothing has changed here. Otherwise committed
   * entries are needed for all of them.
   */
  async #fill(holes: readonly WantedEntry[]): Promise<boolean> {
    const { peers, wal } = this.#parts
    const before = this.#committed.size + this.#same.size
    const forgetful: NodeId[] = []
    for (const peer of peers) {
      if (this.#filling(holes)) break
      if (await this.#ask(peer, holes)) forgetful.push(peer)
    }
    const filling = this.#filling(holes)
    if (filling) {
      this.#take(await wal.repair({ committed: filling }))
      return true
    }
    if (this.#committed.size + this.#same.size > before) return true
    // A peer that has compacted the entry holds it in its state.
    const missing = holes.find(({ index }) => !this.#committed.has(index))
    return forgetful.length > 0 && missing !== undefined && (await this.#pull(missing.index, forgetful))
  }

  #filling(holes: readonly WantedEntry[]): readonly Entry[] | null {
    for (const source of [this.#same, this.#committed]) {
      const entries = holes.map(({ index }) => source.get(index)).filter((entry) => entry !== undefined)
      if (entries.length === holes.length) return entries
    }
    return null
  }

  /** True when the peer has compacted one of the entries. */
  async #ask(peer: NodeId, holes: readonly WantedEntry[]): Promise<boolean> {
    const { transport, limits } = this.#parts
    const wanted = holes.filter(({ index }) => !this.#committed.has(index))
    try {
      const options = { wanted, signal: this.#abort.signal, timeoutMs: limits.repairCallTimeoutMs }
      const { entries, baseIndex, commitIndex } = await callLogEntries(transport, peer, options)
      for (const entry of entries) {
        if (entry.index <= commitIndex) this.#committed.set(entry.index, entry)
        const hole = holes.find(({ index }) => index === entry.index)
        if (hole?.term === entry.term) this.#same.set(entry.index, entry)
      }
      return wanted.some(({ index }) => index <= baseIndex)
    } catch (error) {
      this.#tellRefusal(peer, error)
      return false
    }
  }

  async #pull(atLeast: LogIndex, peers: readonly NodeId[]): Promise<boolean> {
    const { logger } = this.#parts
    const { signal } = this.#abort
    const applied = appliedOf(this.#found.record).index
    try {
      const record = await pullState(
        { ...this.#parts, signal },
        { peers, isWanted: ({ index }) => index >= atLeast && index > applied },
      )
      if (record === null) return false
      logger.warn({ ...appliedOf(record) }, 'state replaced by that of another node')
      this.#found = { ...this.#found, record, fault: null }
      return true
    } catch (error) {
      this.#tellRefusal('snapshot', error)
      return false
    }
  }

  #take(log: WalContent): void {
    assert(log.holes.length === 0, 'a repaired log has no holes')
    this.#committed.clear()
    this.#same.clear()
    this.#found = { ...this.#found, log }
  }

  /** Each blocker is logged once; attempts repeat silently. */
  #tell(missing: MissingLog): void {
    const sentence = sentenceOf(missing)
    if (sentence === this.#waitsFor) return
    this.#waitsFor = sentence
    this.#parts.logger.warn({ peers: this.#parts.peers }, sentence)
  }

  #tellRefusal(whom: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    if (this.#refusals.get(whom) === message) return
    this.#refusals.set(whom, message)
    this.#parts.logger.warn({ peer: whom, err: error }, 'log repair got no answer that helps, asking again')
  }

  #pause(attempt: number): Promise<void> {
    const { clock, limits } = this.#parts
    const ms = Math.min(limits.repairRetryMinMs * 2 ** Math.min(attempt - 1, 16), limits.repairRetryMaxMs)
    return new Promise((resolve) => {
      const timer: Timer = clock.after(ms, resolve)
      this.#wake = () => {
        timer.cancel()
        resolve()
      }
    })
  }
}

function sentenceOf(missing: MissingLog): string {
  switch (missing.of) {
    case 'base':
      return `Damaged entries of the log are dropped: the state holds them, up to index ${missing.base.index}`
    case 'state':
      return `The state of this node cannot be used (${missing.why}): waiting for that of another node, at index ${missing.atLeast} or later`
    case 'entries':
      return `The log of this node is damaged: waiting for other nodes to give entry ${missing.indexes[0] ?? 0}${missing.indexes.length > 1 ? ` and ${missing.indexes.length - 1} more` : ''}`
  }
}

function cannotRepair(missing: MissingLog): StartError {
  const what =
    missing.of === 'entries'
      ? `entry ${missing.indexes[0] ?? 0} of the log is damaged`
      : `the state cannot be used (${missing.of === 'state' ? missing.why : ''})`
  return new StartError('cannot_mend', `Cannot start: ${what}, and there is no other node to take it from`, {
    hint: 'This group has one node, so nothing else holds this data. Bring the data directory back from a backup.',
  })
}
