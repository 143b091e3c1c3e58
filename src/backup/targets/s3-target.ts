/**
 * A backup target that is a bucket of an S3 store: another Holdfast, MinIO, or any other. [AWS S3 API reference]
 *
 * Owns: which requests a value takes, and what is compared. Knows nothing of: what is stored.
 * Rules: a store is not trusted: the size, the range, the order of a listing and each checksum that it returns are compared; one part is in memory,
 * so that it can be sent again; objects whose names are none are not listed, as others may keep something in the bucket.
 */
import { MalformedXmlError, readXml, type XmlBounds } from '../../api/s3/xml/read-xml.ts'
import { listingPage, type ListingPage, OddListingError, pageQuery } from '../../s3-client/object-listing.ts'
import { readWhole, type S3Range } from './s3-reading.ts'
import { gather, type S3Part, uploadParts } from './s3-parts.ts'
import { type S3Outside, S3Requests, type S3Store } from './s3-requests.ts'
import {
  type BackupTarget,
  checkName,
  isName,
  TargetCorrupt,
  type TargetEntry,
  TargetMissing,
  type TargetRange,
  TargetRefused,
  TargetUnreachable,
} from './target.ts'

/** Of one part, and of a value that is sent in one request; a part is in memory. */
const PART_BYTES = 16 * 1024 * 1024
/** What S3 takes. */
const PARTS_MAX = 10_000
const PAGE_KEYS = 1000
/** Of a page whose connection breaks. */
const PAGE_ATTEMPTS_MAX = 5
const LISTING_BOUNDS: XmlBounds = { bytesMax: 16 * 1024 * 1024, elementsMax: 200_000, depthMax: 16 }

export interface S3TargetOptions extends S3Store {
  /** Empty, or segments joined by `/`; all names lie below it. */
  readonly prefix: string
}

export class S3Target implements BackupTarget {
  readonly #requests: S3Requests
  readonly #prefix: string
  readonly #partBytes: number

  constructor({ prefix, ...store }: S3TargetOptions, outside: S3Outside, partBytes: number = PART_BYTES) {
    this.#requests = new S3Requests(store, outside)
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.#partBytes = partBytes
  }

  get description(): string {
    return this.#requests.description
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    const key = this.#keyOf(name)
    if (size > this.#partBytes * PARTS_MAX)
      throw new TargetRefused(
        `Cannot write ${name}: ${size} bytes are more than ${this.#partBytes * PARTS_MAX}`,
      )
    const parts = gather(bytes, { name, size, partBytes: this.#partBytes })
    if (size > this.#partBytes) await this.#putParts(name, parts, size)
    else for await (const part of parts) await this.#putWhole(name, key, part)
  }

  async *get(name: string, range?: TargetRange): AsyncIterable<Uint8Array> {
    const key = this.#keyOf(name)
    const size = range === undefined ? undefined : await this.head(name)
    if (range !== undefined && size === undefined)
      throw new TargetMissing(`${name} is not in ${this.description}`)
    const part: S3Range | undefined = range === undefined ? undefined : { ...range, size: size ?? 0 }
    yield* readWhole(this.#requests, { name, key, part })
  }

  async head(name: string): Promise<number | undefined> {
    const key = this.#keyOf(name)
    try {
      const { headers } = await this.#requests.order({ method: 'HEAD', action: `HeadObject ${name}`, key })
      const size = Number(headers['content-length'])
      if (!Number.isSafeInteger(size) || size < 0) throw this.#odd(`it does not say the size of ${name}`)
      return size
    } catch (error) {
      if (error instanceof TargetMissing) return undefined
      throw error
    }
  }

  async *list(prefix: string): AsyncIterable<TargetEntry> {
    let last = ''
    for (let token: string | null = null; ; ) {
      const { objects, next } = await this.#page(prefix, token)
      for (const { key, size } of objects) {
        if (!key.startsWith(this.#prefix + prefix))
          throw this.#odd(`it lists ${key.slice(0, 80)}, which was not asked for`)
        const name = key.slice(this.#prefix.length)
        if (!isName(name)) continue
        if (name <= last) throw this.#odd(`it lists ${name} behind ${last}`)
        last = name
        yield { name, size }
      }
      if (next === null) return
      token = next
    }
  }

  async remove(name: string): Promise<void> {
    const key = this.#keyOf(name)
    try {
      await this.#requests.order({ method: 'DELETE', action: `DeleteObject ${name}`, key })
    } catch (error) {
      if (!(error instanceof TargetMissing)) throw error
    }
  }

  close(): Promise<void> {
    return this.#requests.close()
  }

  async #putWhole(name: string, key: string, { bytes, hash }: S3Part): Promise<void> {
    const checksum = hash.toString('base64')
    const { headers } = await this.#requests.order({
      method: 'PUT',
      action: `PutObject ${name}`,
      key,
      headers: {
        'content-length': `${bytes.length}`,
        'content-type': 'application/octet-stream',
        'x-amz-checksum-sha256': checksum,
      },
      body: bytes,
      bodyHash: hash.toString('hex'),
    })
    const kept = headers['x-amz-checksum-sha256']
    if (kept !== undefined && kept !== checksum)
      throw this.#odd(
        `it says that it keeps ${name} with the checksum ${kept.slice(0, 64)} and not ${checksum}`,
      )
  }

  async #putParts(name: string, parts: AsyncIterable<S3Part>, size: number): Promise<void> {
    const key = this.#keyOf(name)
    await uploadParts(this.#requests, { name, key, parts })
    const kept = await this.head(name)
    if (kept !== size) throw this.#odd(`it keeps ${kept ?? 'no'} bytes of ${name} and not ${size}`)
  }

  async #page(prefix: string, token: string | null): Promise<ListingPage> {
    const query = pageQuery(this.#prefix + prefix, { token, maxKeys: PAGE_KEYS })
    for (let attempts = 1; ; attempts++) {
      const { body } = await this.#requests.ask({ method: 'GET', action: 'ListObjectsV2', query })
      try {
        return listingPage(await readXml(body, LISTING_BOUNDS), token)
      } catch (cause) {
        body.on('error', () => {}).destroy()
        if (cause instanceof MalformedXmlError || cause instanceof OddListingError)
          throw this.#odd(`its listing cannot be read: ${cause.message}`)
        if (attempts === PAGE_ATTEMPTS_MAX)
          throw new TargetUnreachable(`Cannot list ${this.description}: its answers break off`, { cause })
      }
      await this.#requests.pause(attempts)
    }
  }

  #odd(why: string): TargetCorrupt {
    return new TargetCorrupt(`${this.description} is not to be trusted: ${why}`)
  }

  #keyOf(name: string): string {
    checkName(name)
    return this.#prefix + name
  }
}
