/**
 * What is missing before a node may take part, from what its two stores still hold.
 *
 * Owns: the order in which damage is repaired. Knows nothing of: peers, disks. Pure.
 * Rule: an entry that may have been acknowledged is never lost: it is dropped only when the state holds it, or when a committed entry
 * proves that it never counted.
 */
import { decodeMachineRecord } from '../base/machine-record.ts'
import { decodeConfiguration, membersOf } from '../../raft/configuration.ts'
import type { Configuration, LogBase, LogIndex, NodeId } from '../../raft/types.ts'
import type { WalContent } from '../../wal/wal.ts'

/** The content of the disk. */
export interface Found {
  readonly log: WalContent
  readonly record: Uint8Array | null
  /** Why the state must not be used. */
  readonly fault: string | null
}

export type MissingLog =
  /** A state that holds at least everything up to `atLeast`. */
  | { readonly of: 'state'; readonly why: string; readonly atLeast: LogIndex }
  /** The committed entries at these indexes: one for each hole. */
  | { readonly of: 'entries'; readonly indexes: readonly LogIndex[] }
  /** Nothing from other nodes: the state holds every damaged entry. */
  | { readonly of: 'base'; readonly base: LogBase }

/** Null: the two make one consistent start. */
export function missingLogOf({ log, record, fault }: Found): MissingLog | null {
  const { base, holes } = log
  if (fault !== null) return { of: 'state', why: fault, atLeast: base.index }
  const applied = appliedOf(record)
  if (applied.index < base.index) {
    const why = `it ends at index ${applied.index}, and the log begins after ${base.index}`
    return { of: 'state', why, atLeast: base.index }
  }
  if (holes.length === 0) return null
  if (holes.some(({ index }) => index > applied.index))
    return { of: 'entries', indexes: holes.map(({ index }) => index) }
  const last = holes.at(-1)
  const isFollowed = applied.index < base.index + log.entries.length
  // Whether the rest of the log belongs to this state is not known here; a later state decides it.
  if (isFollowed && last?.index === applied.index && last.term === null) {
    const why = `the log is damaged exactly where it ends, at index ${applied.index}`
    return { of: 'state', why, atLeast: applied.index + 1 }
  }
  return { of: 'base', base: applied }
}

export function appliedOf(record: Uint8Array | null): LogBase {
  if (record === null) return { index: 0, term: 0 }
  const { appliedIndex: index, appliedTerm: term } = decodeMachineRecord(record)
  return { index, term }
}

/** Every member that any configuration on this disk names: a member that has left meanwhile simply does not answer. */
export function membersIn({ log, record }: Found, initial: Configuration): readonly NodeId[] {
  const lost = new Set(log.holes.map(({ index }) => index))
  const here = log.entries.filter(({ kind, index }) => kind === 'configuration' && !lost.has(index))
  const logged = [...(log.older ?? []).flatMap((span) => span.configurations), ...here]
  const configurations = [
    ...logged.map(({ data }) => decodeConfiguration(data)).toReversed(),
    ...(record ? [decodeMachineRecord(record).configuration] : []),
    initial,
  ]
  return [...new Set(configurations.flatMap(membersOf))]
}
