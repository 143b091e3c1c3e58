/** A ledger for machines without blobs: no copy is owed, none is removed. */
import type { CopyLedger } from '../../cluster/index.ts'

export const NO_COPIES: CopyLedger = {
  pending: () => [],
  drops: async () => [],
  copyStatus: () => 'undecided',
  find: () => null,
  listed: async () => ({ refs: [], next: null }),
  done: async () => undefined,
  dropped: async () => undefined,
  lost: async () => undefined,
  inventoried: async () => undefined,
}
