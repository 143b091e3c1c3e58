/**
 * Random histories of versions, locks, copies, uploads and quotas against a model of what users see; after every entry
 * the rows say the same, nothing under a lock is gone, and at rest no bytes are left that nobody owns.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { readParts } from '../../src/state-machine/bodies.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { keys, kindOf, ranges } from '../../src/state-machine/keys.ts'
import { readManifest } from '../../src/state-machine/manifests.ts'
import type {
  BodyRecord,
  BucketRecord,
  ObjectRecord,
  PartPageRecord,
  UploadPageRecord,
  VersionRecord,
} from '../../src/state-machine/records.ts'
import { NO_USAGE } from '../../src/state-machine/usage.ts'
import { currentObject, findVersion, newestVersion } from '../../src/state-machine/versions.ts'
import {
  createBucket,
  createTenant,
  MapWorld,
  OPEN_SESSION,
  recounted,
  releaseAll,
  rowsOf,
  partsOf,
  rowsUnder,
} from './map-world.ts'
import {
  allVersions,
  isLocked,
  logicalBytes,
  type ModelBucket,
  type ModelVersion,
  objectCount,
  uploadBytes,
} from './model-bucket.ts'
import { VersionsModel } from './versions-model.ts'
import { commandOf, type Step, step, versioningOf } from './versions-steps.ts'

const HOUR_MS = 3_600_000
const PASSES = [1, 3, 25, 170]

class Comparison {
  readonly world = new MapWorld()
  readonly model = new VersionsModel()
  #entries = 0

  constructor() {
    this.world.do(createTenant('acme'))
    this.world.entry([OPEN_SESSION])
    for (const name of ['plain', 'kept', 'locked']) this.#run([createBucket(name, versioningOf(name))])
  }

  entry(steps: readonly Step[]): void {
    for (const step of steps) {
      if (step.op === 'pass') this.world.time += (PASSES[step.more % 4] ?? 1) * HOUR_MS
      if (step.op === 'damage') this.#damage(step)
    }
    const commands = steps.map((step, n) => commandOf(step, this.world, this.model, n))
    this.#run(commands.filter((command) => command !== null))
  }

  /** Nothing is discarded any more, and nobody is under way. */
  rest(): void {
    releaseAll(this.world)
    assert.deepEqual(recounted(this.world), [])
    checkOwners(this.world)
  }

  #run(commands: readonly Command[]): void {
    if (commands.length === 0) return
    const { world, model } = this
    const locked = lockedIn(model, world.time + 7, commands)
    const replies = world.entry(commands)
    commands.forEach((command, n) => {
      const reply = replies[n]
      assert(reply !== undefined)
      model.take(command, reply, world.time)
    })
    for (const { bucketId, key, id, content } of locked) {
      const row = rowOf(world, bucketId, key, id)
      assert(row !== undefined, `version ${id} of ${key} is locked and gone`)
      assert.deepEqual(contentOf(world, bucketId, row), content)
    }
    checkRows(world, model)
    if (++this.#entries % 8 === 0) assert.deepEqual(recounted(world), [])
  }

  #damage({ bucket: name, key, pick, more }: Step): void {
    const bucket = this.world.get(keys.bucket('acme', name))
    const versions = this.model.buckets.get(name)?.keys.get(key) ?? []
    const version = versions[pick % Math.max(1, versions.length)]
    if (bucket === undefined || version === undefined || version.isMarker) return
    const found = rowOf(this.world, bucket.id, key, version.id)
    assert(found !== undefined)
    if (more % 3 === 0) version.legalHold = 'ON' as never
    else version.retention = UNREADABLE[more % UNREADABLE.length] as ModelVersion['retention']
    const { retention, legalHold } = version
    const isCurrent = found.newer === null
    const row = isCurrent ? keys.object(bucket.id, key) : keys.version(bucket.id, key, version.id)
    this.world.rows.set(row, { ...found, retention, legalHold })
  }
}

const UNREADABLE: readonly unknown[] = [
  { mode: 'GOVERNANCE' },
  { mode: 'COMPLIANCE', until: 'soon' },
  { mode: 'NONE', until: 1 },
  { mode: 'GOVERNANCE', until: -5 },
  { mode: 'GOVERNANCE', until: Number.NaN },
]

/** What no command of an entry may remove; a legal hold may be taken off by one of them. */
function lockedIn({ buckets }: VersionsModel, time: number, commands: readonly Command[]) {
  const isHoldOff = commands.some(({ type }) => type === 'setObjectLegalHold')
  const isKept = (version: ModelVersion) =>
    isLocked(isHoldOff ? { ...version, legalHold: false } : version, time)
  return [...buckets.values()].flatMap(({ id: bucketId, keys }) =>
    [...keys].flatMap(([key, versions]) =>
      versions.filter(isKept).map(({ id, content }) => ({ bucketId, key, id, content })),
    ),
  )
}

function rowOf(world: MapWorld, bucketId: string, key: string, id: string): ObjectRecord | undefined {
  const current = world.get(keys.object(bucketId, key))
  const found = current?.versionId === id ? current : world.get(keys.version(bucketId, key, id))
  return found?.kind === 'object' ? found : undefined
}

/** From the rows of its body, as a reader puts it together. */
function contentOf(world: MapWorld, bucketId: string, { versionId, body }: ObjectRecord): readonly string[] {
  return piecesOf(world, bucketId, versionId, body)
}

function piecesOf(world: MapWorld, bucketId: string, id: string, body: BodyRecord): readonly string[] {
  switch (body.kind) {
    case 'empty':
      return []
    case 'inline':
      return [`inline ${world.get(keys.inlineBody(bucketId, id))?.sealed[0]}`]
    case 'chunks':
      return readManifest(world, bucketId, id, body.count).map((link) => link.id)
    case 'parts': {
      const bucket = { id: bucketId, tenantId: 'acme' }
      const parts = readParts(world, { bucket, id }, body.count)
      return parts.flatMap((part) => piecesOf(world, bucketId, part.partId, part.body))
    }
  }
}

function checkRows(world: MapWorld, model: VersionsModel): void {
  const buckets = rowsOf<BucketRecord>(world, 'bucket')
  assert.deepEqual(new Set(buckets.map(({ name }) => name)), new Set(model.buckets.keys()))
  for (const row of buckets) {
    const held = model.buckets.get(row.name)
    assert(held !== undefined)
    checkCounts(row, held)
    checkUploads(world, row, held)
    const names = new Set([...held.keys.keys(), 'a', 'b/c'])
    for (const key of names) checkKey(world, row.id, key, held.keys.get(key) ?? [])
  }
  const { objects, logicalBytes: bytes, uploadBytes: parts } = world.get(keys.usage('acme')) ?? NO_USAGE
  assert.deepEqual([objects, bytes + parts], [model.objects(), model.bytes()])
  const inBuckets =
    rowsOf<VersionRecord>(world, 'object').length + rowsOf<VersionRecord>(world, 'version').length
  const known = [...model.buckets.values()].reduce((sum, held) => sum + allVersions(held).length, 0)
  assert.equal(inBuckets, known, 'no version outlives its bucket')
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

function checkKey(world: MapWorld, bucket: string, key: string, expected: readonly ModelVersion[]): void {
  const current = currentObject(world, bucket, key)
  const others = rowsUnder<VersionRecord>(world, ranges.versions(bucket)).filter((row) => row.key === key)
  const rows = current === undefined ? others : [current, ...others]
  assert.deepEqual(
    rows.map(({ versionId }) => versionId),
    expected.map(({ id }) => id),
  )
  assert.equal(newestVersion(world, bucket, key), rows[0])
  assert.equal(current, rows[0]?.kind === 'object' ? rows[0] : undefined, 'the newest alone is current')
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

function checkUploads(world: MapWorld, { id }: BucketRecord, { uploads }: ModelBucket): void {
  for (const [uploadId, { key, parts }] of uploads) {
    const row = world.get(keys.upload(id, key, uploadId))
    assert.equal(row?.partCount, parts.size)
    const stored = partsOf(world, id, uploadId)
    const expected = [...parts].sort(([one], [other]) => one - other)
    assert.deepEqual(
      stored.map(({ partNumber, etag, size }) => [partNumber, etag, size]),
      expected.map(([partNumber, { etag, size }]) => [partNumber, etag, size]),
    )
  }
}

/** Every row of bytes belongs to a version, or to a part of one, or to a part of an upload that is under way. */
function checkOwners(world: MapWorld): void {
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
      assert.ok(owners.has(id), `${kind} of nobody`)
    if (kind === 'uploadPage') assert.ok(uploads.has(id), 'a part of no upload')
  }
}

t.test('versions agree with what users see after any history', (t) => {
  const entry = fc.array(step, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60, size: 'max' }), (history) => {
      const comparison = new Comparison()
      for (const steps of history) comparison.entry(steps)
      comparison.rest()
    }),
    { seed: 31, numRuns: 150 },
  )
  t.end()
})
