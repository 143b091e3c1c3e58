/**
 * What is at the target already, looked up in the order in which the source lists its keys.
 *
 * Owns: the walk along both listings. Rules: while keys come in the order of their UTF-8 bytes, as S3 lists them, the listing of the target is read once
 * beside them, and neither is in memory; from the first key on that is out of order, each key is asked for by itself.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import type { ListedObject } from '../../client/generated/data-operations.ts'
import { objectPages } from '../objects/listing.ts'
import { comparePaths } from '../sync/entry.ts'
import type { FoundTarget, Metadata } from './import-record.ts'

const METADATA_PREFIX = 'x-service-meta-'

export class TargetIndex {
  readonly #client: DataClient
  readonly #bucket: string
  readonly #listed: AsyncGenerator<ListedObject>
  #current: ListedObject | null = null
  #isOver = false
  /** Null: before the first key. */
  #before: string | null = null
  #isInOrder = true

  /** `prefix`: of all keys that will be looked up. */
  constructor(client: DataClient, { bucket, prefix }: { readonly bucket: string; readonly prefix: string }) {
    this.#client = client
    this.#bucket = bucket
    this.#listed = listed(client, bucket, prefix)
  }

  /** Whether there is an object with this key. Calls must not overlap. */
  async has(key: string): Promise<boolean> {
    this.#isInOrder &&= this.#before === null || comparePaths(this.#before, key) < 0
    this.#before = key
    if (!this.#isInOrder) return (await this.find(key)) !== null
    while (!this.#isOver && (this.#current === null || comparePaths(this.#current.key, key) < 0)) {
      const next = await this.#listed.next()
      if (next.done === true) this.#isOver = true
      else this.#current = next.value
    }
    return !this.#isOver && this.#current?.key === key
  }

  /** Null: there is none any more. Calls may overlap. */
  async find(key: string): Promise<FoundTarget | null> {
    try {
      const { headers } = await this.#client.call('headObject', { params: { bucket: this.#bucket, key } })
      const metadata: Metadata = Object.fromEntries(
        Object.entries(headers).flatMap(([header, value]) =>
          header.startsWith(METADATA_PREFIX) ? [[header.slice(METADATA_PREFIX.length), value] as const] : [],
        ),
      )
      const etag = (headers['etag'] ?? '').replaceAll('"', '')
      return { size: Number(headers['x-service-object-length']), etag, metadata }
    } catch (cause) {
      if (cause instanceof ApiError && cause.status === 404) return null
      throw cause
    }
  }
}

async function* listed(client: DataClient, bucket: string, prefix: string): AsyncGenerator<ListedObject> {
  for await (const { objects } of objectPages(client, { bucket, key: prefix, delimiter: '' })) yield* objects
}
