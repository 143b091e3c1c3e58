/**
 * Sends one body: in one request if it fits, otherwise in parts, several at once.
 *
 * Owns: that choice, and which upload is resumed. Rules: every request carries the digest of its body, so that the service refuses a
 * changed body before it stores it. An existing part counts only when its SHA-256 is that of the local bytes. The completion claims the
 * CRC64NVME of all bytes that were read, so that parts in a wrong order do not become an object. At most `parallel` + 1 parts are in memory.
 * A failed upload stays and can be resumed; the service gives it up after seven days.
 */
import { ArgumentError } from '../call/errors.ts'
import type { MethodOptions } from '../call/methods.ts'
import type { Body } from '../call/operation.ts'
import { unlessAborted } from '../call/transport.ts'
import type { CreateMultipartUploadInput, DataMethods, PutObjectInput } from '../generated/data-methods.ts'
import type { ListedPart, StoredObject } from '../generated/data-operations.ts'
import { Crc64Nvme } from './crc64nvme.ts'
import { base64, sha256Of } from './digests.ts'
import { cutInParts, PART_COUNT_MAX } from './parts.ts'

export interface UploadProgress {
  /** Bytes that the service has, those of a resumed upload among them. */
  readonly storedBytes: number
  /** Those that were there before and were not sent again. */
  readonly reusedBytes: number
  /** Null: a stream does not say. */
  readonly totalBytes: number | null
}

type Representation = Pick<
  CreateMultipartUploadInput,
  | 'contentType'
  | 'metadata'
  | 'cacheControl'
  | 'contentDisposition'
  | 'contentEncoding'
  | 'contentLanguage'
  | 'expires'
  | 'tags'
  | 'retention'
  | 'legalHold'
>

export interface UploadOptions extends Representation {
  /** A body that is not larger is sent in one request; 5 MiB to 5 GiB. Default: 16 MiB, or more so that 10,000 parts suffice. */
  readonly partSize?: number
  /** Requests at once, 1 to 64; 4 unless given. */
  readonly parallel?: number
  /** Continue the newest unfinished upload of this key: its parts that are equal are not sent again. */
  readonly resume?: boolean
  readonly onProgress?: (progress: UploadProgress) => void
  readonly signal?: AbortSignal
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
}

const PARALLEL_MAX = 64

type Name = { readonly bucket: string; readonly key: string }

interface Upload {
  readonly methods: DataMethods
  readonly name: Name
  readonly options: UploadOptions
  readonly progress: (stored: number, reused: number) => void
  /** Of the caller, or of a part that failed. */
  readonly calls: MethodOptions
}

/** Throws what the methods throw, and ArgumentError for a part size or a body that cannot be. */
export async function upload(
  methods: DataMethods,
  name: Name,
  body: Body,
  options: UploadOptions,
): Promise<StoredObject> {
  const { parallel = 4, signal } = options
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > PARALLEL_MAX)
    throw new ArgumentError(`'parallel' is from 1 to ${PARALLEL_MAX}, not ${parallel}`)
  signal?.throwIfAborted()
  const { size, partBytes, parts } = cutInParts(body, options.partSize)
  const typed =
    options.contentType === undefined && body instanceof Blob && body.type !== ''
      ? { ...options, contentType: body.type }
      : options
  const stop = new AbortController()
  const onAbort = (): void => stop.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const calls = { signal: stop.signal }
  const one: Upload = { methods, name, options: typed, progress: progressOf(options, size), calls }
  try {
    const first = (await unlessAborted(parts.next(), stop.signal)).value ?? new Uint8Array()
    const second = first.length < partBytes ? null : await unlessAborted(parts.next(), stop.signal)
    if (second === null || second.done === true) return await inOneRequest(one, first)
    return await inParts(one, chained([first, second.value], parts), stop)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    // Not awaited: the generator may itself be waiting for bytes that never arrive.
    void parts.return().catch(() => undefined)
  }
}

function progressOf({ onProgress }: UploadOptions, totalBytes: number | null): Upload['progress'] {
  let storedBytes = 0
  let reusedBytes = 0
  return (stored, reused) => {
    storedBytes += stored
    reusedBytes += reused
    onProgress?.({ storedBytes, reusedBytes, totalBytes })
  }
}

async function inOneRequest(one: Upload, body: Uint8Array<ArrayBuffer>): Promise<StoredObject> {
  const { methods, name, options, progress, calls } = one
  const { retention, ifMatch, ifNoneMatch } = options
  const input: PutObjectInput = {
    ...name,
    ...represented(options),
    ...(retention === undefined ? {} : { retentionMode: retention.mode, retainUntil: retention.retainUntil }),
    ...given({ legalHold: options.legalHold?.status, ifMatch, ifNoneMatch }),
    checksumSHA256: await sha256Of(body),
    // The service answers a repeated attempt like the first one.
    idempotencyKey: randomName(),
    body,
  }
  const stored = await methods.putObject(input, calls)
  progress(body.length, 0)
  return stored
}

async function inParts(
  one: Upload,
  bodies: AsyncIterable<Uint8Array<ArrayBuffer>>,
  stop: AbortController,
): Promise<StoredObject> {
  const { methods, name, options, calls } = one
  const resumed = options.resume === true ? await brokenOff(one) : null
  const uploadId = resumed ?? (await newUpload(one))
  const known = resumed === null ? new Map<number, ListedPart>() : await knownParts(one, uploadId)
  const whole = new Crc64Nvme()
  const numbered = numberedParts(bodies, whole, stop.signal)
  const etags: string[] = []
  const work = async (): Promise<void> => {
    for await (const { partNumber, bytes } of numbered) {
      stop.signal.throwIfAborted()
      etags[partNumber - 1] = await etagOf(one, { uploadId, known: known.get(partNumber), partNumber, bytes })
    }
  }
  const workers = Array.from({ length: options.parallel ?? 4 }, work)
  await Promise.all(
    workers.map((worker) =>
      worker.catch((cause: unknown) => {
        stop.abort(cause)
        throw cause
      }),
    ),
  ).finally(() => Promise.allSettled(workers))
  const { ifMatch, ifNoneMatch } = options
  return methods.completeMultipartUpload(
    {
      ...name,
      uploadId,
      ...given({ ifMatch, ifNoneMatch }),
      checksumCRC64NVME: base64(whole.digest()),
      parts: etags.map((etag, n) => ({ partNumber: n + 1, etag })),
    },
    // The service answers a repeated completion like the first one.
    { ...calls, isRepeatable: true },
  )
}

interface NumberedPart {
  readonly partNumber: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Workers share it: each part comes once, and is digested in its order. A worker that fails does not end it for the others. */
function numberedParts(
  bodies: AsyncIterable<Uint8Array<ArrayBuffer>>,
  whole: Crc64Nvme,
  signal: AbortSignal,
): AsyncIterable<NumberedPart> {
  const pieces = bodies[Symbol.asyncIterator]()
  let partNumber = 0
  let turn: Promise<unknown> = Promise.resolve()
  const next = (): Promise<IteratorResult<NumberedPart, undefined>> => {
    const mine = turn.then(async (): Promise<IteratorResult<NumberedPart, undefined>> => {
      const { done, value } = await unlessAborted(pieces.next(), signal)
      if (done === true) return { done: true, value: undefined }
      partNumber += 1
      if (partNumber > PART_COUNT_MAX)
        throw new ArgumentError(`The body has more than ${PART_COUNT_MAX} parts: set a larger 'partSize'`)
      whole.update(value)
      return { done: false, value: { partNumber, bytes: value } }
    })
    turn = mine.catch(() => undefined)
    return mine
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

async function etagOf(
  { methods, name, progress, calls }: Upload,
  part: NumberedPart & { readonly uploadId: string; readonly known: ListedPart | undefined },
): Promise<string> {
  const { uploadId, known, partNumber, bytes } = part
  const checksumSHA256 = await sha256Of(bytes)
  if (known?.size === bytes.length && known.checksums['SHA256'] === checksumSHA256) {
    progress(bytes.length, bytes.length)
    return known.etag
  }
  const input = { ...name, uploadId, partNumber: `${partNumber}`, checksumSHA256, body: bytes }
  // Uploading the same part twice has the same effect as once.
  const { etag } = await methods.uploadPart(input, { ...calls, isRepeatable: true })
  progress(bytes.length, 0)
  return etag
}

async function newUpload({ methods, name, options, calls }: Upload): Promise<string> {
  const { retention, legalHold } = options
  const input = { ...name, ...represented(options), ...given({ retention, legalHold }) }
  // One that is made twice stays empty, and the service gives it up after seven days.
  return (await methods.createMultipartUpload(input, { ...calls, isRepeatable: true })).uploadId
}

/** The newest unfinished upload of exactly this key; null if there is none. */
async function brokenOff({ methods, name: { bucket, key }, calls }: Upload): Promise<string | null> {
  let found: { readonly uploadId: string; readonly createdAt: string } | null = null
  for await (const one of methods.uploads({ bucket, prefix: key }, calls)) {
    // Keys are in order, so the uploads of this key come before those of longer keys.
    if (one.key !== key) break
    if (found === null || one.createdAt >= found.createdAt) found = one
  }
  return found?.uploadId ?? null
}

async function knownParts(
  { methods, name, calls }: Upload,
  uploadId: string,
): Promise<Map<number, ListedPart>> {
  const known = new Map<number, ListedPart>()
  for await (const part of methods.parts({ ...name, uploadId }, calls)) known.set(part.partNumber, part)
  return known
}

function represented(options: UploadOptions): Omit<Representation, 'retention' | 'legalHold'> {
  const { contentType, metadata, tags, cacheControl, contentDisposition } = options
  const { contentEncoding, contentLanguage, expires } = options
  const texts = { cacheControl, contentDisposition, contentEncoding, contentLanguage, expires }
  return given({ contentType, metadata, tags, ...texts })
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>
}

/** Without `randomUUID`, which pages have over https only. */
export function randomName(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function* chained<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  yield* first
  yield* rest
}
