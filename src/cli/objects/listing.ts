/**
 * Pages of objects and of versions below a prefix, to their end.
 */
import type { DataClient } from '../../client/clients.ts'
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { pagesOf } from '../base/asking.ts'
import type { RemotePath } from './remote-path.ts'

type ObjectPage = DataOperations['listObjects']['answer']
type VersionPage = DataOperations['listObjectVersions']['answer']

interface Below extends RemotePath {
  /** Empty: everything below. */
  readonly delimiter: string
}

export function objectPages(
  client: DataClient,
  { bucket, key: prefix, delimiter }: Below,
): AsyncGenerator<ObjectPage> {
  const about = { prefix, ...(delimiter === '' ? {} : { delimiter }) }
  return pagesOf((from) => client.call('listObjects', { params: { bucket }, query: { ...about, ...from } }))
}

export async function* versionPages(
  client: DataClient,
  { bucket, key: prefix, delimiter }: Below,
): AsyncGenerator<VersionPage> {
  const about = { prefix, ...(delimiter === '' ? {} : { delimiter }) }
  let from: { keyMarker?: string; versionIdMarker?: string } = {}
  for (;;) {
    const { answer } = await client.call('listObjectVersions', {
      params: { bucket },
      query: { ...about, ...from },
    })
    yield answer
    const { isTruncated, nextKeyMarker, nextVersionIdMarker } = answer
    if (!isTruncated || nextKeyMarker === undefined) return
    from = {
      keyMarker: nextKeyMarker,
      ...(nextVersionIdMarker === undefined ? {} : { versionIdMarker: nextVersionIdMarker }),
    }
  }
}
