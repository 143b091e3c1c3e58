/** Retention and legal hold: which may be set, and that no locked version is removed. */
import t from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { ObjectCommand } from '../../src/state-machine/objects/commands.ts'
import type { ObjectRecord, RetentionRecord } from '../../src/state-machine/versions/records.ts'
import { createBucket, type MapWorld, put, remove, worldWithBucket } from './map-world.ts'

const DAY_MS = 24 * 3_600_000
const inVault = <C extends Command>(command: C): C => ({ ...command, bucket: 'vault' })
const empty = () => inVault(put('k', { kind: 'empty' }, 0))

function vault(): MapWorld {
  const world = worldWithBucket()
  world.do(createBucket('vault', { versioning: 'Enabled', objectLockEnabled: true }))
  return world
}

function retain(world: MapWorld, mode: RetentionRecord['mode'], ms: number): RetentionRecord {
  return { mode, until: world.time + ms }
}

const set = (retention: RetentionRecord, versionId: string | null = null) =>
  ({ type: 'setObjectRetention', tenantId: 'acme', bucket: 'vault', key: 'k', versionId, retention }) as const

t.test('retention [decisions 14]', (t) => {
  for (const [name, before, after, code] of [
    ['may be extended', ['GOVERNANCE', 2], ['GOVERNANCE', 3], null],
    ['may become stricter at the same date', ['GOVERNANCE', 2], ['COMPLIANCE', 2], null],
    ['is not shortened', ['GOVERNANCE', 2], ['GOVERNANCE', 1], 'object_locked'],
    ['is not shortened by a stricter mode', ['GOVERNANCE', 2], ['COMPLIANCE', 1], 'object_locked'],
    ['is not weakened, for any date', ['COMPLIANCE', 2], ['GOVERNANCE', 9], 'object_locked'],
    ['repeated changes nothing', ['COMPLIANCE', 2], ['COMPLIANCE', 2], null],
    ['in the past is refused', ['GOVERNANCE', 2], ['GOVERNANCE', -1], 'invalid_request'],
  ] as const)
    t.test(name, (t) => {
      const world = vault()
      world.do(empty())
      const origin = world.time
      const at = ([mode, days]: readonly [RetentionRecord['mode'], number]) => ({
        mode,
        until: origin + days * DAY_MS,
      })
      world.do(set(at(before)))
      const reply = world.run(set(at(after)))
      t.match(reply, code === null ? { ok: true, value: { retention: at(after) } } : { ok: false, code })
      t.end()
    })

  t.test('that has ended may be replaced by any other', (t) => {
    const world = vault()
    world.do(empty())
    world.do(set(retain(world, 'COMPLIANCE', 1000)))
    world.time += 2000
    t.match(world.run(set(retain(world, 'GOVERNANCE', 5000))), { ok: true })
    t.end()
  })

  t.test('invalid_request without a known mode or a date that can be written', (t) => {
    const world = vault()
    world.do(empty())
    for (const retention of [
      { mode: 'NONE', until: world.time + 1000 },
      { mode: 'GOVERNANCE', until: 253_402_300_800_000 },
      { mode: 'GOVERNANCE', until: 1.5 },
      { mode: 'GOVERNANCE' },
    ])
      t.match(world.run(set(retention as RetentionRecord)), { ok: false, code: 'invalid_request' })
    t.end()
  })
  t.end()
})

t.test('setting locks', (t) => {
  t.test('object_lock_not_enabled in a bucket without object lock', (t) => {
    const world = worldWithBucket()
    const plain = put('k', { kind: 'empty' }, 0)
    world.do(plain)
    const refused = { ok: false, code: 'object_lock_not_enabled' }
    t.match(world.run({ ...plain, legalHold: true }), refused)
    t.match(world.run({ ...plain, retention: retain(world, 'GOVERNANCE', 1000) }), refused)
    t.match(world.run({ ...set(retain(world, 'GOVERNANCE', 1000)), bucket: 'photos' }), refused)
    const hold = { type: 'setObjectLegalHold', tenantId: 'acme', bucket: 'photos', key: 'k' } as const
    t.match(world.run({ ...hold, versionId: null, legalHold: true }), refused)
    t.end()
  })

  t.test('not_found for a delete marker, a version that does not exist, a key behind a marker', (t) => {
    const world = vault()
    const { versionId } = world.do(empty()).object
    const { version } = world.do(inVault(remove('k'))) as { version: ObjectRecord }
    const retention = retain(world, 'GOVERNANCE', 1000)
    for (const name of [null, version.versionId, 'null', 'x'])
      t.match(world.run(set(retention, name)), { ok: false, code: 'not_found' })
    t.match(world.run(set(retention, versionId)), { ok: true }, 'but for the version itself')
    const tags = {
      type: 'setObjectTags',
      tenantId: 'acme',
      bucket: 'vault',
      key: 'k',
      tags: { a: 'b' },
    } as const
    t.match(world.run({ ...tags, versionId }), { ok: true, value: { tags: { a: 'b' } } })
    t.match(world.run({ ...tags, versionId: null }), { ok: false, code: 'not_found' })
    t.end()
  })

  t.test('invalid_request when the retention of a new version ends in the past', (t) => {
    const world = vault()
    const retention = retain(world, 'GOVERNANCE', 0)
    t.match(world.run({ ...empty(), retention }), { ok: false, code: 'invalid_request' })
    t.end()
  })
  t.end()
})

/** Every command that removes a version, for the version `versionId` of `k` in `vault`. */
function waysToRemove(versionId: string): readonly ObjectCommand[] {
  const name = { tenantId: 'acme', bucket: 'vault' }
  const items = [{ key: 'k', versionId }]
  return [
    { type: 'deleteObject', ...name, key: 'k', versionId, ifMatch: null },
    { type: 'deleteObjects', ...name, items },
  ]
}

function isRefused(world: MapWorld, command: ObjectCommand): boolean {
  const reply = world.run(command)
  if (!reply.ok) return reply.code === 'object_locked'
  const [first] = Array.isArray(reply.value) ? reply.value : []
  return first !== undefined && 'code' in first && first.code === 'object_locked'
}

t.test('no command removes a locked version', (t) => {
  const locks: Readonly<Record<string, (time: number) => Partial<ObjectRecord>>> = {
    'a legal hold': () => ({ legalHold: true }),
    GOVERNANCE: (time) => ({ retention: { mode: 'GOVERNANCE', until: time + DAY_MS } }),
    COMPLIANCE: (time) => ({ retention: { mode: 'COMPLIANCE', until: time + DAY_MS } }),
    'a hold that cannot be read': () => ({ legalHold: 'OFF' as never }),
    'a retention of an unknown mode': () => ({ retention: { mode: 'OPEN', until: 1 } as never }),
    'a retention without a date': () => ({ retention: { mode: 'GOVERNANCE' } as never }),
    'a retention that is missing': () => ({ retention: undefined as never }),
  }
  for (const [name, lock] of Object.entries(locks))
    t.test(`under ${name}: neither by delete nor, as a null version, by a new version`, (t) => {
      const world = vault()
      const { object } = world.do(empty())
      const bucket = world.get(bucketKeys.bucket('acme', 'vault'))
      if (bucket === undefined) throw new Error('no bucket')
      const row = versionKeys.object(bucket.id, 'k')
      world.rows.set(row, { ...object, ...lock(world.time) })
      for (const command of waysToRemove(object.versionId)) t.ok(isRefused(world, command), command.type)
      // No bucket with object lock has a null version; if one ever has, that version must stay too.
      for (const versioning of ['Unversioned', 'Suspended'] as const) {
        world.rows.set(bucketKeys.bucket('acme', 'vault'), { ...bucket, versioning })
        world.rows.set(row, { ...object, ...lock(world.time), isNull: true })
        const item = { key: 'k', versionId: null }
        const source = { bucket: 'vault', key: 'k', versionId: object.versionId }
        const copy = { ...empty(), type: 'copyObject', source }
        for (const command of [
          empty(),
          inVault(remove('k')),
          inVault(remove('k', 'null')),
          { type: 'deleteObjects', tenantId: 'acme', bucket: 'vault', items: [item] },
          copy,
        ] as ObjectCommand[])
          t.ok(isRefused(world, command), `${command.type}, ${versioning}`)
      }
      t.match(world.get(row), { versionId: object.versionId })
      t.end()
    })

  t.test('until the log time has reached its end', (t) => {
    const world = vault()
    const { object } = world.do({ ...empty(), retention: retain(world, 'COMPLIANCE', 100) })
    world.time = (object.retention?.until ?? 0) - 8
    t.match(world.run(inVault(remove('k', object.versionId))), { code: 'object_locked' }, 'one before it')
    world.time = (object.retention?.until ?? 0) - 7
    t.match(world.run(inVault(remove('k', object.versionId))), { ok: true }, 'at the moment itself')
    t.end()
  })

  t.test('an unreadable retention is not replaced by a shorter one', (t) => {
    const world = vault()
    const { object } = world.do(empty())
    const { id = '' } = world.get(bucketKeys.bucket('acme', 'vault')) ?? {}
    for (const retention of [{ mode: 'OPEN', until: 1 }, { until: 5 }, undefined]) {
      world.rows.set(versionKeys.object(id, 'k'), { ...object, retention: retention as never })
      const reply = world.run(set(retain(world, 'GOVERNANCE', 1000)))
      t.match(reply, { ok: false, code: 'object_locked' })
    }
    t.end()
  })

  t.test('a version can be removed after its hold is taken off, but not because a marker hides it', (t) => {
    const world = vault()
    const { versionId } = world.do({ ...empty(), legalHold: true }).object
    world.do(inVault(remove('k')))
    t.match(world.run(inVault(remove('k', versionId))), { code: 'object_locked' })
    const hold = { type: 'setObjectLegalHold', tenantId: 'acme', bucket: 'vault', key: 'k' } as const
    world.do({ ...hold, versionId, legalHold: false })
    t.match(world.run(inVault(remove('k', versionId))), { ok: true })
    t.end()
  })
  t.end()
})
