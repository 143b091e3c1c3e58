/**
 * Reads of buckets and objects, sent to a cluster and compared with the model of versions.
 *
 * Owns: the expected result of each read, down to the bytes and the size of a page. Changes nothing.
 */
import assert from 'node:assert/strict'
import type { Random } from '../programs/simulator/random.ts'
import { type ApiAnswer, pathOf, queryOf } from '../helpers/object-client.ts'
import {
  allVersions,
  logicalBytes,
  type ModelBucket,
  type ModelVersion,
  named,
  uploadBytes,
} from '../state-machine/model-bucket.ts'
import {
  isMarkerNamed,
  type ModelledObjects,
  type UploadPlace,
  type VersionPlace,
} from './modelled-objects.ts'

const PAGES_MAX = 8

/** A listing entry of one key, or a common prefix. */
type Row = string

export class ModelledReads {
  readonly #objects: ModelledObjects
  readonly #random: Random

  constructor(objects: ModelledObjects, random: Random) {
    this.#objects = objects
    this.#random = random
  }

  async get(place: VersionPlace): Promise<void> {
    const path = this.#path('objects', place)
    const answer = await this.#objects.client.ask({ method: 'GET', path })
    const version = this.#found(place, answer)
    if (version === null) return
    const { headers, bytes, api } = answer
    // S3 says that there is a hold, and that there are tags.
    const [noHold, noTags] = api === 's3' ? [undefined, undefined] : ['OFF', '0']
    const wanted = version.content.map((name) => this.#objects.bytes.get(name) ?? Buffer.alloc(0))
    assert(bytes.equals(Buffer.concat(wanted)), `${path} does not have the stored bytes`)
    const bucket = this.#objects.model.buckets.get(place.bucket)
    const { retention } = version
    assert.deepEqual(
      {
        etag: headers['etag'],
        id: headers['x-service-version-id'],
        tags: headers['x-service-tag-count'],
        mode: headers['x-service-retention-mode'],
        until: headers['x-service-retain-until'],
        hold: headers['x-service-legal-hold'],
      },
      {
        etag: `"${version.etag}"`,
        id: bucket?.versioning === 'Unversioned' ? undefined : version.id,
        tags: Object.keys(version.tags).length === 0 ? noTags : `${Object.keys(version.tags).length}`,
        mode: retention?.mode,
        until: retention === null ? undefined : new Date(retention.until).toISOString(),
        hold: bucket?.hasLock !== true ? undefined : version.legalHold ? 'ON' : noHold,
      },
    )
  }

  async tags(place: VersionPlace): Promise<void> {
    const answer = await this.#objects.client.ask({ method: 'GET', path: this.#path('object-tags', place) })
    const version = this.#found(place, answer)
    if (version !== null) assert.deepEqual(answer.json['tags'], version.tags)
  }

  /** Current objects, page by page, each at a different node. */
  async list(bucket: string, prefix: string, delimiter: string): Promise<void> {
    const known = this.#objects.model.buckets.get(bucket)
    const rows = [...(known?.keys ?? [])].flatMap(([key, [newest]]) =>
      newest === undefined || newest.isMarker
        ? []
        : [{ key, row: [key, newest.id, newest.etag, newest.size].join(' ') }],
    )
    const expected = grouped(sorted(rows), prefix, delimiter)
    const maxKeys = this.#pageSize(expected.length)
    const seen: Row[] = []
    for (let token: string | null = null; ; ) {
      const query = queryOf({ prefix, delimiter, maxKeys, continuationToken: token })
      const answer = await this.#objects.client.ask({ method: 'GET', path: `/${bucket}/objects${query}` })
      if (known === undefined) return assert.equal(answer.code, 'not_found')
      const objects = (answer.json['objects'] as readonly Listed[]).map(({ key, versionId, etag, size }) => ({
        key,
        // The listing of S3 shows no versions.
        row: [key, answer.api === 's3' ? known.keys.get(key)?.[0]?.id : versionId, etag, size].join(' '),
      }))
      seen.push(...this.#page(answer, objects, { maxKeys, left: expected.length - seen.length }))
      if (answer.json['isTruncated'] !== true) break
      token = String(answer.json['nextContinuationToken'])
    }
    assert.deepEqual(seen, expected)
  }

  async listVersions(bucket: string, prefix: string, delimiter: string): Promise<void> {
    const known = this.#objects.model.buckets.get(bucket)
    const rows = [...(known?.keys ?? [])].flatMap(([key, versions]) =>
      versions.map(({ id, isMarker, etag, size }, n) => ({
        key,
        row: [key, id, n === 0 ? 'latest' : '', isMarker ? 'marker' : `${etag} ${size}`].join(' '),
      })),
    )
    const expected = grouped(sorted(rows), prefix, delimiter)
    const maxKeys = this.#pageSize(expected.length)
    const seen: Row[] = []
    let markers: { keyMarker: string | null; versionIdMarker: string | null } = {
      keyMarker: null,
      versionIdMarker: null,
    }
    for (;;) {
      const query = queryOf({ prefix, delimiter, maxKeys, ...markers })
      const answer = await this.#objects.client.ask({ method: 'GET', path: `/${bucket}/versions${query}` })
      if (known === undefined) return assert.equal(answer.code, 'not_found')
      const versions = (answer.json['versions'] as readonly Listed[]).map((one) => ({
        key: one.key,
        row: [
          one.key,
          one.versionId,
          one.isLatest ? 'latest' : '',
          one.isDeleteMarker ? 'marker' : `${one.etag} ${one.size}`,
        ].join(' '),
      }))
      seen.push(...this.#page(answer, versions, { maxKeys, left: expected.length - seen.length }))
      if (answer.json['isTruncated'] !== true) break
      const { nextKeyMarker, nextVersionIdMarker = null } = answer.json as Record<string, string>
      markers = { keyMarker: nextKeyMarker ?? '', versionIdMarker: nextVersionIdMarker }
    }
    assert.deepEqual(seen, expected)
  }

  async listUploads(bucket: string): Promise<void> {
    const answer = await this.#objects.client.ask({ method: 'GET', path: `/${bucket}/multipart` })
    const known = this.#objects.model.buckets.get(bucket)
    if (known === undefined) return assert.equal(answer.code, 'not_found')
    const uploads = answer.json['uploads'] as readonly { readonly uploadId: string; readonly key: string }[]
    const expected = [...known.uploads].map(([uploadId, { key }]) => ({ key, row: uploadId }))
    assert.deepEqual(
      uploads.map(({ uploadId }) => uploadId),
      sorted(expected).map(({ row }) => row),
    )
  }

  async listParts(upload: UploadPlace): Promise<void> {
    const { bucket, key, uploadId } = upload
    const path = `/${bucket}/multipart/${uploadId}/parts/${pathOf(key)}`
    const answer = await this.#objects.client.ask({ method: 'GET', path })
    const known = this.#objects.model.buckets.get(bucket)?.uploads.get(uploadId)
    if (known === undefined || known.key !== key) return assert.equal(answer.code, 'not_found')
    const parts = answer.json['parts'] as readonly { partNumber: number; etag: string; size: number }[]
    assert.deepEqual(
      parts.map(({ partNumber, etag, size }) => [partNumber, etag, size]),
      [...known.parts]
        .map(([n, { etag, size }]) => [n, etag, size])
        .sort((a, b) => Number(a[0]) - Number(b[0])),
    )
  }

  async listBuckets(among: readonly string[]): Promise<void> {
    const answer = await this.#objects.client.ask({ method: 'GET', path: '' })
    const names = (answer.json['buckets'] as readonly { readonly name: string }[]).map(({ name }) => name)
    assert.deepEqual(
      names.filter((name) => among.includes(name)),
      [...this.#objects.model.buckets.keys()].sort(),
    )
  }

  /** `usage`: the answer of the admin API, of a tenant with these buckets alone. */
  usage(usage: Readonly<Record<string, unknown>>): void {
    const { model } = this.#objects
    const buckets = [...model.buckets.values()]
    const sum = (figure: (bucket: ModelBucket) => number): number =>
      buckets.reduce((total, bucket) => total + figure(bucket), 0)
    const markers = (bucket: ModelBucket): number =>
      allVersions(bucket).filter(({ isMarker }) => isMarker).length
    const expected = {
      buckets: buckets.length,
      objects: model.objects(),
      deleteMarkers: sum(markers),
      logicalBytes: sum(logicalBytes),
      multipartUploads: sum(({ uploads }) => uploads.size),
      multipartBytes: sum(uploadBytes),
    }
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, usage[name]])), expected)
  }

  #path(route: string, { bucket, key, versionId }: VersionPlace): string {
    return `/${bucket}/${route}/${pathOf(key)}${queryOf({ versionId })}`
  }

  /** Null where nothing is visible, after a check that the answer says so correctly. */
  #found(
    { bucket: name, key, versionId }: VersionPlace,
    { status, code, headers }: ApiAnswer,
  ): ModelVersion | null {
    const bucket = this.#objects.model.buckets.get(name)
    const version = bucket && visible(bucket, key, versionId)
    if (bucket === undefined || version === undefined || version.isMarker) {
      const isNamed = bucket !== undefined && isMarkerNamed(bucket, { key, versionId })
      assert.equal(code, isNamed ? 'method_not_allowed' : 'not_found')
      assert.equal(headers['x-service-delete-marker'], version?.isMarker === true ? 'true' : undefined)
      return null
    }
    assert.equal(status, 200)
    return version
  }

  #page(
    { json }: ApiAnswer,
    entries: readonly Entry[],
    { maxKeys, left }: { readonly maxKeys: number; readonly left: number },
  ): readonly Row[] {
    const prefixes = (json['commonPrefixes'] as readonly string[]).map((key) => ({ key, row: key }))
    const page = sorted([...entries, ...prefixes])
    assert.equal(page.length, Math.min(maxKeys, left), 'a page is full, or the last one')
    assert.equal(json['isTruncated'], left > maxKeys)
    return page.map(({ row }) => row)
  }

  #pageSize(rows: number): number {
    const size = this.#random.chance(0.3) ? 1000 : 1 + this.#random.below(6)
    return Math.max(size, Math.ceil(rows / PAGES_MAX))
  }
}

interface Entry {
  readonly key: string
  readonly row: Row
}

interface Listed {
  readonly key: string
  readonly versionId: string
  readonly etag: string
  readonly size: number
  readonly isLatest: boolean
  readonly isDeleteMarker: boolean
}

function visible(bucket: ModelBucket, key: string, versionId: string | null): ModelVersion | undefined {
  return versionId === null ? bucket.keys.get(key)?.[0] : named(bucket, key, versionId)
}

/** Sorted by the bytes of the keys; entries of one key keep their order. */
function sorted(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
}

function grouped(entries: readonly Entry[], prefix: string, delimiter: string): readonly Row[] {
  const rows = entries.flatMap(({ key, row }) => {
    if (!key.startsWith(prefix)) return []
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    return [at === -1 ? row : key.slice(0, at + delimiter.length)]
  })
  return rows.filter((row, n) => delimiter === '' || rows.indexOf(row) === n)
}
