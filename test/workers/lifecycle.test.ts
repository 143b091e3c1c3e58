/** The walks of lifecycle rules over a real store: what they carry out, when, in which steps. */
import assert from 'node:assert/strict'
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Origin } from '../../src/state-machine/base/origin.ts'
import { lifecycleKeys } from '../../src/state-machine/lifecycle/keys.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'
import { versionRanges } from '../../src/state-machine/versions/keys.ts'
import { Lifecycle } from '../../src/workers/lifecycle.ts'
import { SILENT } from '../helpers/loggers.ts'
import { DAY_MS, ruleWith, setLifecycle } from '../state-machine/lifecycle-samples.ts'
import { createBucket, put, remove } from '../state-machine/map-world.ts'
import { createUpload } from '../state-machine/upload-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'

interface Proposed {
  readonly command: Command
  readonly origin: Origin | undefined
}

async function bench(t: Teardown) {
  const world = await StoreWorld.withBucket(t)
  const { reader: state } = world.store
  const duty = { isOn: true }
  /** How far this node's clock is ahead of the log. */
  const clock = { aheadMs: 0 }
  const proposed: Proposed[] = []
  const parts = {
    cluster: { isJobRunner: () => duty.isOn, nodeId: 'n1' },
    state,
    propose: (async (command: Command, origin?: Origin) => {
      proposed.push({ command, origin })
      return world.propose(command, origin)
    }) as typeof world.propose,
    confirmedTime: () => world.time + clock.aheadMs,
    logger: SILENT,
  }
  let lifecycle = new Lifecycle(parts)
  const rounds = async (most = 500) => {
    let count = 0
    while (await lifecycle.round()) assert.ok(++count < most, 'it comes to an end')
    return count
  }
  const value = (name: string, kind?: string) =>
    lifecycle.metrics().find((one) => one.name === name && one.labels?.['kind'] === kind)?.value
  /** The node on duty changes. */
  const replace = () => void (lifecycle = new Lifecycle(parts))
  const round = () => lifecycle.round()
  const keys = async (bucketId: string) =>
    (await state.page(versionRanges.objects(bucketId), { limit: 1000 })).items.map(({ key }) => key)
  const differences = async () => (await recountState(state, () => true))?.differences
  return { world, state, duty, clock, proposed, rounds, round, value, replace, keys, differences }
}

const empty = (key: string) => put(key, { kind: 'empty' }, 0)
const EXPIRES = ruleWith({ expiration: { days: 1 } })
const acts = (proposed: readonly Proposed[]) =>
  proposed.filter(({ command }) => command.type === 'applyLifecycleRule')

t.test('Lifecycle', async (t) => {
  t.test('carries out rules once they are set and after each midnight, only on duty', async (t) => {
    const { world, duty, rounds, keys, value, differences } = await bench(t)
    await world.apply([empty('a'), empty('b')])
    world.later(2 * DAY_MS)
    await world.do(empty('b'))
    t.equal(await rounds(), 0, 'without rules')
    await world.do(setLifecycle(EXPIRES))
    duty.isOn = false
    t.equal(await rounds(), 0)
    t.same(await keys(world.photos.id), ['a', 'b'])
    duty.isOn = true
    await rounds()
    t.same(await keys(world.photos.id), ['b'])
    t.equal(await rounds(), 0, 'until the next midnight')
    world.later(DAY_MS)
    t.ok((await rounds()) > 0)
    t.same(await keys(world.photos.id), ['b'])
    world.later(DAY_MS)
    await rounds()
    t.same(await keys(world.photos.id), [])
    t.equal(value('holdfast_lifecycle_actions_total', 'expired'), 2)
    t.equal(value('holdfast_lifecycle_walks_total'), 3)
    t.same(await differences(), [])
  })

  t.test('a clock that is ahead of the log removes nothing, and passes over no day', async (t) => {
    const { world, clock, rounds, keys } = await bench(t)
    await world.do(empty('a'))
    await world.do(setLifecycle(EXPIRES))
    clock.aheadMs = 9 * DAY_MS
    t.ok((await rounds(40)) < 5, 'and it is not asked again at once')
    t.same(await keys(world.photos.id), ['a'])
    clock.aheadMs = 0
    world.later(2 * DAY_MS)
    await rounds()
    t.same(await keys(world.photos.id), [])
  })

  t.test('works off many versions in entries of a bounded size, and continues at another node', async (t) => {
    const { world, proposed, round, rounds, replace, keys, differences } = await bench(t)
    const all = Array.from({ length: 700 }, (_, n) => empty(`k${String(n).padStart(4, '0')}`))
    await world.apply(all)
    await world.do(setLifecycle(EXPIRES))
    world.later(3 * DAY_MS)
    t.equal(await round(), true)
    const left = (await keys(world.photos.id)).length
    t.ok(left > 0 && left < 700, 'one page')
    replace()
    await rounds()
    t.same(await keys(world.photos.id), [])
    for (const { command, origin } of acts(proposed)) {
      assert.ok(command.type === 'applyLifecycleRule' && command.items.length <= 32)
      t.match(origin, {
        api: 'internal',
        operation: 'applyLifecycleRule',
        tenantId: 'acme',
        bucket: 'photos',
      })
    }
    t.same(await differences(), [])
  })

  t.test('removes delete markers that its own walk has left alone, in the same turn', async (t) => {
    const { world, rounds, value, differences } = await bench(t)
    await world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    for (const n of [1, 2]) await world.apply([empty('a'), remove('a'), empty(`b${n}`)])
    world.later(5 * DAY_MS)
    const noncurrent = ruleWith({ id: 'old', noncurrent: { days: 1, newerKept: 0 } })
    await world.do(setLifecycle(noncurrent, ruleWith({ expiration: { expiredDeleteMarker: true } })))
    await rounds()
    t.match(world.photos, { versionCount: 2, deleteMarkerCount: 0, objectCount: 2 })
    t.equal(value('holdfast_lifecycle_actions_total', 'noncurrent'), 3)
    t.equal(value('holdfast_lifecycle_actions_total', 'marker'), 1)
    t.same(await differences(), [])
  })

  t.test('aborts uploads, and proposes nothing for what is locked', async (t) => {
    const { world, rounds, proposed } = await bench(t)
    await world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    await world.do({ type: 'setBucketObjectLock', tenantId: 'acme', name: 'photos', defaultRetention: null })
    await world.do({ ...empty('held'), legalHold: true })
    await world.apply([empty('held'), createUpload('u')])
    await world.do(setLifecycle(ruleWith({ noncurrent: { days: 1, newerKept: 0 }, abortUploadDays: 1 })))
    world.later(3 * DAY_MS)
    await rounds()
    t.match(world.photos, { versionCount: 2, uploadCount: 0 })
    t.equal(acts(proposed).length, 1, 'the upload')
  })

  t.test('walks several buckets in rotation; rules that are set on the way begin again', async (t) => {
    const { world, state, rounds, round, keys } = await bench(t)
    await world.do(createBucket('films'))
    const many = Array.from({ length: 600 }, (_, n) => empty(`k${n}`))
    await world.apply(many)
    await world.do({ ...empty('f'), bucket: 'films' })
    await world.apply([setLifecycle(EXPIRES), { ...setLifecycle(EXPIRES), name: 'films' }])
    const films = state.get(bucketKeys.bucket('acme', 'films'))
    assert.ok(films !== undefined)
    world.later(3 * DAY_MS)
    await round()
    await round()
    t.same(await keys(films.id), [], 'the small one does not wait for the large one')
    t.ok((await keys(world.photos.id)).length > 0)
    await world.do(setLifecycle(ruleWith({ expiration: { days: 9 } })))
    const left = await keys(world.photos.id)
    await rounds()
    t.same(await keys(world.photos.id), left, 'by the rules of now')
  })

  t.test('leaves a disabled tenant and a bucket that is gone, and others have their turn', async (t) => {
    const { world, state, rounds, round } = await bench(t)
    await world.apply([empty('a'), createBucket('films')])
    await world.apply([setLifecycle(EXPIRES), { ...setLifecycle(EXPIRES), name: 'films' }])
    world.later(3 * DAY_MS)
    await round()
    await world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'films' })
    await world.do(empty('b'))
    await world.do({ type: 'disableTenant', tenantId: 'acme', reason: 'test' })
    world.later(3 * DAY_MS)
    await rounds()
    t.equal(world.photos.objectCount, 1)
    const turnAt = state.get(lifecycleKeys.lifecycleWalk(world.photos.id))?.turnAt ?? 0
    t.ok(turnAt > world.time, 'its next turn is tomorrow')
  })
})
