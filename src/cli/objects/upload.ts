/**
 * Sends one body: in one request if it fits, otherwise in parts.
 *
 * Owns: that choice. Knows nothing of: files, terminals.
 * Rules: every request carries the digest of its body, so that the service refuses a changed body before it stores it. The completion of
 * parts carries a digest of the whole. At most `parallel` + 1 parts are in memory.
 */
import { randomUUID } from 'node:crypto'
import type { DataClient } from '../../client/clients.ts'
import type { StoredObject } from '../../client/generated/data-operations.ts'
import { sha256Of } from './digests.ts'
import { joinedParts } from '../../client/parts.ts'
import { uploadInParts } from './upload-parts.ts'

/** How the object is handed out. */
export interface Representation {
  readonly cacheControl?: string
  readonly contentDisposition?: string
  readonly contentEncoding?: string
  readonly contentLanguage?: string
  readonly expires?: string
}

export interface UploadRequest {
  readonly bucket: string
  readonly key: string
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly tags?: Readonly<Record<string, string>>
  readonly representation?: Representation
  /** If-Match, If-None-Match. */
  readonly conditions: { readonly 'If-Match'?: string; readonly 'If-None-Match'?: string }
  readonly partBytes: number
  /** Requests at once. */
  readonly parallel: number
  /** Resume an unfinished upload of this key. */
  readonly resumes: boolean
  /** Milliseconds since 1970: an upload that was created earlier is not resumed, because its metadata is of then. */
  readonly resumesSince?: number
  readonly signal: AbortSignal
  /** Called after bytes are stored. */
  readonly onBytes: (bytes: number) => void
}

export interface UploadSource {
  readonly pieces: AsyncIterable<Uint8Array>
  /** Called after all bytes were read, before they become an object. Throws if the source has changed since. */
  readonly assertUnchanged: () => Promise<void>
}

export async function upload(
  client: DataClient,
  requested: UploadRequest,
  source: UploadSource,
): Promise<StoredObject> {
  const parts = joinedParts(source.pieces, requested.partBytes)
  try {
    const first = (await parts.next()).value ?? new Uint8Array()
    if (first.length < requested.partBytes) return await uploadWhole(client, requested, source, first)
    const second = await parts.next()
    if (second.done === true) return await uploadWhole(client, requested, source, first)
    return await uploadInParts(client, requested, source, chained([first, second.value], parts))
  } finally {
    // Not awaited: the generator may itself be waiting for bytes that never arrive.
    void parts.return().catch(() => {})
  }
}

async function uploadWhole(
  client: DataClient,
  requested: UploadRequest,
  source: UploadSource,
  body: Uint8Array,
): Promise<StoredObject> {
  await source.assertUnchanged()
  const { bucket, key, contentType, metadata, tags = {}, representation = {}, conditions, signal } = requested
  const named = Object.entries(metadata).map(
    ([name, value]) => [`X-Service-Meta-${name}`, headerText(value)] as const,
  )
  const said = Object.entries(representation).map(
    ([name, value]) => [headerOf(name), headerText(value)] as const,
  )
  const tagging = Object.entries(tags)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&')
  const headers = {
    ...Object.fromEntries([...named, ...said]),
    ...(tagging === '' ? {} : { 'X-Service-Tagging': tagging }),
    ...conditions,
    'Content-Type': contentType,
    'X-Service-Checksum-SHA256': sha256Of(body),
    // The service answers a repeated attempt like the first one.
    'Idempotency-Key': randomUUID(),
  }
  const { answer } = await client.call('putObject', { params: { bucket, key }, headers, body, signal })
  requested.onBytes(body.length)
  return answer
}

/** `cacheControl` as `cache-control`. */
function headerOf(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Values are UTF-8; the client of HTTP writes one byte for each character. */
function headerText(value: string): string {
  return Buffer.from(value).toString('latin1')
}

async function* chained(
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first
  yield* rest
}
