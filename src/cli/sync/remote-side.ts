/**
 * A prefix of a bucket as one side of a sync.
 */
import type { DataClient } from '../../client/clients.ts'
import { TIME_NAME, timeOf } from '../objects/file-time.ts'
import { objectPages } from '../objects/listing.ts'
import type { RemotePath } from '../objects/remote-path.ts'
import type { Entry } from './entry.ts'

/** A prefix is a folder, so that `photos` does not include `photos-old/1`. */
export function asFolder({ bucket, key }: RemotePath): RemotePath {
  return { bucket, key: key === '' || key.endsWith('/') ? key : `${key}/` }
}

/** `withTimes`: with the times of the files that were stored. */
export async function* remoteEntries(
  client: DataClient,
  root: RemotePath,
  { withTimes = false } = {},
): AsyncGenerator<Entry> {
  for await (const { objects } of objectPages(client, { ...root, delimiter: '', withMetadata: withTimes }))
    for (const { key, size, etag, lastModified, metadata } of objects) {
      const fileTime = metadata === undefined ? {} : { fileTime: timeOf(metadata[TIME_NAME]) }
      const path = key.slice(root.key.length)
      yield { path, size, modifiedAt: Date.parse(lastModified), etag, ...fileTime }
    }
}
