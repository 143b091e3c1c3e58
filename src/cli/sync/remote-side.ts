/**
 * A prefix of a bucket as one side of a sync.
 */
import type { DataClient } from '../../client/clients.ts'
import { objectPages } from '../objects/listing.ts'
import type { RemotePath } from '../objects/remote-path.ts'
import type { Entry } from './entry.ts'

/** A prefix is a folder, so that `photos` does not include `photos-old/1`. */
export function asFolder({ bucket, key }: RemotePath): RemotePath {
  return { bucket, key: key === '' || key.endsWith('/') ? key : `${key}/` }
}

export async function* remoteEntries(client: DataClient, root: RemotePath): AsyncGenerator<Entry> {
  for await (const { objects } of objectPages(client, { ...root, delimiter: '' }))
    for (const { key, size, etag, lastModified } of objects)
      yield { path: key.slice(root.key.length), size, modifiedAt: Date.parse(lastModified), etag }
}
