/**
 * Removes many objects with few requests.
 */
import type { DataClient } from '../../client/clients.ts'
import type { DataOperations } from '../../client/generated/data-operations.ts'

export interface ObjectToRemove {
  readonly key: string
  readonly versionId?: string
}

type Result = DataOperations['batchDeleteObjects']['answer']['results'][number]

/** Takes at most as many objects as a page of a listing has. Returns one result for each, in the same order. */
export async function removeAll(
  client: DataClient,
  bucket: string,
  objects: readonly ObjectToRemove[],
): Promise<readonly Result[]> {
  if (objects.length === 0) return []
  return (await client.call('batchDeleteObjects', { params: { bucket }, body: { objects } })).answer.results
}
