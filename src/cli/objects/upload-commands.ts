/**
 * `holdfast uploads`: uploads in parts that were not completed, and how to abort them.
 */
import { askData } from '../base/asking.ts'
import type { DataClient } from '../../client/clients.ts'
import type { ListedUpload } from '../../client/generated/data-operations.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { interruption } from '../base/interruption.ts'
import { note, printable, printJson, printTable, sizeText } from '../base/printing.ts'
import { knownParts } from './upload-parts.ts'
import { type RemotePath, remotePath } from './remote-path.ts'

export interface UploadsOptions extends DataAccessOptions {
  readonly parts?: boolean
  readonly json?: boolean
}

export function listUploads(path: string, options: UploadsOptions): Promise<number> {
  const below = remotePath(path)
  return askData(options, async (client) => {
    for await (const page of uploadPages(client, below)) {
      const rows = await Promise.all(
        page.map(async (one) => ({ ...one, ...(await partsOf(client, below, one, options)) })),
      )
      if (options.json) for (const row of rows) printJson(row)
      else
        printTable(
          rows.map(({ uploadId, createdAt, expiresAt, key, partCount, bytes }) => [
            createdAt,
            `until ${expiresAt}`,
            uploadId,
            ...(bytes === undefined ? [] : [`${partCount} parts`, sizeText(bytes)]),
            printable(key),
          ]),
        )
    }
    return EXIT.done
  })
}

async function partsOf(
  client: DataClient,
  { bucket }: RemotePath,
  { key, uploadId }: ListedUpload,
  { parts = false }: UploadsOptions,
): Promise<{ readonly partCount?: number; readonly bytes?: number }> {
  if (!parts) return {}
  const known = [...(await knownParts(client, { bucket, key, signal: interruption() }, uploadId)).values()]
  return { partCount: known.length, bytes: known.reduce((sum, { size }) => sum + size, 0) }
}

async function* uploadPages(
  client: DataClient,
  { bucket, key: prefix }: RemotePath,
): AsyncGenerator<readonly ListedUpload[]> {
  let from: { keyMarker?: string; uploadIdMarker?: string } = {}
  for (;;) {
    const query = { prefix, maxUploads: UPLOADS_AT_ONCE, ...from }
    const { answer } = await client.call('listMultipartUploads', { params: { bucket }, query })
    yield answer.uploads
    const { isTruncated, nextKeyMarker: keyMarker, nextUploadIdMarker: uploadIdMarker } = answer
    if (!isTruncated || keyMarker === undefined) return
    from = { keyMarker, ...(uploadIdMarker === undefined ? {} : { uploadIdMarker }) }
  }
}

/** The parts of so many uploads are asked for at once. */
const UPLOADS_AT_ONCE = 32

export interface AbortOptions extends DataAccessOptions {
  readonly uploadId?: string
  readonly all?: boolean
  readonly json?: boolean
}

/** One upload of a key by its id, or all uploads of exactly this key, or with --all everything below a prefix. */
export function abortUploads(path: string, options: AbortOptions): Promise<number> {
  const { uploadId, all = false, json = false } = options
  const place = remotePath(path)
  if (place.key === '' && !all)
    throw new CommandError(`'${path}' names a bucket, not a key`, {
      code: 'invalid_argument',
      hint: `Name the key of the upload, or abort every upload below a prefix with --all.`,
      exitCode: EXIT.usage,
    })
  const isMeant = (one: ListedUpload): boolean =>
    all || (one.key === place.key && (uploadId === undefined || one.uploadId === uploadId))
  return askData(options, async (client) => {
    let count = 0
    for await (const page of uploadPages(client, place))
      for (const upload of page.filter(isMeant)) {
        const params = { bucket: place.bucket, key: upload.key, uploadId: upload.uploadId }
        await client.call('abortMultipartUpload', { params })
        count++
        if (json) printJson({ ...params, aborted: true })
        else note(`aborted ${printable(`${place.bucket}/${upload.key}`)}  ${upload.uploadId}`)
      }
    if (count === 0 && !json) note('no upload was aborted: there is none')
    return EXIT.done
  })
}
