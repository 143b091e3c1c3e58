/**
 * The two directions of a sync with one interface: list both sides, copy, compare, remove.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import { CommandError } from '../base/exit.ts'
import { contentTypeOf } from '../objects/content-type.ts'
import { crc64nvme } from '../objects/digests.ts'
import { downloadToFile } from '../objects/file-download.ts'
import { isSameTime, TIME_NAME, timeIn, timeText } from '../objects/file-time.ts'
import { openFile } from '../objects/local-files.ts'
import { partBytesFor } from '../objects/part-size.ts'
import type { RemotePath } from '../objects/remote-path.ts'
import { upload } from '../objects/upload.ts'
import { type Entry, isFilePath, isFolderMark, type Pair } from './entry.ts'
import { fileFor, localEntries, removeFile } from './local-side.ts'
import { remoteEntries } from './remote-side.ts'

export interface Direction {
  readonly verb: 'upload' | 'download'
  sources(): AsyncIterable<Entry>
  targets(): AsyncIterable<Entry>
  /** Called when both sides exist with the same size. */
  hasSameBytes(pair: Pair): Promise<boolean>
  /** Called when both sides exist with the same size and the source looks newer. */
  hasSameTime(pair: Pair): Promise<boolean>
  /** Throws CommandError for a name that the target cannot have. */
  assertPossible(path: string): void
  copy(pair: Pair): Promise<void>
  remove(pair: Pair): Promise<void>
}

export interface DirectionParts {
  readonly client: DataClient
  /** The folder. */
  readonly root: string
  readonly remote: RemotePath
  readonly signal: AbortSignal
  readonly onBytes: (bytes: number) => void
  /** The folder does not exist yet. */
  readonly isMissing: boolean
  /** Times of files are kept with their objects. */
  readonly keepsTimes: boolean
}

/** Few parts of each file are in memory, because several files are transferred at once. */
const PARTS_AT_ONCE = 2

export function upwards(parts: DirectionParts): Direction {
  const { client, root, remote, signal, onBytes, keepsTimes } = parts
  return {
    verb: 'upload',
    sources: () => localEntries(root),
    targets: () => remoteEntries(client, remote),
    hasSameBytes: (pair) => isSame(parts, pair),
    hasSameTime: (pair) => isOfTime(parts, pair.path, pair.source),
    assertPossible: () => {},
    copy: async ({ path }) => {
      const source = await openFile(`${root}/${path}`, signal)
      try {
        const requested = { bucket: remote.bucket, key: remote.key + path, contentType: contentTypeOf(path) }
        const modifiedNs = source.modifiedNs ?? 0n
        const modifiedMs = Number(modifiedNs / 1_000_000n)
        const metadata = keepsTimes ? { [TIME_NAME]: timeText(modifiedNs) } : {}
        const how = {
          partBytes: partBytesFor(source.size),
          parallel: PARTS_AT_ONCE,
          resumes: true,
          // What was created before the file was changed would keep the time of then.
          ...(keepsTimes ? { resumesSince: modifiedMs } : {}),
          signal,
          onBytes,
        }
        await upload(client, { ...requested, metadata, conditions: {}, ...how }, source)
      } finally {
        await source.close()
      }
    },
    remove: async ({ path }) => {
      await client.call('deleteObject', { params: { bucket: remote.bucket, key: remote.key + path } })
    },
  }
}

export function downwards(parts: DirectionParts): Direction {
  const { client, root, remote, signal, onBytes, isMissing, keepsTimes } = parts
  return {
    verb: 'download',
    // What comes down is older than its object, so the times decide about nearly every file.
    sources: () => withoutFolderMarks(remoteEntries(client, remote, { withTimes: keepsTimes })),
    targets: () => (isMissing ? nothing() : localEntries(root)),
    hasSameBytes: (pair) => isSame(parts, pair),
    hasSameTime: (pair) => isOfTime(parts, pair.path, pair.target),
    assertPossible: (path) => {
      if (!isFilePath(path)) throw notAFileName(remote.key + path)
    },
    copy: async ({ path, source }) => {
      // The time of the listing, which has milliseconds: the next sync compares with the listing.
      const listed = new Date(source?.modifiedAt ?? 0).toISOString()
      await downloadToFile(client, {
        path: await fileFor(root, path),
        bucket: remote.bucket,
        key: remote.key + path,
        size: source?.size ?? 0,
        signal,
        onBytes,
        timeOf: ({ fileTime }) => (keepsTimes ? fileTime : null) ?? listed,
      })
    },
    remove: ({ path }) => removeFile(root, path),
  }
}

/** How much of a file of this size a transfer holds at most, bytes. */
export function bytesInMemory(size: number): number {
  return Math.min(size, (PARTS_AT_ONCE + 1) * partBytesFor(size))
}

/** Whether the object keeps the time that the file has. */
async function isOfTime(
  { client, remote, signal }: DirectionParts,
  path: string,
  file: Entry | null,
): Promise<boolean> {
  const params = { bucket: remote.bucket, key: remote.key + path }
  // What cannot be asked is copied, and the copy says why it fails.
  const kept = await client.call('headObject', { params, signal }).then(
    ({ headers }) => timeIn(headers),
    (cause: unknown) => {
      if (cause instanceof ApiError) return null
      throw cause
    },
  )
  return kept !== null && file !== null && isSameTime(kept, file.modifiedAt)
}

async function* nothing(): AsyncGenerator<Entry> {}

async function* withoutFolderMarks(entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  for await (const entry of entries) if (!isFolderMark(entry)) yield entry
}

async function isSame({ client, root, remote, signal }: DirectionParts, { path }: Pair): Promise<boolean> {
  const params = { bucket: remote.bucket, key: remote.key + path }
  const { headers } = await client.call('headObject', { params, signal })
  const digest = await crc64nvme()
  const file = await openFile(`${root}/${path}`, signal)
  try {
    for await (const piece of file.pieces) digest.update(piece)
  } finally {
    await file.close()
  }
  return headers['x-service-checksum-crc64nvme'] === digest.digest()
}

function notAFileName(key: string): CommandError {
  return new CommandError(`'${key}' is not a possible file name`, {
    code: 'no_file_name',
    hint: 'Download it with holdfast get, under another name.',
  })
}
