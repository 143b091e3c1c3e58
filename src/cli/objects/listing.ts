/**
 * All pages of objects and of versions below a prefix.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { pagesOf } from '../base/asking.ts'
import type { RemotePath } from './remote-path.ts'

type ObjectPage = DataOperations['listObjects']['answer']
type VersionPage = DataOperations['listObjectVersions']['answer']

interface Below extends RemotePath {
  /** Empty: all levels. */
  readonly delimiter: string
  /** With the user metadata of each object that the caller may read; an older node lists without it. */
  readonly withMetadata?: boolean
}

export function objectPages(
  client: DataClient,
  { bucket, key: prefix, delimiter, withMetadata = false }: Below,
): AsyncGenerator<ObjectPage> {
  const filter = { prefix, ...(delimiter === '' ? {} : { delimiter }) }
  let more = withMetadata ? ({ include: 'metadata' } as const) : {}
  const page = (from: object) =>
    client.call('listObjects', { params: { bucket }, query: { ...filter, ...more, ...from } })
  return pagesOf(async (from) => {
    try {
      return await page(from)
    } catch (cause) {
      // A node of an earlier release knows no such parameter.
      if (!('include' in more && cause instanceof ApiError && cause.status === 400)) throw cause
      more = {}
      return page(from)
    }
  })
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
