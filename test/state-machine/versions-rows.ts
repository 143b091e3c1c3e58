/**
 * Checks that the rows of a state agree with a model of what users see.
 *
 * Owns: the mapping from versions, parts and counts to their rows. Knows nothing of: how either was made.
 * Rule: it checks every row of a key, not only those that a reader would find.
 */
import assert from 'node:assert/strict'
import { versionKeys, versionRanges } from '../../src/state-machine/versions/keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { objectKeys } from '../../src/state-machine/objects/keys.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import { readParts } from '../../src/state-machine/bodies/bodies.ts'
import { readManifest } from '../../src/state-machine/bodies/manifests.ts'
import type { BodyRecord, PartPageRecord, UploadPageRecord } from '../../src/state-machine/bodies/records.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import type { ObjectRecord, VersionRecord } from '../../src/state-machine/versions/records.ts'
import { NO_USAGE } from '../../src/state-machine/usage/usage.ts'
import { currentObject, findVersion, newestVersion } from '../../src/state-machine/versions/versions.ts'
import { type MapWorld, partsOf, rowsOf, rowsUnder } from './map-world.ts'
import {
  allVersions,
  logicalBytes,
  type ModelBucket,
  type ModelVersion,
  objectCount,
  uploadBytes,
} from './model-bucket.ts'
import type { VersionsModel } from './versions-model.ts'

type Rows = Pick<MapWorld, 'rows' | 'get'>

export function rowOf(world: Rows, bucketId: string, key: string, id: string): ObjectRecord | undefined {
  const current = world.get(versionKeys.object(bucketId, key))
  const found = current?.versionId === id ? current : world.get(versionKeys.version(bucketId, key, id))
  return found?.kind === 'object' ? found : undefined
}

/** The content of a body, assembled from its rows like a reader does. */
export function contentOf(
  world: Rows,
  bucketId: string,
  { versionId, body }: ObjectRecord,
): readonly string[] {
  return piecesOf(world, bucketId, versionId, body)
}

function piecesOf(world: Rows, bucketId: string, id: string, body: BodyRecord): readonly string[] {
  switch (body.kind) {
    case 'empty':
      return []
    case 'inline':
      return [`inline ${world.get(bodyKeys.inlineBody(bucketId, id))?.sealed[0]}`]
    case 'chunks':
      return readManifest(world, bucketId, id, body.count).map((link) => link.id)
    case 'parts': {
      const bucket = { id: bucketId, tenantId: 'acme' }
      const parts = readParts(world, { bucket, id }, body.count)
      return parts.flatMap((part) => piecesOf(world, bucketId, part.partId, part.body))
    }
  }
}

/** `models`: for each tenant what its users must see. */
export function checkRows(world: Rows, models: ReadonlyMap<string, VersionsModel>): void {
  for (const [tenantId, model] of models) checkTenant(world, tenantId, model)
  const inBuckets =
    rowsOf<VersionRecord>(world, 'object').length + rowsOf<VersionRecord>(world, 'version').length
  const known = [...models.values()].flatMap(({ buckets }) => [...buckets.values()].flatMap(allVersions))
  assert.equal(inBuckets, known.length, 'no version outlives its bucket')
}

function checkTenant(world: Rows, tenantId: string, model: VersionsModel): void {
  const buckets = rowsOf<BucketRecord>(world, 'bucket').filter((row) => row.tenantId === tenantId)
  assert.deepEqual(new Set(buckets.map(({ name }) => name)), new Set(model.buckets.keys()))
  for (const row of buckets) {
    const held = model.buckets.get(row.name)
    assert(held !== undefined)
    checkCounts(row, held)
    checkUploads(world, row, held)
    checkKeys(world, row, held)
  }
  const {
    objects,
    logicalBytes: bytes,
    uploadBytes: parts,
  } = world.get(usageKeys.usage(tenantId)) ?? NO_USAGE
  assert.deepEqual([objects, bytes + parts], [model.objects(), model.bytes()])
}

/** Keys that hold something, and keys that users may request without one. */
function checkKeys(world: Rows, { id }: BucketRecord, held: ModelBucket): void {
  const all = rowsUnder<VersionRecord>(world, versionRanges.versions(id))
  for (const key of new Set([...held.keys.keys(), 'a', 'b/c'])) {
    const below = all.filter((row) => row.key === key)
    checkKey(world, { bucket: id, key, below }, held.keys.get(key) ?? [])
  }
}

function checkCounts(row: BucketRecord, held: ModelBucket): void {
  const markers = allVersions(held).filter(({ isMarker }) => isMarker).length
  const { objectCount: objects, versionCount, deleteMarkerCount, uploadCount, versioning } = row
  assert.deepEqual(
    [objects, versionCount, deleteMarkerCount, uploadCount, versioning],
    [objectCount(held), allVersions(held).length - markers, markers, held.uploads.size, held.versioning],
  )
  assert.deepEqual([row.logicalBytes, row.uploadBytes], [logicalBytes(held), uploadBytes(held)])
}

interface KeyRows {
  readonly bucket: string
  readonly key: string
  /** The version rows of a key, newest first. */
  readonly below: readonly VersionRecord[]
}

function checkKey(world: Rows, { bucket, key, below }: KeyRows, expected: readonly ModelVersion[]): void {
  const current = currentObject(world, bucket, key)
  const rows = current === undefined ? below : [current, ...below]
  assert.deepEqual(
    rows.map(({ versionId }) => versionId),
    expected.map(({ id }) => id),
  )
  assert.equal(newestVersion(world, bucket, key), rows[0])
  assert.equal(current, rows[0]?.kind === 'object' ? rows[0] : undefined, 'only the newest is current')
  const nulls = rows.filter(({ isNull }) => isNull)
  assert.ok(nulls.length <= 1)
  assert.equal(findVersion(world, bucket, key, 'null'), nulls[0])
  rows.forEach((row, n) => {
    const version = expected[n]
    assert(version !== undefined)
    const links = [rows[n - 1]?.versionId ?? null, rows[n + 1]?.versionId ?? null]
    assert.deepEqual([row.newer, row.older], links, 'neighbours name each other')
    assert.equal(row.isNull, version.isNull)
    assert.equal(findVersion(world, bucket, key, version.id), version.isNull ? undefined : row)
    assert.equal(row.kind === 'deleteMarker', version.isMarker)
    if (row.kind === 'deleteMarker') return
    const { size, etag, tags, retention, legalHold } = version
    assert.deepEqual(
      [row.size, row.etag, row.tags, row.retention, row.legalHold],
      [size, etag, tags, retention, legalHold],
    )
    assert.deepEqual(contentOf(world, bucket, row), version.content)
  })
}

function checkUploads(world: Rows, { id }: BucketRecord, { uploads }: ModelBucket): void {
  for (const [uploadId, { key, parts }] of uploads) {
    const row = world.get(objectKeys.upload(id, key, uploadId))
    assert.equal(row?.partCount, parts.size)
    const stored = partsOf(world, id, uploadId)
    const expected = [...parts].sort(([one], [other]) => one - other)
    assert.deepEqual(
      stored.map(({ partNumber, etag, size }) => [partNumber, etag, size]),
      expected.map(([partNumber, { etag, size }]) => [partNumber, etag, size]),
    )
  }
}

/** Every row of bytes belongs to a version, to a part of one, or to a part of an open upload. */
export function checkOwners(world: Rows): void {
  const versions = [...rowsOf<VersionRecord>(world, 'object'), ...rowsOf<VersionRecord>(world, 'version')]
  const pages = rowsOf<PartPageRecord>(world, 'partPage')
  const owners = new Set([
    ...versions.map(({ versionId }) => versionId),
    ...pages.flatMap(({ parts }) => parts.map(({ partId }) => partId)),
    ...rowsOf<UploadPageRecord>(world, 'uploadPage').flatMap(({ parts }) =>
      parts.map(({ partId }) => partId),
    ),
  ])
  const uploads = new Set(rowsOf<{ uploadId: string }>(world, 'upload').map(({ uploadId }) => uploadId))
  for (const key of world.rows.keys()) {
    const id = key.split('\u0000')[3] ?? ''
    const kind = kindOf(key)
    if (['inlineBody', 'manifestPage', 'partPage'].includes(kind))
      assert.ok(owners.has(id), `${kind} without an owner`)
    if (kind === 'uploadPage') assert.ok(uploads.has(id), 'a part of no upload')
  }
}
