/**
 * Downloads one object completely and verifies its digests.
 *
 * Owns: resumption after a broken connection. Rules: it resumes with the object that it started with, by version and etag. The stream
 * ends well only when the digests of its bytes equal those that the service keeps of the whole object; otherwise it fails at its end.
 * `fetch` decodes an object that is stored with a Content-Encoding: such a download has other bytes, and is neither resumed nor verified.
 */
import { BrokenOffError, ChecksumMismatchError } from '../call/errors.ts'
import type { Clock } from '../call/transport.ts'
import type { DataMethods } from '../generated/data-methods.ts'
import type { ObjectDownload } from '../methods/object-head.ts'
import { base64, DIGESTS, type RunningDigest } from './digests.ts'

export interface DownloadProgress {
  readonly receivedBytes: number
  /** Null: not known. */
  readonly totalBytes: number | null
}

export interface DownloadOptions {
  readonly versionId?: string
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
  readonly onProgress?: (progress: DownloadProgress) => void
  readonly signal?: AbortSignal
}

/** Read it once: as a stream, or by one of the methods, which hold the whole object in memory. */
export interface Download extends ObjectDownload {
  /** False: the platform decodes the Content-Encoding of the object, or the service keeps no digest that this client knows. */
  readonly isVerified: boolean
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  text(): Promise<string>
  blob(): Promise<Blob>
}

/** In a row, without a further byte. */
const ATTEMPTS_MAX = 5
const FIRST_WAIT_MS = 200
/** What a platform decodes by itself. */
const DECODED = /\b(?:gzip|x-gzip|deflate|br|zstd)\b/i

type Name = { readonly bucket: string; readonly key: string }

export async function download(
  methods: DataMethods,
  name: Name,
  options: DownloadOptions,
  clock: Clock,
): Promise<Download> {
  const { versionId, ifMatch, ifNoneMatch, signal } = options
  const conditions = {
    ...(versionId === undefined ? {} : { versionId }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
  }
  const first = await methods.getObject({ ...name, ...conditions }, signal === undefined ? {} : { signal })
  const isDecoded = first.contentEncoding !== null && DECODED.test(first.contentEncoding)
  const digests = isDecoded ? [] : digestsFor(first)
  const transfer = new Transfer({ methods, name, options, clock, first, digests, isResumable: !isDecoded })
  const body = transfer.stream()
  const answer = (): Response => new Response(body)
  return {
    ...first,
    body,
    isVerified: digests.length > 0,
    bytes: async () => new Uint8Array(await answer().arrayBuffer()),
    text: () => answer().text(),
    blob: async () => new Blob([await answer().arrayBuffer()], { type: first.contentType ?? '' }),
  }
}

interface Expected {
  readonly algorithm: string
  readonly stored: string
  readonly running: RunningDigest
}

function digestsFor({ checksums }: ObjectDownload): readonly Expected[] {
  return Object.entries(checksums).flatMap(([algorithm, stored]) => {
    const running = DIGESTS[algorithm]?.()
    return running === undefined ? [] : [{ algorithm, stored, running }]
  })
}

interface TransferParts {
  readonly methods: DataMethods
  readonly name: Name
  readonly options: DownloadOptions
  readonly clock: Clock
  readonly first: ObjectDownload
  readonly digests: readonly Expected[]
  readonly isResumable: boolean
}

class Transfer {
  readonly #parts: TransferParts
  #reader: ReadableStreamDefaultReader<Uint8Array>
  #received = 0
  #attempts = 1

  constructor(parts: TransferParts) {
    this.#parts = parts
    this.#reader = parts.first.body.getReader()
  }

  stream(): ReadableStream<Uint8Array> {
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const piece = await this.#next()
      if (piece !== null) return controller.enqueue(piece)
      this.#verify()
      return controller.close()
    }
    return new ReadableStream<Uint8Array>(
      { pull, cancel: (reason) => this.#reader.cancel(reason) },
      { highWaterMark: 0 },
    )
  }

  /** Null: the object is complete. */
  async #next(): Promise<Uint8Array | null> {
    const { options, digests, first, isResumable } = this.#parts
    for (;;) {
      const piece = await this.#read()
      if (piece !== null) {
        this.#attempts = 1
        this.#received += piece.length
        for (const { running } of digests) running.update(piece)
        options.onProgress?.({ receivedBytes: this.#received, totalBytes: isResumable ? first.size : null })
        return piece
      }
      if (!isResumable || first.size === null || this.#received >= first.size) return null
      await this.#resume()
    }
  }

  /** Null: there is nothing more to read here. Throws only if that cannot be changed by another request. */
  async #read(): Promise<Uint8Array | null> {
    const { options, isResumable } = this.#parts
    try {
      const { done, value } = await this.#reader.read()
      return done ? null : value
    } catch (cause) {
      options.signal?.throwIfAborted()
      if (!isResumable) throw cause
      return null
    }
  }

  async #resume(): Promise<void> {
    const { methods, name, options, clock, first } = this.#parts
    const { signal } = options
    if (this.#attempts >= ATTEMPTS_MAX)
      throw new BrokenOffError(
        `'${name.bucket}/${name.key}' broke off at byte ${this.#received} of ${first.size}, ${ATTEMPTS_MAX} times in a row`,
      )
    await clock.wait(FIRST_WAIT_MS * 2 ** (this.#attempts - 1), signal)
    this.#attempts += 1
    const version = first.versionId ?? options.versionId
    const input = {
      ...name,
      ...(version === undefined ? {} : { versionId: version }),
      ...(first.etag === null ? {} : { ifMatch: `"${first.etag}"` }),
      range: `bytes=${this.#received}-`,
    }
    const { body, contentRange } = await methods.getObject(input, signal === undefined ? {} : { signal })
    if (contentRange?.startsWith(`bytes ${this.#received}-`) !== true)
      throw new BrokenOffError(
        `'${name.bucket}/${name.key}' broke off, and the service did not send the rest of it`,
      )
    this.#reader = body.getReader()
  }

  #verify(): void {
    const { name, digests } = this.#parts
    for (const { algorithm, stored, running } of digests) {
      const actual = base64(running.digest())
      if (actual !== stored)
        throw new ChecksumMismatchError(
          `'${name.bucket}/${name.key}' was received with ${algorithm} ${actual}, but is stored with ${stored}: do not use the received bytes`,
        )
    }
  }
}
