/**
 * The judgement of one copy on this node's disk by what the committed rows say of it.
 *
 * Owns: when a copy is put aside. Knows nothing of: which copies are looked at, how fast, how one is removed.
 * Rules: the rows are asked under the copy's lock; what is owed, about to be dropped or undecided is left alone; a copy counts
 * as good only when it is what its row says, not what its own header says.
 */
import type { BlobContent, BlobStore } from '../blobs/base/blob-store.ts'
import type { CopyLocks } from '../blobs/disk/copy-locks.ts'
import type { CopyRemover } from './copy-remover.ts'
import {
  BlobDamagedError,
  BlobMissingError,
  type BlobName,
  type BlobRef,
  type CopyLedger,
  type Logger,
  type NodeId,
} from '../base/types.ts'

/** `lost` with the row that counts on it: to be told to the ledger, which lets it be made again. */
export type CopyFinding =
  | { readonly kind: 'good' | 'removed' | 'left' }
  | { readonly kind: 'lost'; readonly ref: BlobRef; readonly fault: 'missing' | 'damaged' }

export interface CopyCheckParts {
  readonly nodeId: NodeId
  readonly ledger: Pick<CopyLedger, 'standing' | 'find'>
  readonly store: Pick<BlobStore, 'verify' | 'stat' | 'quarantine'>
  /** Decides for itself whether the copy may go. */
  readonly remover: Pick<CopyRemover, 'remove'>
  readonly locks: CopyLocks
  readonly logger: Logger
}

export class CopyCheck {
  readonly #parts: CopyCheckParts

  constructor(parts: CopyCheckParts) {
    this.#parts = parts
  }

  /** Reads all of it; what is abandoned is given to the remover. Throws what the disk throws that says nothing about the copy. */
  async inFull(name: BlobName): Promise<CopyFinding> {
    const { locks, store, remover } = this.#parts
    if (this.#standing(name) === 'abandoned')
      return { kind: (await remover.remove(name)) ? 'removed' : 'left' }
    return locks.hold(name, () => this.#judge(name, () => store.verify(name)))
  }

  /** Looks at its frame only: whether it is there, under its own name, of the right size and digest. */
  byHeader(name: BlobName): Promise<CopyFinding> {
    const { locks, store } = this.#parts
    return locks.hold(name, () => this.#judge(name, () => store.stat(name)))
  }

  #standing(name: BlobName): ReturnType<CopyLedger['standing']> {
    return this.#parts.ledger.standing(name, this.#parts.nodeId)
  }

  async #judge(name: BlobName, look: () => Promise<BlobContent | null>): Promise<CopyFinding> {
    const ref = this.#standing(name) === 'listed' ? this.#parts.ledger.find(name) : null
    if (ref === null) return { kind: 'left' }
    const found = await contentOf(look)
    if (found === 'missing') return { kind: 'lost', ref, fault: found }
    if (found !== 'damaged' && found.size === ref.size && found.checksum === ref.checksum)
      return { kind: 'good' }
    await this.#parts.store.quarantine(name)
    const { id: blob, birth } = name
    const fault = found === 'damaged' ? 'damaged' : 'not what its row says'
    this.#parts.logger.error({ blob, birth, fault, copies: ref.replicas.length }, 'bad blob quarantined')
    return { kind: 'lost', ref, fault: 'damaged' }
  }
}

async function contentOf(
  look: () => Promise<BlobContent | null>,
): Promise<BlobContent | 'missing' | 'damaged'> {
  try {
    return (await look()) ?? 'missing'
  } catch (cause) {
    if (cause instanceof BlobMissingError) return 'missing'
    if (cause instanceof BlobDamagedError) return 'damaged'
    throw cause
  }
}
