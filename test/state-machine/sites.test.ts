/** Which change of a bucket waits for its other site, and what becomes of it. [docs/adr/0090-replication-to-a-second-site.md] */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { siteKeys } from '../../src/state-machine/sites/keys.ts'
import { MARK_NAME, markText, readMark } from '../../src/state-machine/sites/mark.ts'
import { SITE_CHANGES_MAX, type SiteChangeRecord } from '../../src/state-machine/sites/records.ts'
import { SEND_ATTEMPTS_MAX } from '../../src/state-machine/sites/sending-schedule.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { actOn, ruleWith, setLifecycle } from './lifecycle-samples.ts'
import { bucketId } from './hook-commands.ts'
import { createBucket, MapWorld, put, recounted, remove, rowsOf, worldWithBucket } from './map-world.ts'
import { MARK, namesOf, sendOf, setReplication, siteRule, siteState, waiting } from './site-commands.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

const EMPTY = { kind: 'empty' } as const
const marked = (key: string, more = {}) => ({
  ...put(key, EMPTY, 0),
  metadata: { [MARK_NAME]: markText(MARK), ...more },
})
const tagged = (key: string, tags: Readonly<Record<string, string>>) => ({ ...put(key, EMPTY, 0), tags })

const sealed = (key: string) => ({
  ...put(key, EMPTY, 0),
  customerSeal: { salt: 'salt', proof: 'proof' },
})

function replicated(...rules: readonly ReturnType<typeof siteRule>[]): MapWorld {
  const world = worldWithBucket()
  world.do(setReplication(world, rules.length === 0 ? [siteRule()] : rules))
  return world
}

function versioned(...rules: readonly ReturnType<typeof siteRule>[]): MapWorld {
  const world = worldWithBucket()
  world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
  world.do(setReplication(world, rules.length === 0 ? [siteRule()] : rules))
  return world
}

t.test('a change waits from its own entry on', async (t) => {
  t.test('each put, copy, completion, change of tags and deletion, in the order of the log', async (t) => {
    const world = versioned()
    world.do(put('a', EMPTY, 0))
    const { uploadId } = world.do(createUpload('b'))
    world.do(putPart({ key: 'b', uploadId, partNumber: 1 }, ['x']))
    world.do(completeUpload({ key: 'b', uploadId }, 1))
    world.do({
      type: 'setObjectTags',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'a',
      versionId: null,
      tags: { x: 'y' },
    })
    world.do(remove('a'))
    t.same(namesOf(waiting(world)), ['put a', 'put b', 'tags a', 'delete a'])
    const state = siteState(world)
    t.same([state.pending, state.failed], [4, 0])
    t.equal(
      state.pendingBytes,
      waiting(world).reduce((sum, { bytes }) => sum + bytes, 0),
    )
    t.ok(state.pendingBytes > 0, 'the bytes of the upload wait')
    t.same(recounted(world), [])
  })

  t.test('of a batch each item has a row of its own', async (t) => {
    const world = versioned()
    for (const key of ['a', 'b', 'c']) world.do(put(key, EMPTY, 0))
    const items = ['a', 'b', 'c'].map((key) => ({ key, versionId: null }))
    world.do({ type: 'deleteObjects', tenantId: 'acme', bucket: 'photos', items })
    t.same(namesOf(waiting(world)).slice(3), ['delete a', 'delete b', 'delete c'])
  })

  t.test('none of a bucket without replication, and none of a refused command', async (t) => {
    const plain = worldWithBucket()
    plain.do(put('a', EMPTY, 0))
    t.same(waiting(plain), [])
    const world = replicated()
    const precondition = { ifMatch: ['other'], ifNoneMatch: null }
    t.match(world.run({ ...put('a', EMPTY, 0), precondition }), { ok: false })
    t.same(waiting(world), [])
  })

  t.test('only what an enabled rule names, and the first of them decides', async (t) => {
    const world = versioned(
      siteRule({ id: 'off', isEnabled: false }),
      siteRule({ id: 'kept', prefix: 'in/keep/', deletes: 'none' }),
      siteRule({ id: 'in', prefix: 'in/', deletes: 'all' }),
      siteRule({ id: 'tag', tags: { site: 'b' }, deletes: 'none' }),
    )
    world.do(put('out/a', EMPTY, 0))
    world.do(put('in/a', EMPTY, 0))
    world.do(put('in/keep/a', EMPTY, 0))
    world.do(tagged('out/b', { site: 'b', other: 'x' }))
    world.do(tagged('out/c', { site: 'c' }))
    for (const key of ['out/a', 'in/a', 'in/keep/a', 'out/b']) world.do(remove(key))
    t.same(namesOf(waiting(world)), ['put in/a', 'put in/keep/a', 'put out/b', 'delete in/a'])
  })

  t.test('a version that is removed by its id is sent by `all` alone', async (t) => {
    for (const [deletes, expected] of [
      ['none', []],
      ['markers', []],
      ['all', ['remove a']],
    ] as const) {
      const world = versioned(siteRule({ deletes }))
      const { object } = world.do(put('a', EMPTY, 0))
      world.do(remove('a', object.versionId))
      t.same(namesOf(waiting(world)).slice(1), expected, deletes)
    }
  })

  t.test('in a bucket without versions a deletion is one without a version', async (t) => {
    const world = replicated(siteRule({ deletes: 'markers' }))
    world.do(put('a', EMPTY, 0))
    world.do(remove('a'))
    t.same(namesOf(waiting(world)), ['put a', 'delete a'])
    const [made, gone] = waiting(world)
    t.equal(gone?.versionId, made?.versionId, 'it names the version that is gone')
  })

  t.test('what a lifecycle rule removes is not sent', async (t) => {
    for (const world of [replicated(siteRule({ deletes: 'all' })), versioned(siteRule({ deletes: 'all' }))]) {
      const { object } = world.do(put('a', EMPTY, 0))
      world.do(setLifecycle(ruleWith({ expiration: { days: 1 } })))
      world.time += 400 * 86_400_000
      const done = world.do(actOn(world, { key: 'a', versionId: object.versionId }))
      t.equal(done.done.length, 1, 'it is expired')
      t.same(namesOf(waiting(world)), ['put a'])
    }
  })
})

t.test('two sites do not loop', async (t) => {
  t.test('a version that carries a mark is not sent on, nor what becomes of its settings', async (t) => {
    const world = versioned(siteRule({ deletes: 'all' }))
    const { object } = world.do(marked('a'))
    world.do({
      type: 'setObjectTags',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'a',
      versionId: null,
      tags: { x: 'y' },
    })
    world.do(remove('a', object.versionId))
    t.same(waiting(world), [])
    t.same(recounted(world), [])
  })

  t.test('text that is no mark is metadata like any other', async (t) => {
    const world = replicated()
    for (const [n, text] of ['', '1 c b v 1', 'x'.repeat(300), `${markText(MARK)} more`].entries())
      world.do({ ...put(`k${n}`, EMPTY, 0), metadata: { [MARK_NAME]: text } })
    t.equal(waiting(world).length, 4)
    t.same(readMark(markText(MARK)), MARK)
  })

  t.test('a copy of a replica is a version of this site', async (t) => {
    const world = replicated()
    const { object } = world.do(marked('a'))
    const source = { bucket: 'photos', key: 'a', versionId: object.versionId }
    const {
      body: _,
      size: __,
      etag: ___,
      checksums: ____,
      idempotency: _____,
      type: ______,
      ...version
    } = marked('b')
    world.do({ type: 'copyObject', ...version, source })
    t.same(namesOf(waiting(world)), ['put b'])
  })

  t.test('a deletion of a replica is sent, unless it repeats one of the other site', async (t) => {
    for (const make of [replicated, versioned]) {
      const world = make()
      world.do(marked('a'))
      world.do({ ...remove('a'), replicaOf: markText(MARK) })
      t.same(waiting(world), [], 'it came from there')
      world.do(marked('b'))
      world.do(remove('b'))
      t.same(namesOf(waiting(world)), ['delete b'], 'a client asked for it here')
    }
  })
})

t.test('results of attempts', async (t) => {
  t.test('leave the queue in the entry that records them, and count once', async (t) => {
    const world = replicated()
    for (const key of ['a', 'b', 'c']) world.do(put(key, EMPTY, 0))
    const [a, b, c] = waiting(world) as [SiteChangeRecord, SiteChangeRecord, SiteChangeRecord]
    const results = [sendOf(world, a, 'sent'), sendOf(world, b, 'skipped'), sendOf(world, c, 'conflict')]
    t.same(world.do({ type: 'recordSends', results }), { recorded: 3 })
    t.same(world.do({ type: 'recordSends', results }), { recorded: 0 }, 'again changes nothing')
    t.match(siteState(world), { pending: 0, sent: 1, skipped: 1, conflicts: 1, lastSentAt: world.time - 7 })
    t.equal(world.get(siteKeys.busySite(bucketId(world))), undefined)
    t.same(recounted(world), [])
  })

  t.test('a failed attempt is repeated later, and the last one gives the change up', async (t) => {
    const world = replicated()
    world.do(put('a', EMPTY, 0))
    for (let attempts = 1; attempts < SEND_ATTEMPTS_MAX; attempts++) {
      const [change] = waiting(world) as [SiteChangeRecord]
      const before = sendOf(world, change, 'failed')
      world.do({ type: 'recordSends', results: [before] })
      t.same(world.do({ type: 'recordSends', results: [before] }), { recorded: 0 }, 'a result counts once')
      t.match(waiting(world), [{ attempts, lastError: 'is failed' }])
      t.ok((waiting(world)[0]?.dueAt ?? 0) > world.time, 'it is due later')
    }
    const [change] = waiting(world) as [SiteChangeRecord]
    world.do({ type: 'recordSends', results: [sendOf(world, change, 'failed')] })
    t.match(siteState(world), { pending: 0, failed: 1, pendingBytes: 0 })
    t.match(rowsOf(world, 'failedSiteChange'), [{ key: 'a', attempts: SEND_ATTEMPTS_MAX }])
    t.same(recounted(world), [])
  })

  t.test('a refused one is given up at once; repeated it waits in its old place', async (t) => {
    const world = replicated()
    for (const key of ['a', 'b']) world.do(put(key, EMPTY, 0))
    const [a] = waiting(world) as [SiteChangeRecord]
    world.do({ type: 'recordSends', results: [sendOf(world, a, 'refused')] })
    t.same(namesOf(waiting(world)), ['put b'])
    const retry = {
      type: 'retrySiteChanges',
      tenantId: 'acme',
      name: 'photos',
      changeIds: [a.changeId],
    } as const
    t.same(world.do(retry), { retried: 1 })
    t.same(world.do(retry), { retried: 0 })
    t.match(waiting(world), [{ key: 'a', attempts: 0 }, { key: 'b' }])
    t.match(siteState(world), { pending: 2, failed: 0 })
    t.same(recounted(world), [])
  })

  t.test('a target that does not answer pauses the bucket, ever longer, and costs no attempt', async (t) => {
    const world = replicated()
    for (const key of ['a', 'b']) world.do(put(key, EMPTY, 0))
    const pauses: number[] = []
    for (let n = 0; n < 9; n++) {
      const results = waiting(world).map((change) => sendOf(world, change, 'unreachable'))
      world.do({ type: 'recordSends', results })
      t.equal(siteState(world).failures, n + 1, 'attempts of one moment count once')
      pauses.push(siteState(world).notBefore - world.time)
      world.time = siteState(world).notBefore
    }
    t.same(pauses.slice(0, 3), [1000, 2000, 4000])
    t.same(pauses.slice(-2), [60_000, 60_000], 'never longer than a minute')
    t.match(waiting(world), [{ attempts: 0 }, { attempts: 0 }])
    const [a] = waiting(world) as [SiteChangeRecord]
    world.do({ type: 'recordSends', results: [sendOf(world, a, 'sent')] })
    t.match(siteState(world), { failures: 0, failingSince: null, notBefore: 0, lastError: null })
  })
})

t.test('the queue has a bound', async (t) => {
  const world = replicated()
  const full = { ...siteState(world), failed: SITE_CHANGES_MAX }
  world.rows.set(siteKeys.siteState(bucketId(world)), full)
  world.do(put('a', EMPTY, 0))
  t.same(waiting(world), [], 'the write passes, and no row is made')
  t.match(siteState(world), { dropped: 1, pending: 0 })
  t.ok(world.get(siteKeys.busySite(bucketId(world))), 'the node on duty sees that a resync is due')
})

t.test('setBucketReplication', async (t) => {
  t.test('replaces target and rules, and keeps what waits', async (t) => {
    const world = replicated()
    world.do(put('a', EMPTY, 0))
    const other = { ...setReplication(world, []), target: { ...setReplication(world).target, bucket: 'c2' } }
    world.do(other)
    t.match(world.get(siteKeys.site(bucketId(world))), { target: { bucket: 'c2' }, rules: [] })
    t.same(namesOf(waiting(world)), ['put a'])
    t.same(recounted(world), [])
  })

  t.test('precondition_failed for a bucket that was deleted and made again', async (t) => {
    const world = worldWithBucket()
    const command = setReplication(world)
    world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
    world.do(createBucket())
    t.match(world.run(command), { ok: false, code: 'precondition_failed' })
  })

  t.test('counts in the metadata of the tenant, and no more when it is removed', async (t) => {
    const world = replicated()
    t.ok((world.get(usageKeys.usage('acme'))?.metadataBytes ?? 0) > 0)
    world.do({ type: 'deleteBucketReplication', tenantId: 'acme', name: 'photos' })
    t.equal(world.get(usageKeys.usage('acme'))?.metadataBytes, 0)
    t.equal(world.get(bucketKeys.bucket('acme', 'photos'))?.hasReplication, undefined)
    t.same(recounted(world), [])
  })
})

t.test('replication that is removed', async (t) => {
  for (const [how, command] of [
    ['by request', { type: 'deleteBucketReplication', tenantId: 'acme', name: 'photos' }],
    ['with its bucket', { type: 'deleteBucket', tenantId: 'acme', name: 'photos' }],
  ] as const) {
    t.test(`${how}: what waits is forgotten step by step and never counts as sent`, async (t) => {
      const world = replicated()
      for (const key of ['a', 'b']) world.do(put(key, EMPTY, 0))
      for (const key of ['a', 'b']) world.do(remove(key))
      const [first, second] = waiting(world) as [SiteChangeRecord, SiteChangeRecord]
      world.do({ type: 'recordSends', results: [sendOf(world, first, 'refused')] })
      const id = bucketId(world)
      world.do(command)
      t.equal(world.get(siteKeys.site(id)), undefined)
      t.match(world.get(siteKeys.siteState(id)), { isRemoved: true, pending: 3, failed: 1 })
      const late = {
        bucketId: id,
        changeId: second.changeId,
        attempts: 0,
        verdict: 'sent',
        error: null,
        retryAfterMs: null,
        jitter: 0,
      } as const
      t.same(world.do({ type: 'recordSends', results: [late] }), { recorded: 0 })
      t.same(recounted(world), [])
      const changeIds = [first.changeId, ...waiting(world).map(({ changeId }) => changeId)]
      const forget = { type: 'forgetSiteChanges', bucketId: id } as const
      t.same(world.do({ ...forget, changeIds: changeIds.slice(0, 1) }), { forgotten: 1 })
      t.same(world.do({ ...forget, changeIds }), { forgotten: 3 })
      t.same(
        [...world.rows.keys()].filter((key) => /[sS]ite/.test(key)),
        [],
        'no row is left',
      )
      t.same(recounted(world), [])
    })
  }

  t.test('forgets nothing of a bucket that is replicated', async (t) => {
    const world = replicated()
    world.do(put('a', EMPTY, 0))
    const changeIds = waiting(world).map(({ changeId }) => changeId)
    t.same(world.do({ type: 'forgetSiteChanges', bucketId: bucketId(world), changeIds }), { forgotten: 0 })
    t.equal(waiting(world).length, 1)
  })

  t.test('and set again sends what is left', async (t) => {
    const world = replicated()
    world.do(put('a', EMPTY, 0))
    world.do({ type: 'deleteBucketReplication', tenantId: 'acme', name: 'photos' })
    world.do(setReplication(world))
    t.match(siteState(world), { isRemoved: false, pending: 1 })
    t.same(recounted(world), [])
  })
})

t.test('rewrapSiteSecrets replaces secrets that are still the same bytes', async (t) => {
  const world = replicated()
  const item = { bucketId: bucketId(world), before: Uint8Array.of(7, 7), after: Uint8Array.of(8) }
  t.same(world.do({ type: 'rewrapSiteSecrets', items: [item] }), { rewrapped: 1 })
  t.same(world.get(siteKeys.site(bucketId(world)))?.secret, Uint8Array.of(8))
  t.same(world.do({ type: 'rewrapSiteSecrets', items: [item] }), { rewrapped: 0 })
})

t.test('a version that only its client can read', async (t) => {
  t.test('is counted and has no row, nor have its tags and its removal; its deletion has one', async (t) => {
    const world = versioned(siteRule({ deletes: 'all' }))
    world.do(put('a', EMPTY, 0))
    const { versionId } = world.do(sealed('a')).object
    const name = { tenantId: 'acme', bucket: 'photos', key: 'a', versionId }
    world.do({ type: 'setObjectTags', ...name, tags: { x: 'y' } })
    world.do(remove('a'))
    world.do(remove('a', versionId))
    t.same(namesOf(waiting(world)), ['put a', 'delete a'])
    t.match(siteState(world), { notReplicable: 1, pending: 2, failed: 0 })
    t.same(recounted(world), [])
  })

  t.test('of a key that no rule names is not counted', async (t) => {
    const world = versioned(siteRule({ prefix: 'in/' }))
    world.do(sealed('a'))
    t.match(siteState(world), { notReplicable: 0, pending: 0 })
  })
})
