/**
 * One core with constructed messages: for cases that a whole network would hardly ever show.
 *
 * Owns: building a member in a given state and reading its effects. Knows nothing of: other members.
 */
import { Raft } from '../../cluster/raft/raft.ts'
import type {
  AppendEntries,
  AppendWal,
  Configuration,
  Effect,
  Entry,
  HardState,
  Input,
  LogIndex,
  Message,
  RaftLimits,
  RaftStatus,
  Term,
} from '../../cluster/raft/types.ts'
import { check } from './checker.ts'
import { LIMITS, configurationOf, logOfTerms, xorshift } from './network.ts'

interface SingleOptions {
  readonly configuration?: Configuration
  /** Terms of the entries from index 1 on. */
  readonly terms?: readonly Term[]
  readonly entries?: readonly Entry[]
  readonly hardState?: HardState
  readonly appliedIndex?: LogIndex
  readonly seed?: number
  readonly limits?: Partial<RaftLimits>
  readonly idleHeartbeatTicks?: number
}

type MessageOf<T extends Message['type']> = Extract<Message, { type: T }>

/** Member `a`, by default one of three, with an election time-out of 10 ticks. */
export class Single {
  readonly raft: Raft

  constructor(options: SingleOptions = {}) {
    const entries = options.entries ?? logOfTerms(...(options.terms ?? []))
    this.raft = new Raft(
      {
        nodeId: 'a',
        electionTicks: 10,
        idleHeartbeatTicks: options.idleHeartbeatTicks ?? 1,
        random: xorshift(options.seed ?? 1),
        limits: { ...LIMITS, ...options.limits },
      },
      {
        hardState: options.hardState ?? { currentTerm: entries.at(-1)?.term ?? 0, votedFor: null },
        base: { index: 0, term: 0 },
        entries,
        configuration: options.configuration ?? configurationOf('a', 'b', 'c'),
        configurationIndex: 0,
        appliedIndex: options.appliedIndex ?? 0,
      },
    )
  }

  get status(): RaftStatus {
    return this.raft.status()
  }

  step(input: Input): readonly Effect[] {
    return this.raft.step(input)
  }

  receive(message: Message): readonly Effect[] {
    return this.step({ type: 'message', message })
  }

  /** An append of leader `b`; the fields that matter are given. */
  append(fields: Partial<AppendEntries> & { readonly term: Term }): readonly Effect[] {
    const message: AppendEntries = {
      type: 'AppendEntries',
      from: 'b',
      to: 'a',
      prevLogIndex: 0,
      prevLogTerm: 0,
      entries: [],
      leaderCommit: 0,
      readToken: 0,
      ...fields,
    }
    return this.receive(message)
  }

  /** The answer of `from` to an append, in the current term. */
  answer(from: string, fields: Partial<MessageOf<'AppendEntriesResponse'>> = {}): readonly Effect[] {
    return this.receive({
      type: 'AppendEntriesResponse',
      from,
      to: 'a',
      term: this.status.term,
      success: true,
      index: 0,
      hintIndex: 0,
      hintTerm: 0,
      readToken: 0,
      ...fields,
    })
  }

  /** `votedFor` b first, then everything else that makes a leader; its writes are confirmed. Returns the last effects. */
  becomeLeader(): readonly Effect[] {
    let effects: readonly Effect[] = []
    for (let i = 0; i < 40 && this.status.role === 'follower'; i += 1) effects = this.step({ type: 'tick' })
    if (this.status.role === 'preCandidate') effects = this.#grant(true)
    effects = this.confirm(effects)
    if (this.status.role === 'candidate') effects = this.#grant(false)
    check(this.status.role === 'leader', 'the member leads')
    return effects
  }

  /** Confirms the write among the effects. */
  confirm(effects: readonly Effect[]): readonly Effect[] {
    return this.step({ type: 'walDone', sequence: writeOf(effects).sequence })
  }

  #grant(preVote: boolean): readonly Effect[] {
    const term = this.status.term + (preVote ? 1 : 0)
    let effects: readonly Effect[] = []
    const { voters, outgoing } = this.status.configuration
    for (const from of new Set([...voters, ...outgoing])) {
      const isOpen = this.status.role === (preVote ? 'preCandidate' : 'candidate')
      if (from === 'a' || !isOpen) continue
      effects = this.receive({ type: 'RequestVoteResponse', from, to: 'a', term, preVote, granted: true })
    }
    return effects
  }
}

export function sentOf<T extends Message['type']>(effects: readonly Effect[], type: T): MessageOf<T>[] {
  return effects.flatMap((effect) => {
    return effect.type === 'send' && isOfType(effect.message, type) ? [effect.message] : []
  })
}

export function writeOf(effects: readonly Effect[]): AppendWal {
  const write = effects.find((effect) => effect.type === 'appendWal')
  check(write !== undefined, 'the step writes')
  return write
}

export function appliedIndexes(effects: readonly Effect[]): LogIndex[] {
  return effects.flatMap((effect) =>
    effect.type === 'apply' ? effect.entries.map((entry) => entry.index) : [],
  )
}

function isOfType<T extends Message['type']>(message: Message, type: T): message is MessageOf<T> {
  return message.type === type
}
