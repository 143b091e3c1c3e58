/**
 * Committed rows about copies, set by the test: the answers of one node's ledger, without a state machine below it.
 */
import { fileNameOf } from '../../cluster/blobs/base/blob-name.ts'
import type { BlobName, BlobRef, CopyLedger, CopyStatus, NodeId } from '../../cluster/base/types.ts'
import { refOf, type SampleBlob, sampleBlob } from '../blobs/blob-samples.ts'

type Book = Pick<CopyLedger, 'copyStatus' | 'find' | 'listed' | 'lost' | 'inventoried'>

export class RowBook implements Book {
  readonly rows = new Map<string, BlobRef>()
  /** The status of copies without a row, and of those whose row contains more than the holders. */
  readonly copyStatuses = new Map<string, CopyStatus>()
  /** Each call of `lost`, as seeds of the births. */
  readonly reported: string[][] = []
  /** How many copies were reported as lost by the end of each inventory. */
  readonly inventories: number[] = []
  foundInInventory = 0
  /** Thrown by `lost` while set. */
  refusal: Error | null = null

  list(blob: SampleBlob, replicas: readonly NodeId[] = ['n1', 'n2']): void {
    this.rows.set(fileNameOf(blob), refOf(blob, replicas))
  }

  /** The row names other bytes than those that are stored under the name. */
  listOtherBytes({ id, birth }: SampleBlob): void {
    const { bytes, size, checksum } = sampleBlob(999_999)
    this.list({ id, birth, bytes, size, checksum })
  }

  copyStatus(name: BlobName, holder: NodeId): CopyStatus {
    const status = this.copyStatuses.get(fileNameOf(name))
    if (status !== undefined) return status
    return this.find(name)?.replicas.includes(holder) === true ? 'listed' : 'undecided'
  }

  find(name: BlobName): BlobRef | null {
    return this.rows.get(fileNameOf(name)) ?? null
  }

  async listed(
    holder: NodeId,
    after: string | null,
    limit: number,
  ): Promise<{ refs: readonly BlobRef[]; next: string | null }> {
    const keys = [...this.rows.keys()].filter((key) => after === null || key > after).sort()
    const page = keys.slice(0, limit)
    const refs = page
      .flatMap((key) => this.rows.get(key) ?? [])
      .filter((ref) => ref.replicas.includes(holder))
    return { refs, next: page.length < keys.length ? (page.at(-1) ?? null) : null }
  }

  /** Like apply: the holder is removed from the row and owes the copy, but the last holder stays listed. */
  async lost(holder: NodeId, refs: readonly BlobRef[], found?: 'inventory'): Promise<void> {
    if (this.refusal !== null) throw this.refusal
    if (found === 'inventory') this.foundInInventory += refs.length
    this.reported.push(refs.map(({ birth }) => birth))
    for (const ref of refs) {
      const replicas = (this.find(ref)?.replicas ?? []).filter((nodeId) => nodeId !== holder)
      if (replicas.length === 0) continue
      this.rows.set(fileNameOf(ref), { ...ref, replicas })
      this.copyStatuses.set(fileNameOf(ref), 'owed')
    }
  }

  async inventoried(): Promise<void> {
    if (this.refusal !== null) throw this.refusal
    this.inventories.push(this.foundInInventory)
  }
}
