/**
 * Checks one copy on this node's disk against the committed rows.
 *
 * Owns: when a copy is quarantined. Knows nothing of: which copies are checked, how fast, how one is removed.
 * Rules: the rows are read under the copy's lock; a copy that is owed, about to be dropped or undecided stays as it is; a copy
 * counts as good only when it matches its row, not only its own header.
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

/** `lost` carries the row that counts on the copy: report it to the ledger, which then creates a task to make the copy again. */
export type CopyFinding =
  | { readonly kind: 'good' | 'removed' | 'left' }
  | { readonly kind: 'lost'; readonly ref: BlobRef; readonly fault: 'missing' | 'damaged' }

export interface CopyCheckParts {
  readonly nodeId: NodeId
  readonly ledger: Pick<CopyLedger, 'copyStatus' | 'find'>
  readonly store: Pick<BlobStore, 'verify' | 'stat' | 'quarantine'>
  /** Decides by itself whether the copy may be removed. */
  readonly remover: Pick<CopyRemover, 'remove'>
  readonly locks: CopyLocks
  readonly logger: Logger
}

export class CopyCheck {
  readonly #parts: CopyCheckParts

  constructor(parts: CopyCheckParts) {
    this.#parts = parts
  }

  /** Reads the whole copy; an abandoned copy goes to the remover. Throws errors of the disk that say nothing about the copy. */
  async inFull(name: BlobName): Promise<CopyFinding> {
    const { locks, store, remover } = this.#parts
    if (this.#copyStatus(name) === 'abandoned')
      return { kind: (await remover.remove(name)) ? 'removed' : 'left' }
    return locks.hold(name, () => this.#judge(name, () => store.verify(name)))
  }

  /** Reads only its frame: whether the copy exists, with its own name, the right size and the right digest. */
  byHeader(name: BlobName): Promise<CopyFinding> {
    const { locks, store } = this.#parts
    return locks.hold(name, () => this.#judge(name, () => store.stat(name)))
  }

  #copyStatus(name: BlobName): ReturnType<CopyLedger['copyStatus']> {
    return this.#parts.ledger.copyStatus(name, this.#parts.nodeId)
  }

  async #judge(name: BlobName, look: () => Promise<BlobContent | null>): Promise<CopyFinding> {
    const ref = this.#copyStatus(name) === 'listed' ? this.#parts.ledger.find(name) : null
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
