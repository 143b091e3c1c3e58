/** Irreversible ends use the confirmed time, regardless of the log time; corrections change no row. */
import t from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { objectRanges } from '../../src/state-machine/objects/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { ExpiryRecord } from '../../src/state-machine/objects/records.ts'
import { ask, links, verdict } from './audit-world.ts'
import { createBucket, type MapWorld, put, remove, rowsUnder, worldWithBucket } from './map-world.ts'
import { createUpload, UPLOAD_LASTS_MS } from './upload-commands.ts'

const DAY_MS = 24 * 3_600_000
const JUMP_MS = 400 * DAY_MS

/** The clocks of most nodes jump, and no operator has confirmed it. */
function jump(world: MapWorld): void {
  world.time += JUMP_MS
  world.withheldMs += JUMP_MS
}

function withRetained(): MapWorld {
  const world = worldWithBucket()
  world.do(createBucket('vault', { versioning: 'Enabled', objectLockEnabled: true }))
  const retention = { mode: 'COMPLIANCE', until: world.time + 30 * DAY_MS } as const
  world.do({ ...put('k', { kind: 'empty' }, 0), bucket: 'vault', retention })
  return world
}

const version = (world: MapWorld): string => {
  const bucket = world.get(bucketKeys.bucket('acme', 'vault'))
  return world.get(versionKeys.object(bucket?.id ?? '', 'k'))?.versionId ?? ''
}

const set = (until: number) =>
  ({
    type: 'setObjectRetention',
    tenantId: 'acme',
    bucket: 'vault',
    key: 'k',
    versionId: null,
    retention: { mode: 'COMPLIANCE', until },
  }) as const

t.test('the confirmed time', async (t) => {
  t.test('ends retention, not the log time', async (t) => {
    const world = withRetained()
    jump(world)
    t.match(world.run(remove('k', version(world), 'vault')), { ok: false, code: 'object_locked' })
    world.withheldMs = 0
    t.match(world.run(remove('k', version(world), 'vault')), { ok: true })
  })

  t.test('decides whether retention may be shortened and whether a new one is in the future', async (t) => {
    const world = withRetained()
    jump(world)
    const confirmed = world.time - JUMP_MS
    t.match(world.run(set(confirmed + DAY_MS)), { ok: false, code: 'object_locked' })
    const retention = { mode: 'GOVERNANCE', until: confirmed + DAY_MS } as const
    t.match(world.run({ ...put('new', { kind: 'empty' }, 0), bucket: 'vault', retention }), { ok: true })
  })

  t.test('ends uploads', async (t) => {
    const world = worldWithBucket()
    world.do(createUpload('k'))
    const [due] = rowsUnder<ExpiryRecord>(world, objectRanges.expiries(Number.MAX_SAFE_INTEGER - 1))
    const items = due === undefined ? [] : [{ at: due.at, id: due.id }]
    t.equal(items.length, 1)
    jump(world)
    t.same(world.do({ type: 'expire', items }), { expired: 0 })
    world.withheldMs -= UPLOAD_LASTS_MS
    t.same(world.do({ type: 'expire', items }), { expired: 1 })
  })

  t.test('trims the audit log', async (t) => {
    const world = worldWithBucket()
    ask(world, put('a', { kind: 'empty' }, 0))
    const before = world.time + 1
    jump(world)
    t.match(world.run({ type: 'trimAudit', before: world.time }), { ok: false, code: 'invalid_argument' })
    t.equal(links(world).length, 1)
    t.match(world.run({ type: 'trimAudit', before }), { ok: true, value: { trimmed: 1 } })
  })
})

t.test('correctTime', async (t) => {
  const correct = (
    correction: { kind: 'setBack'; seenTime: number } | { kind: 'confirm'; withheldMs: number },
  ) => ({ type: 'correctTime', requestedBy: 'tok', reason: 'because', correction }) as const

  t.test('reports the correction, and writes one row in the audit log', async (t) => {
    const world = worldWithBucket()
    const rows = world.rows.size
    world.time += JUMP_MS
    const [before, to] = [world.time + 7, world.time - JUMP_MS]
    world.before = { time: before, confirmedTime: before }
    world.highTime = before
    world.time = to
    const reply = ask(world, correct({ kind: 'setBack', seenTime: to }))
    const after = { time: world.time, confirmedTime: world.time }
    t.match(reply, { ok: true, value: { before: { time: before }, after } })
    t.equal(world.rows.size, rows + 2, 'the link and the head')
    t.match(JSON.parse(links(world)[0]?.text ?? ''), { time: before, details: { kind: 'setBack', after } })
  })

  t.test('is refused when nothing was corrected', async (t) => {
    const world = worldWithBucket()
    world.before = { time: world.time + 7, confirmedTime: world.time + 7 }
    t.match(world.run(correct({ kind: 'confirm', withheldMs: 5 })), {
      ok: false,
      code: 'precondition_failed',
    })
  })

  t.test('leaves a chain that verifies, with the right time in each row', async (t) => {
    const world = worldWithBucket()
    ask(world, put('a', { kind: 'empty' }, 0))
    world.time += JUMP_MS
    ask(world, put('b', { kind: 'empty' }, 0))
    world.before = { time: world.time + 7, confirmedTime: world.time + 7 }
    world.highTime = world.time + 7
    world.time -= JUMP_MS
    ask(world, correct({ kind: 'setBack', seenTime: world.time }))
    world.before = null
    for (const key of ['c', 'd']) ask(world, put(key, { kind: 'empty' }, 0))
    t.same(verdict(world), [])
    const texts = links(world).map(({ text }) => (JSON.parse(text) as { time: number }).time)
    t.equal(texts.at(-1), world.time)
    const times = links(world).map(({ time }) => time)
    t.same(
      times,
      times.toSorted((a, b) => a - b),
      'times of links never decrease',
    )
    const ids = ['a', 'b', 'c', 'd'].map(
      (key) => world.get(versionKeys.object(bucketOf(world), key))?.versionId ?? '',
    )
    t.same(ids, [...ids].sort(), 'ids ascend')
  })
})

const bucketOf = (world: MapWorld): string => world.get(bucketKeys.bucket('acme', 'photos'))?.id ?? ''
