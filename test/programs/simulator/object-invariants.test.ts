/**
 * The invariants of buckets and objects fail where the rows of a batch break one, for any answers to its commands; each
 * batch here is one that apply must never make.
 */
import t from 'tap'
import { versionKeys } from '../../../src/state-machine/versions/keys.ts'
import { usageKeys } from '../../../src/state-machine/usage/keys.ts'
import { objectKeys } from '../../../src/state-machine/objects/keys.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import type { Row } from '../../../src/state-machine/base/view.ts'
import type { Command } from '../../../src/state-machine/commands.ts'
import type { BucketRecord } from '../../../src/state-machine/buckets/records.ts'
import type { IdempotencyRecord } from '../../../src/state-machine/objects/records.ts'
import type { ObjectRecord } from '../../../src/state-machine/versions/records.ts'
import { createBucket, createTenant, MapWorld, put, remove } from '../../state-machine/map-world.ts'
import { completeUpload } from '../../state-machine/upload-commands.ts'
import { type BatchDone, ObjectInvariants, type RowChange } from './object-invariants.ts'

const UNTIL = 1_900_000_000_000
const BODY = { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(1) } as const

/** `acme` with a bucket that has locks. */
function lockedWorld(): MapWorld {
  const world = new MapWorld()
  world.do(createTenant('acme'))
  world.do(createBucket('photos', { versioning: 'Enabled', objectLockEnabled: true }))
  return world
}

function bucketIn(world: MapWorld): BucketRecord {
  const bucket = world.get(bucketKeys.bucket('acme', 'photos'))
  if (bucket === undefined) throw new Error('there is a bucket')
  return bucket
}

function batchOf(world: MapWorld, changes: readonly RowChange[], more: Partial<BatchDone> = {}): BatchDone {
  return { changes, done: [], time: world.time, state: world, ...more }
}

function check(batch: BatchDone, invariants = new ObjectInvariants()): () => void {
  return () => invariants.check(batch)
}

t.test('ObjectInvariants', (t) => {
  t.test('a version under retention stays, and stays as long', (t) => {
    const world = lockedWorld()
    const retention = { mode: 'COMPLIANCE', until: UNTIL } as const
    const { object } = world.do({ ...put('a', BODY, 1), retention })
    const key = versionKeys.object(bucketIn(world).id, 'a')
    const becomes = (after: Row | undefined) => batchOf(world, [{ key, before: object, after }])
    t.throws(check(becomes(undefined)), /is locked and gone/)
    t.throws(check(becomes({ ...object, retention: null })), /less retained/)
    t.throws(check(becomes({ ...object, retention: { ...retention, until: UNTIL - 1 } })), /less retained/)
    t.throws(check(becomes({ ...object, retention: { ...retention, mode: 'GOVERNANCE' } })), /less retained/)
    t.doesNotThrow(check(becomes({ ...object, retention: { ...retention, until: UNTIL + 1 } })))
    t.doesNotThrow(check({ ...becomes(undefined), time: UNTIL }), 'its retention has ended')
    const bypass = { ...remove('a', object.versionId), bypassGovernance: true } as const
    const done = [{ command: bypass, reply: { ok: true, value: null } as never }]
    t.throws(check({ ...becomes(undefined), done }), /is locked and gone/, 'COMPLIANCE is not set aside')
    const governed = { ...object, retention: { ...retention, mode: 'GOVERNANCE' } } as const
    const goes = [{ key, before: governed, after: undefined }]
    t.throws(check(batchOf(world, goes)), /is locked and gone/)
    t.doesNotThrow(check(batchOf(world, goes, { done })), 'GOVERNANCE is')
    const below = versionKeys.version(bucketIn(world).id, 'a', object.versionId)
    const moved = { key: below, before: undefined, after: { ...object, newer: 'Z' } }
    t.doesNotThrow(check(batchOf(world, [{ key, before: object, after: undefined }, moved])), 'it is hidden')
    t.end()
  })

  t.test('a version under legal hold stays until the hold is removed', (t) => {
    const world = lockedWorld()
    const { object } = world.do({ ...put('a', BODY, 1), legalHold: true })
    const key = versionKeys.object(bucketIn(world).id, 'a')
    const gone = batchOf(world, [{ key, before: object, after: undefined }])
    const name = { tenantId: 'acme', bucket: 'photos', key: 'a', versionId: null }
    const command: Command = { type: 'setObjectLegalHold', ...name, legalHold: false }
    t.throws(check(gone), /is locked and gone/)
    t.throws(
      check(batchOf(world, [{ key, before: object, after: { ...object, legalHold: false } }])),
      /lost its/,
    )
    t.doesNotThrow(check({ ...gone, done: [{ command, reply: { ok: true, value: object } }] }))
    t.end()
  })

  t.test('nothing grows beyond a quota', (t) => {
    const world = lockedWorld()
    world.do({ type: 'setQuota', tenantId: 'acme', maxBytes: 10, maxObjects: 2, maxBuckets: null })
    world.do(put('a', BODY, 8))
    const key = usageKeys.usage('acme')
    const before = world.get(key)
    if (before === undefined) throw new Error('the stored bytes are counted')
    const grows = (from: number, to: number) =>
      check(
        batchOf(world, [
          { key, before: { ...before, logicalBytes: from }, after: { ...before, uploadBytes: to - 8 } },
        ]),
      )
    t.throws(grows(8, 11), /stores 11 of at most 10 bytes/)
    t.doesNotThrow(grows(8, 10))
    t.doesNotThrow(grows(20, 15), 'a quota that was lowered is met step by step')
    const more = batchOf(world, [{ key, before, after: { ...before, objects: 3 } }])
    const command = remove('a')
    const reply = { ok: true, value: { existed: true, version: null, isMade: false } } as const
    t.throws(check(more), /stores 3 of at most 2 objects/)
    t.doesNotThrow(
      check({ ...more, done: [{ command, reply }] }),
      'an object hidden by a marker is visible again',
    )
    t.end()
  })

  t.test('a bucket that is deleted was empty, and its name is released only by the deletion', (t) => {
    const world = lockedWorld()
    const bucket = bucketIn(world)
    world.do(put('a', BODY, 1))
    const key = bucketKeys.bucket('acme', 'photos')
    const gone = [{ key, before: bucket, after: undefined }]
    const command: Command = { type: 'deleteBucket', tenantId: 'acme', name: 'photos' }
    const done = [{ command, reply: { ok: true as const, value: null } }]
    t.throws(check(batchOf(world, gone)), /no command deleted it/)
    t.throws(
      check(batchOf(world, [{ key, before: bucket, after: { ...bucket, id: 'another' } }])),
      /another one/,
    )
    t.throws(check(batchOf(world, gone, { done })), /held a row "object"/)
    world.rows.delete(versionKeys.object(bucket.id, 'a'))
    t.doesNotThrow(check(batchOf(world, gone, { done })))
    t.end()
  })

  t.test('an idempotency key makes one version while its answer is kept', (t) => {
    const world = lockedWorld()
    const { object } = world.do(put('a', BODY, 1))
    const key = objectKeys.idempotency(bucketIn(world).id, 'a', 'once')
    const record: IdempotencyRecord = { fingerprint: 'f', object, expiresAt: world.time + 10 }
    const again = { ...record, object: { ...object, versionId: 'Z' } }
    const invariants = new ObjectInvariants()
    const kept = (after: IdempotencyRecord, time: number) =>
      check(batchOf(world, [{ key, before: undefined, after }], { time }), invariants)
    kept(record, world.time)()
    t.doesNotThrow(kept(record, world.time))
    t.throws(kept(again, world.time), /an idempotency key made/)
    t.doesNotThrow(kept(again, record.expiresAt))
    t.end()
  })

  t.test('an upload becomes one version', (t) => {
    const world = lockedWorld()
    const { object } = world.do(put('a', BODY, 1))
    const command = completeUpload({ key: 'a', uploadId: 'mpu' }, 1)
    const invariants = new ObjectInvariants()
    const completed = (value: ObjectRecord) =>
      check(batchOf(world, [], { done: [{ command, reply: { ok: true, value } }] }), invariants)
    completed(object)()
    t.doesNotThrow(completed(object))
    t.throws(completed({ ...object, versionId: 'Z' }), /completed twice/)
    t.end()
  })

  t.test('apply breaks none', (t) => {
    const world = lockedWorld()
    const before = new Map(world.rows)
    const command = put('a', BODY, 1)
    const commands: readonly Command[] = [command, remove('a'), command]
    const replies = world.entry(commands)
    const names = new Set([...before.keys(), ...world.rows.keys()])
    const changes = [...names].map((key) => ({ key, before: before.get(key), after: world.rows.get(key) }))
    const done = replies.flatMap((reply, n) => {
      const one = commands[n]
      return one === undefined ? [] : [{ command: one, reply }]
    })
    t.doesNotThrow(check(batchOf(world, changes, { done })))
    t.end()
  })
  t.end()
})
