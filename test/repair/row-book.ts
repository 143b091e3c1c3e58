/**
 * Committed rows about copies, kept by hand: what one node's ledger says, without a state machine below it.
 */
import { fileNameOf } from '../../cluster/blobs/base/blob-name.ts'
import type { BlobName, BlobRef, CopyLedger, CopyStanding, NodeId } from '../../cluster/base/types.ts'
import { refOf, type SampleBlob, sampleBlob } from '../blobs/blob-samples.ts'

type Book = Pick<CopyLedger, 'standing' | 'find' | 'listed' | 'lost' | 'inventoried'>

export class RowBook implements Book {
  readonly rows = new Map<string, BlobRef>()
  /** For copies without a row, and those whose row says more than who is listed. */
  readonly standings = new Map<string, CopyStanding>()
  /** Each call of `lost`, as seeds of the births. */
  readonly told: string[][] = []
  /** How many copies were told lost by the end of each inventory. */
  readonly inventories: number[] = []
  foundInInventory = 0
  /** Thrown by `lost` while set. */
  refusal: Error | null = null

  list(blob: SampleBlob, replicas: readonly NodeId[] = ['n1', 'n2']): void {
    this.rows.set(fileNameOf(blob), refOf(blob, replicas))
  }

  /** The row speaks of other bytes than those that lie under the name. */
  listOtherBytes({ id, birth }: SampleBlob): void {
    const { bytes, size, checksum } = sampleBlob(999_999)
    this.list({ id, birth, bytes, size, checksum })
  }

  standing(name: BlobName, holder: NodeId): CopyStanding {
    const said = this.standings.get(fileNameOf(name))
    if (said !== undefined) return said
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

  /** As apply does it: the holder is struck off and owes the copy, but the last one stays listed. */
  async lost(holder: NodeId, refs: readonly BlobRef[], found?: 'inventory'): Promise<void> {
    if (this.refusal !== null) throw this.refusal
    if (found === 'inventory') this.foundInInventory += refs.length
    this.told.push(refs.map(({ birth }) => birth))
    for (const ref of refs) {
      const replicas = (this.find(ref)?.replicas ?? []).filter((nodeId) => nodeId !== holder)
      if (replicas.length === 0) continue
      this.rows.set(fileNameOf(ref), { ...ref, replicas })
      this.standings.set(fileNameOf(ref), 'owed')
    }
  }

  async inventoried(): Promise<void> {
    if (this.refusal !== null) throw this.refusal
    this.inventories.push(this.foundInInventory)
  }
}
