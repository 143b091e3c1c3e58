/** A ledger for machines that hold no blobs: nothing is owed, nothing goes. */
import type { CopyLedger } from '../../cluster/index.ts'

export const NO_COPIES: CopyLedger = {
  pending: () => [],
  drops: async () => [],
  standing: () => 'undecided',
  find: () => null,
  listed: async () => ({ refs: [], next: null }),
  done: async () => undefined,
  dropped: async () => undefined,
  lost: async () => undefined,
  inventoried: async () => undefined,
}
