/**
 * The names on several disks in one order, each once.
 */
import type { BlobName } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'
import type { BlobStore } from '../base/blob-store.ts'

/** As `BlobStore.list`, of all stores together. */
export async function listOf(
  stores: readonly Pick<BlobStore, 'list'>[],
  after: BlobName | null,
  limit: number,
): Promise<readonly BlobName[]> {
  const names = new Map<string, BlobName>()
  for (const store of stores)
    for (const name of await store.list(after, limit)) names.set(fileNameOf(name), name)
  const order = [...names.keys()].sort().slice(0, limit)
  return order.flatMap((fileName) => names.get(fileName) ?? [])
}
