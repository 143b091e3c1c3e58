/**
 * The notation of a trace: entries, configurations, messages, inputs and effects, each on one line.
 *
 * Owns: words. Knows nothing of: times, correctness.
 * Rule: everything that a reader may compare is in the line; fields that are zero or empty by nature are not.
 *
 * `4/2` is the entry with index 4 of term 2, `t2` is term 2, `{a b c}` are voters.
 */
import { decodeConfiguration } from '../../../cluster/raft/configuration.ts'
import type {
  ChangeConfiguration,
  Configuration,
  Effect,
  Entry,
  HardState,
  Input,
  LogBase,
  Message,
} from '../../../cluster/raft/types.ts'

/** The names of proposals and reads in the scenario. */
export interface Names {
  readonly proposals: ReadonlyMap<number, string>
  readonly reads: ReadonlyMap<number, string>
}

export function configurationText({ voters, outgoing, learners }: Configuration): string {
  const parts = [voters.join(' ')]
  if (outgoing.length > 0) parts.push(`leaving ${outgoing.join(' ')}`)
  if (learners.length > 0) parts.push(`learners ${learners.join(' ')}`)
  return `{${parts.join(', ')}}`
}

export function entryText(entry: Entry): string {
  const place = `${entry.index}/${entry.term}`
  if (entry.kind === 'noop') return `${place} noop`
  if (entry.kind === 'configuration') return `${place} ${configurationText(decodeConfiguration(entry.data))}`
  return `${place} ${dataText(entry.data)}`
}

export function entriesText(entries: readonly Entry[]): string {
  return `[${entries.map(entryText).join(', ')}]`
}

export function baseText({ index, term }: LogBase): string {
  return `${index}/${term}`
}

/** The word by which commands pick messages. */
export function messageWord(message: Message): string {
  switch (message.type) {
    case 'AppendEntries':
      return 'Append'
    case 'AppendEntriesResponse':
      return message.success ? 'AppendOk' : 'AppendNo'
    case 'RequestVote':
      return message.preVote ? 'PreVote' : 'Vote'
    case 'RequestVoteResponse':
      return `${message.preVote ? 'PreVote' : 'Vote'}${message.granted ? 'Yes' : 'No'}`
    case 'InstallSnapshot':
      return 'Snapshot'
    case 'InstallSnapshotResponse':
      return 'SnapshotOk'
    case 'ReadIndexResponse':
      return message.index === null ? 'ReadIndexNo' : 'ReadIndexOk'
    default:
      return message.type
  }
}

export function messageText(message: Message): string {
  return [messageWord(message), `t${message.term}`, ...messageFields(message)].join(' ')
}

export function inputText(input: Input, names: Names): string {
  switch (input.type) {
    case 'message':
      return messageText(input.message)
    case 'propose':
      return `propose ${nameOf(names.proposals, input.proposalId)}`
    case 'changeConfiguration':
      return configureText(input, names)
    case 'walDone':
      return `disk ${input.sequence} done`
    case 'applied':
      return `applied ${input.index}`
    case 'read':
      return `read ${nameOf(names.reads, input.readId)}`
    case 'snapshotInstalled':
      return `snapshot ${baseText(input.base)} with ${configurationText(input.configuration)} of ${input.configurationIndex} installed`
    case 'snapshotFailed':
      return 'snapshot failed'
    case 'tickGap':
      return 'tick gap'
    case 'logRead':
      return input.entries === null ? 'log not read' : `log read ${entriesText(input.entries)}`
    case 'compact':
      return `compact through ${input.index}`
    case 'transferLeadership':
      return `transfer leadership to ${input.target ?? 'anybody'}`
    case 'peerUnreachable':
      return `${input.peer} is unreachable`
    default:
      return input.type
  }
}

export function effectText(effect: Effect, names: Names): string {
  switch (effect.type) {
    case 'appendWal':
      return writeText(effect)
    case 'send':
      return `-> ${effect.message.to}: ${messageText(effect.message)}`
    case 'apply':
      return `apply ${entriesText(effect.entries)}`
    case 'proposalAccepted':
      return `${nameOf(names.proposals, effect.proposalId)} becomes ${effect.index}/${effect.term}`
    case 'proposalRefused':
      return `${nameOf(names.proposals, effect.proposalId)} is refused: ${effect.reason}`
    case 'readLog':
      return `read log ${effect.from}..${effect.through}`
    case 'readReady':
      return `${nameOf(names.reads, effect.readId)} may be read at ${effect.index}`
    case 'readRefused':
      return `${nameOf(names.reads, effect.readId)} is refused`
    case 'fetchSnapshot':
      return `pull a snapshot from ${effect.from}, at least ${baseText(effect.atLeast)}`
    case 'peerDoubted':
      return `doubts ${effect.peer}: it ${effect.what}`
    case 'peerForgot':
      return `${effect.peer} has lost what it acknowledged up to ${effect.acknowledged}`
    case 'roleChanged':
      return roleText(effect)
  }
}

export function roleText({
  role,
  term,
  leaderId,
}: Pick<Extract<Effect, { type: 'roleChanged' }>, 'role' | 'term' | 'leaderId'>): string {
  if (role === 'leader') return `leads t${term}`
  if (role === 'follower') return `follows ${leaderId ?? 'nobody'} in t${term}`
  return `is ${role} in t${term}${leaderId === null ? '' : `, led by ${leaderId}`}`
}

function messageFields(message: Message): readonly string[] {
  switch (message.type) {
    case 'AppendEntries':
      return [
        `after ${message.prevLogIndex}/${message.prevLogTerm} ${entriesText(message.entries)}`,
        `commit ${message.leaderCommit}`,
        ...tokenText(message.readToken),
      ]
    case 'AppendEntriesResponse':
      return [
        message.success
          ? `to ${message.index}`
          : `at ${message.index}, look at ${message.hintIndex}/${message.hintTerm}`,
        ...tokenText(message.readToken),
      ]
    case 'RequestVote':
      return [`log ${message.lastLogIndex}/${message.lastLogTerm}`, ...(message.transfer ? ['ordered'] : [])]
    case 'InstallSnapshot':
      return [`${baseText(message.lastIncluded)} with ${configurationText(message.configuration)}`]
    case 'InstallSnapshotResponse':
      return [`to ${message.index}`]
    case 'ReadIndex':
      return [questionText(message.requestId)]
    case 'ReadIndexResponse':
      return [questionText(message.requestId), ...(message.index === null ? [] : [`at ${message.index}`])]
    default:
      return []
  }
}

function configureText(input: ChangeConfiguration, names: Names): string {
  const expected = input.expectedIndex === null ? '' : ` if it is still that of ${input.expectedIndex}`
  return `change to ${nameOf(names.proposals, input.proposalId)}${expected}`
}

function tokenText(token: number): readonly string[] {
  return token === 0 ? [] : [`token ${token}`]
}

/** The start of the numbering is drawn again in every process of a member and leaves 2^20 numbers for that process. */
function questionText(requestId: number): string {
  return `question ${Math.floor(requestId / 2 ** 20)}.${requestId % 2 ** 20}`
}

function writeText(effect: Extract<Effect, { type: 'appendWal' }>): string {
  const parts = [
    ...(effect.hardState === null ? [] : [hardStateText(effect.hardState)]),
    ...(effect.base === null ? [] : [`begin after ${baseText(effect.base)}`]),
    ...(effect.entries.length === 0 ? [] : [entriesText(effect.entries)]),
  ]
  return `disk ${effect.sequence}: ${parts.join(', ')}`
}

export function hardStateText({ currentTerm, votedFor }: HardState): string {
  return `t${currentTerm} vote ${votedFor ?? '-'}`
}

/** Words are returned unchanged; `x*60` is sixty times the letter. */
export function dataText(data: Uint8Array): string {
  const text = String.fromCharCode(...data)
  const [first] = text
  return first !== undefined && text.length > 8 && text === first.repeat(text.length)
    ? `${first}*${text.length}`
    : text
}

export function dataOf(word: string): Uint8Array {
  const match = /^(.)\*(\d+)$/.exec(word)
  const text = match === null ? word : (match[1] ?? '').repeat(Number(match[2]))
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

function nameOf(names: ReadonlyMap<number, string>, id: number): string {
  return names.get(id) ?? `#${id}`
}
