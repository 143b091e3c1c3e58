/**
 * The planner against a model that keeps lists of versions and reads the rules as a sentence, over random histories; then apply carries the plan
 * out, and removes what the model names, nothing else and nothing locked.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { firstDue, midnightAfter, nextMidnight } from '../../src/state-machine/lifecycle/due.ts'
import {
  type LifecyclePlanned,
  planUploads,
  planVersions,
  walkOf,
} from '../../src/state-machine/lifecycle/plan.ts'
import type { LifecycleRule } from '../../src/state-machine/lifecycle/records.ts'
import type { UploadRecord } from '../../src/state-machine/objects/records.ts'
import { versionRanges } from '../../src/state-machine/versions/keys.ts'
import type { Tags, VersionRecord } from '../../src/state-machine/versions/records.ts'
import { isNamed, type LifecycleVersion } from './model-lifecycle.ts'
import { ALL, actOn, bucketIn, DAY_MS, ruleWith, setLifecycle } from './lifecycle-samples.ts'
import { createBucket, createTenant, MapWorld, put, recounted, remove, rowsUnder } from './map-world.ts'

interface ModelVersion extends LifecycleVersion {
  readonly id: string
  readonly isHeld: boolean
}

type Step =
  | {
      readonly do: 'put'
      readonly key: string
      readonly isTagged: boolean
      readonly isHeld: boolean
      readonly size: number
    }
  | { readonly do: 'delete'; readonly key: string }
  | { readonly do: 'pass'; readonly hours: number }

const key = fc.constantFrom('a', 'b/x', 'b/y')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      key,
      isTagged: fc.boolean(),
      isHeld: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      size: fc.constantFrom(3, 10, 20),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 60 }) }),
  },
)

const days = fc.integer({ min: 1, max: 4 })
const rule: fc.Arbitrary<LifecycleRule> = fc
  .record({
    isEnabled: fc.integer({ min: 0, max: 6 }).map((n) => n > 0),
    prefix: fc.constantFrom('', 'b/', 'b/y'),
    isTagged: fc.boolean(),
    sizeGreaterThan: fc.constantFrom(null, null, 5, 10),
    sizeLessThan: fc.constantFrom(null, null, 15),
    expiration: fc.oneof(
      fc.constant(null),
      days.map((n) => ({ days: n })),
      fc.constantFrom(-9, -3, 3).map((n) => ({ date: midnightAfter(BEGIN, 10) + n * DAY_MS })),
      fc.constant({ expiredDeleteMarker: true as const }),
    ),
    noncurrent: fc.option(fc.record({ days, newerKept: fc.integer({ min: 0, max: 3 }) })),
  })
  .map(({ prefix, isTagged, sizeGreaterThan, sizeLessThan, ...more }) =>
    ruleWith({
      ...more,
      filter: { prefix, tags: isTagged ? { t: '1' } : {}, sizeGreaterThan, sizeLessThan },
    }),
  )
const BEGIN = new MapWorld().time

class Model {
  /** Newest first. */
  readonly keys = new Map<string, ModelVersion[]>()

  add(of: string, version: ModelVersion): void {
    this.keys.set(of, [version, ...(this.keys.get(of) ?? [])])
  }

  /** Ids of what the rule names at this time. */
  due(one: LifecycleRule, now: number): ReadonlySet<string> {
    const found = new Set<string>()
    for (const [name, versions] of this.keys)
      for (const [n, version] of versions.entries())
        if (one.isEnabled && name.startsWith(one.filter.prefix) && isNamed(one, versions, n, now))
          found.add(version.id)
    return found
  }
}

function play(
  steps: readonly Step[],
  rules: readonly LifecycleRule[],
): { readonly world: MapWorld; readonly model: Model } {
  const world = new MapWorld()
  const model = new Model()
  world.do(createTenant('acme'))
  world.do(createBucket('photos', { versioning: 'Enabled', objectLockEnabled: true }))
  if (rules.length > 0) world.do(setLifecycle(...rules))
  for (const one of steps) {
    if (one.do === 'pass') world.time += one.hours * 3_600_000
    else if (one.do === 'put') {
      const { isHeld, size } = one
      const tags: Tags = one.isTagged ? { t: '1' } : {}
      const body = { kind: 'inline', chunkId: 'c', sealed: Uint8Array.of(1) } as const
      const { object } = world.do({ ...put(one.key, body, size), tags, legalHold: isHeld })
      model.add(one.key, {
        id: object.versionId,
        isMarker: false,
        size,
        tags,
        at: object.lastModified,
        isHeld,
      })
    } else {
      const { version } = world.do(remove(one.key))
      assert(version !== null)
      model.add(one.key, {
        id: version.versionId,
        isMarker: true,
        size: 0,
        tags: {},
        at: version.lastModified,
        isHeld: false,
      })
    }
  }
  return { world, model }
}

/** In pages of `limit` rows, as the walk reads them. */
function planned(
  world: MapWorld,
  rules: readonly LifecycleRule[],
  limit: number,
): readonly LifecyclePlanned[] {
  const bucket = bucketIn(world)
  const found: LifecyclePlanned[] = []
  for (const { kind, prefix } of walkOf(rules, bucket)) {
    if (kind === 'upload') continue
    const range = kind === 'object' ? versionRanges.objects(bucket.id) : versionRanges.versions(bucket.id)
    const rows = rowsUnder<VersionRecord>(world, range).filter((row) => row.key.startsWith(prefix))
    for (let at = 0; at < rows.length; at += limit)
      found.push(
        ...planVersions({ view: world, bucket, rules, time: world.time }, rows.slice(at, at + limit)),
      )
  }
  return found
}

const idOf = ({ item }: LifecyclePlanned): string => ('versionId' in item ? item.versionId : item.uploadId)

t.test('a plan names exactly what the rules say, whatever the size of its pages', async (t) => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.array(rule, { maxLength: 4 }),
      fc.integer({ min: 1, max: 9 }),
      (steps, drawn, limit) => {
        const rules = drawn.map((one, n) => ({ ...one, id: `r${n}` }))
        const { world, model } = play(steps, [])
        const due = rules.map((one) => model.due(one, world.time))
        const plan = planned(world, rules, limit)
        assert.deepEqual(plan.map(idOf).toSorted(), [...new Set(due.flatMap((ids) => [...ids]))].toSorted())
        for (const one of plan)
          assert(due[Number(one.ruleId.slice(1))]?.has(idOf(one)), 'by a rule that names it')
      },
    ),
    { numRuns: 400 },
  )
  t.pass()
})

t.test('apply carries out what one rule names, but for what is locked, and nothing else', async (t) => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      rule,
      fc.integer({ min: 1, max: 5 }),
      (steps, one, size) => {
        const { world, model } = play(steps, [one])
        const plan = planned(world, [one], 256)
        const due = model.due(one, world.time)
        const before = countsOf(world)
        const done: string[] = []
        for (let at = 0; at < plan.length; at += size) {
          const items = plan.slice(at, at + size)
          const reply = world.do(actOn(world, ...items.map(({ item }) => item)))
          done.push(...reply.done.map(({ id }) => id))
        }
        // Hiding writes a marker and removes nothing, so that what is locked may be hidden.
        const all = [...model.keys.values()].flatMap((versions) =>
          versions.map((version, n) => ({ ...version, n })),
        )
        const free = all.filter(({ id, isHeld, n }) => due.has(id) && (!isHeld || n === 0))
        assert.deepEqual(done.toSorted(), free.map(({ id }) => id).toSorted())
        const gone = free.filter(({ isMarker, n }) => n > 0 || isMarker).length
        assert.equal(countsOf(world), before - gone + (free.length - gone))
        assert.deepEqual(recounted(world), [])
      },
    ),
    { numRuns: 300 },
  )
  t.pass()
})

function countsOf(world: MapWorld): number {
  const { versionCount, deleteMarkerCount } = bucketIn(world)
  return versionCount + deleteMarkerCount
}

t.test('midnights', async (t) => {
  const at = (text: string) => Date.parse(text)
  t.equal(midnightAfter(at('2027-01-15T10:30:00Z'), 3), at('2027-01-19T00:00:00Z'), 'rounded up')
  t.equal(midnightAfter(at('2027-01-15T00:00:00Z'), 3), at('2027-01-18T00:00:00Z'), 'a midnight stays')
  t.equal(midnightAfter(at('2027-01-15T00:00:00.001Z'), 1), at('2027-01-17T00:00:00Z'))
  t.equal(nextMidnight(at('2027-01-15T00:00:00Z')), at('2027-01-16T00:00:00Z'))
})

t.test('of rules that act at different times the first one is named', async (t) => {
  const { world } = play([{ do: 'put', key: 'a', isTagged: false, isHeld: false, size: 1 }], [])
  const [version] = rowsUnder<VersionRecord>(world, versionRanges.objects(bucketIn(world).id))
  if (version?.kind !== 'object') throw new Error('there is an object')
  const of = (id: string, count: number) => ruleWith({ id, expiration: { days: count } })
  const subject = { kind: 'current', version } as const
  t.equal(firstDue([of('slow', 9), of('fast', 2), of('also', 2)], subject)?.rule.id, 'fast')
  t.equal(firstDue([{ ...of('off', 1), isEnabled: false }], subject), null)
})

t.test('every condition of a filter has to hold', async (t) => {
  const { world } = play([{ do: 'put', key: 'b/x', isTagged: true, isHeld: false, size: 10 }], [])
  const [version] = rowsUnder<VersionRecord>(world, versionRanges.objects(bucketIn(world).id))
  if (version?.kind !== 'object') throw new Error('there is an object')
  const isNamed = (more: Partial<LifecycleRule['filter']>) =>
    firstDue([ruleWith({ filter: { ...ALL, ...more }, expiration: { days: 1 } })], {
      kind: 'current',
      version,
    }) !== null
  t.ok(isNamed({ prefix: 'b/', tags: { t: '1' }, sizeGreaterThan: 9, sizeLessThan: 11 }))
  t.notOk(isNamed({ tags: { t: '1', u: '1' } }), 'each of the tags')
  t.notOk(isNamed({ tags: { t: '2' } }))
  t.notOk(isNamed({ prefix: 'x' }))
  t.notOk(isNamed({ sizeGreaterThan: 10 }))
  t.notOk(isNamed({ sizeLessThan: 10 }))
})

t.test('uploads are named by prefix and age alone', async (t) => {
  const at = BEGIN
  const upload = (name: string): UploadRecord => ({
    uploadId: `u-${name}`,
    key: name,
    initiator: 'k',
    createdAt: at,
    expiresAt: at,
    contentType: 'a/b',
    metadata: {},
    masterKeyId: 'm',
    checksumAlg: null,
    partCount: 1,
    bytes: 7,
    tags: {},
    retention: null,
    legalHold: false,
  })
  const rules = [ruleWith({ filter: { ...ALL, prefix: 'b/' }, abortUploadDays: 1 })]
  const plan = (time: number) =>
    planUploads({ rules, time }, [upload('a'), upload('b/x')]).map(({ id, bytes }) => [id, bytes])
  t.same(plan(at + DAY_MS), [])
  t.same(plan(midnightAfter(at, 1)), [['u-b/x', 7]])
})

t.test('a walk reads the kinds of rows and the prefix that rules in force need', async (t) => {
  const photos = { versioning: 'Enabled' } as const
  const under = (prefix: string, more: Partial<LifecycleRule>) =>
    ruleWith({ filter: { ...ALL, prefix }, ...more })
  const expires = { expiration: { days: 1 } }
  t.same(walkOf([under('logs/a', expires), under('logs/b', expires)], photos), [
    { kind: 'version', prefix: 'logs/' },
    { kind: 'object', prefix: 'logs/' },
  ])
  t.same(walkOf([under('x', expires)], { versioning: 'Unversioned' }), [{ kind: 'object', prefix: 'x' }])
  t.same(walkOf([under('x', { expiration: { date: 0 } })], photos), [{ kind: 'object', prefix: 'x' }])
  t.same(walkOf([under('x', { expiration: { expiredDeleteMarker: true } })], photos), [
    { kind: 'version', prefix: 'x' },
  ])
  t.same(
    walkOf([under('x', { abortUploadDays: 1 }), under('', { isEnabled: false, abortUploadDays: 1 })], photos),
    [{ kind: 'upload', prefix: 'x' }],
  )
  t.same(walkOf([], photos), [])
})
