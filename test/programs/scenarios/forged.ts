/**
 * Forged messages that no honest member would ever send.
 *
 * Owns: reading them from words. Knows nothing of: networks.
 * Rule: fields that are not named have the values of a message without effect.
 */
import { encodeConfiguration } from '../../../cluster/raft/configuration.ts'
import { dataOf } from './notation.ts'
import { configurationFrom, routeFrom } from './words.ts'
import type { Words } from './words.ts'
import type { Entry, LogBase, LogIndex, Message, Term } from '../../../cluster/raft/types.ts'

/** `forge from>to Word t<term> ...` */
export function forgedMessage(words: Words): Message {
  const route = routeFrom(words.need('from>to'))
  const word = words.need('the kind of message')
  const term = Number(words.need('t<term>').slice(1))
  const envelope = { ...route, term }
  const token = words.optionNumber('token') ?? 0
  switch (word) {
    case 'Append': {
      const after = baseFrom(words.option('after') ?? '0/0')
      return {
        type: 'AppendEntries',
        ...envelope,
        prevLogIndex: after.index,
        prevLogTerm: after.term,
        entries: words.optionList('entries').map(entryFrom),
        leaderCommit: words.optionNumber('commit') ?? 0,
        readToken: token,
      }
    }
    case 'AppendOk':
      return {
        type: 'AppendEntriesResponse',
        ...envelope,
        success: true,
        index: words.optionNumber('to') ?? 0,
        hintIndex: 0,
        hintTerm: 0,
        readToken: token,
      }
    case 'AppendNo': {
      const hint = baseFrom(words.option('look') ?? '0/0')
      return {
        type: 'AppendEntriesResponse',
        ...envelope,
        success: false,
        index: words.optionNumber('at') ?? 0,
        hintIndex: hint.index,
        hintTerm: hint.term,
        readToken: token,
      }
    }
    case 'PreVote':
    case 'Vote': {
      const log = baseFrom(words.option('log') ?? '0/0')
      return {
        type: 'RequestVote',
        ...envelope,
        preVote: word === 'PreVote',
        transfer: words.option('ordered') === 'yes',
        lastLogIndex: log.index,
        lastLogTerm: log.term,
      }
    }
    case 'PreVoteYes':
    case 'VoteYes':
    case 'PreVoteNo':
    case 'VoteNo':
      return {
        type: 'RequestVoteResponse',
        ...envelope,
        preVote: word.startsWith('Pre'),
        granted: word.endsWith('Yes'),
      }
    case 'Snapshot':
      return {
        type: 'InstallSnapshot',
        ...envelope,
        lastIncluded: baseFrom(words.option('through') ?? '0/0'),
        configuration: configurationFrom(words.option('configuration') ?? ''),
      }
    case 'TimeoutNow':
      return { type: 'TimeoutNow', ...envelope }
    default:
      throw new Error(`${word} cannot be forged`)
  }
}

/** Entries of commands with these terms, from index 1 on; some of them may be configurations instead. */
export function logFrom(
  terms: readonly string[],
  configurations: ReadonlyMap<LogIndex, string> = new Map(),
): readonly Entry[] {
  return terms.map((term, i) =>
    entryOf({ index: i + 1, term: Number(term) }, configurations.get(i + 1) ?? null),
  )
}

function entryOf({ index, term }: LogBase, configuration: string | null): Entry {
  if (configuration === null) return { index, term, kind: 'command', data: dataOf('x') }
  return { index, term, kind: 'configuration', data: encodeConfiguration(configurationFrom(configuration)) }
}

/** `2/1:word` */
function entryFrom(text: string): Entry {
  const [place = '', word = ''] = text.split(':')
  return { ...baseFrom(place), kind: 'command', data: dataOf(word) }
}

/** `index/term` */
function baseFrom(text: string): { readonly index: LogIndex; readonly term: Term } {
  const match = /^(\d+)\/(\d+)$/.exec(text)
  if (match === null) throw new Error(`expected index/term, not ${text}`)
  return { index: Number(match[1]), term: Number(match[2]) }
}
