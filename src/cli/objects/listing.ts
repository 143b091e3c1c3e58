/**
 * All pages of objects and of versions below a prefix.
 */
import type { DataClient } from '../../client/clients.ts'
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { pagesOf } from '../base/asking.ts'
import type { RemotePath } from './remote-path.ts'

type ObjectPage = DataOperations['listObjects']['answer']
type VersionPage = DataOperations['listObjectVersions']['answer']

interface Below extends RemotePath {
  /** Empty: all levels. */
  readonly delimiter: string
}

export function objectPages(
  client: DataClient,
  { bucket, key: prefix, delimiter }: Below,
): AsyncGenerator<ObjectPage> {
  const filter = { prefix, ...(delimiter === '' ? {} : { delimiter }) }
  return pagesOf((from) => client.call('listObjects', { params: { bucket }, query: { ...filter, ...from } }))
}

export async function* versionPages(
  client: DataClient,
  { bucket, key: prefix, delimiter }: Below,
): AsyncGenerator<VersionPage> {
  const filter = { prefix, ...(delimiter === '' ? {} : { delimiter }) }
  let from: { keyMarker?: string; versionIdMarker?: string } = {}
  for (;;) {
    const { answer } = await client.call('listObjectVersions', {
      params: { bucket },
      query: { ...filter, ...from },
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
