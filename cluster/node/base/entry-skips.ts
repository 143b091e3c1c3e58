/**
 * Entries that no node can apply, and what an operator ordered in the place of each. [docs/adr/0033-an-entry-that-no-node-can-apply.md]
 *
 * Owns: what an order is bound to, and whether it is about an entry. Knows nothing of: files, plans, what a command does.
 * Rule: an order names exactly one entry by index, term and digest. Every node applies the same in its place or none applies
 * it, so a node without the order stops there.
 */
import { createHash } from 'node:crypto'
import type { Entry, LogIndex, Term } from '../../raft/types.ts'
import { assert } from '../../base/assert.ts'

export interface EntrySkip {
  readonly planId: string
  readonly index: LogIndex
  readonly term: Term
  /** `digestOfEntry` */
  readonly digest: string
  /** A command of the service, applied in the place of the entry: it records in the audit log what was skipped. */
  readonly command: Uint8Array
}

/** SHA-256 in hex over the kind, a line feed and the data. */
export function digestOfEntry({ kind, data }: Pick<Entry, 'kind' | 'data'>): string {
  return createHash('sha256').update(`${kind}\n`).update(data).digest('hex')
}

/** The order for this entry; null: the entry is applied as it is. */
export function skipOf(skips: readonly EntrySkip[], entry: Entry): EntrySkip | null {
  const skip = skips.find(({ index, term }) => index === entry.index && term === entry.term)
  if (skip === undefined || entry.kind !== 'command') return null
  assert(
    skip.digest === digestOfEntry(entry),
    `it is not the entry that plan ${skip.planId} skips: its digest differs`,
  )
  return skip
}
