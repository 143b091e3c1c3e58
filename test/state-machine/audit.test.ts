import * as fc from 'fast-check'
import t from 'tap'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { AUDIT_TRIM_LINKS_MAX } from '../../src/state-machine/audit/records.ts'
import { linkHash } from '../../src/state-machine/audit/audit-chain.ts'
import { auditHead } from '../../src/state-machine/audit/append.ts'
import type { AuditLinkRecord } from '../../src/state-machine/audit/records.ts'
import { ask, auditRows, links, ORIGIN, ship, spoolRows, verdict } from './audit-world.ts'
import { createBucket, digest, MapWorld, put, remove, recounted, worldWithBucket } from './map-world.ts'

const EMPTY = { kind: 'empty' } as const

t.test('a change', async (t) => {
  t.test('is recorded in its entry, with the version that it made', async (t) => {
    const world = worldWithBucket()
    world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    const reply = ask(world, put('a', EMPTY, 0))
    t.ok(reply.ok)
    const [row] = auditRows(world)
    const { successStatus: _, elapsedMs, ...request } = ORIGIN
    t.strictSame(row, {
      ...request,
      time: world.time,
      versionId: reply.ok ? reply.value.object.versionId : '',
      status: 200,
      code: null,
      bytesOut: null,
      durationMs: elapsedMs,
      details: { size: 0 },
    })
    t.strictSame(verdict(world), [])
  })

  t.test('that is refused writes only its row of the audit log', async (t) => {
    const world = worldWithBucket()
    const before = new Map(world.rows)
    const reply = ask(world, createBucket('photos'), { operation: 'createBucket' })
    t.match(reply, { ok: false, code: 'bucket_already_exists' })
    t.match(auditRows(world), [{ operation: 'createBucket', status: null, code: 'bucket_already_exists' }])
    const added = [...world.rows].filter(([key, row]) => before.get(key) !== row).map(([key]) => key)
    t.strictSame(added, [auditRowKeys.auditLink(0), auditRowKeys.auditHead()])
    t.strictSame(recounted(world), [])
  })

  t.test('without a request writes none', async (t) => {
    const world = worldWithBucket()
    world.do(put('a', EMPTY, 0))
    t.equal(links(world).length, 0)
  })

  t.test(
    'of bytes that were lost meanwhile is recorded with the code that the caller receives',
    async (t) => {
      const world = worldWithBucket()
      const chunks = { kind: 'chunks', chunks: [], copiesMin: 1 } as const
      const gone = { id: 'c', birth: 'x-1', size: 1, sealedSize: 2, checksum: 's', existing: true }
      const body = { ...chunks, chunks: [{ ...gone, replicas: [], missing: [] }] }
      t.match(ask(world, put('a', body, 1)), { code: 'chunks_gone' })
      t.match(auditRows(world), [{ code: 'slow_down' }])
    },
  )

  t.test('does not count in a quota', async (t) => {
    const world = worldWithBucket()
    world.do({ type: 'setQuota', tenantId: 'acme', maxBytes: 0, maxObjects: 1, maxBuckets: 1 })
    t.ok(ask(world, put('a', EMPTY, 0)).ok)
    t.match(world.get(usageKeys.usage('acme')), { logicalBytes: 0, objects: 1 })
    t.strictSame(recounted(world), [])
  })
})

t.test('a batch deletion names every key with its outcome', async (t) => {
  const world = worldWithBucket()
  world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
  const { object } = world.do(put('a', EMPTY, 0))
  const refused = { code: 'access_denied', message: 'No' } as const
  const items = [
    { key: 'a', versionId: object.versionId },
    { key: 'b', versionId: null },
    { key: 'c', versionId: 'nonsense' },
    { key: 'd', versionId: null, refused },
  ]
  const reply = ask(world, { type: 'deleteObjects', tenantId: 'acme', bucket: 'photos', items })
  t.ok(reply.ok)
  const marker = reply.ok && 'version' in (reply.value[1] ?? {}) ? reply.value[1] : undefined
  const [row] = auditRows(world)
  t.strictSame(row?.details, {
    deletedKeys: ['a', 'b', 'c'],
    versions: [
      { versionId: object.versionId },
      { versionId: (marker as { version: { versionId: string } }).version.versionId, deleteMarker: true },
      null,
    ],
    refusedKeys: [{ key: 'd', code: 'access_denied' }],
  })
  const whole = ask(world, { type: 'deleteObjects', tenantId: 'acme', bucket: 'nowhere', items })
  t.match(whole, { code: 'not_found' })
  t.match(auditRows(world).at(-1)?.details, {
    deletedKeys: [],
    refusedKeys: [{ key: 'a' }, { key: 'b' }, {}, {}],
  })
})

t.test('the largest batch of keys makes a row of bounded size', async (t) => {
  const world = worldWithBucket()
  world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
  const items = Array.from({ length: 256 }, (_, n) => ({ key: String(n).padEnd(1024, 'k'), versionId: null }))
  t.ok(ask(world, { type: 'deleteObjects', tenantId: 'acme', bucket: 'photos', items }).ok)
  t.equal(JSON.stringify(auditRows(world)[0]?.details).length, 279_087)
})

t.test('no secret is recorded', async (t) => {
  const world = worldWithBucket()
  const secret = Buffer.from('SEALED-SECRET')
  const about = { accessKeyId: 'AK1', tenantId: 'acme', expiresAt: null, secret } as const
  ask(world, { type: 'createAccessKey', ...about, accountId: null, name: null, scopes: 'read' })
  ask(world, { type: 'rotateAccessKey', ...about, scopes: null })
  ask(world, {
    type: 'createTenant',
    id: 'rival',
    name: 'Rival',
    dataKey: secret,
    dedupKey: secret,
    masterKeyId: 'mk',
  })
  const token = { tokenId: 'adm_1', name: 'ops', role: 'owner', tenantId: null, expiresAt: 7 } as const
  ask(world, { type: 'createAdminToken', ...token, sha256: 'HASH-OF-TOKEN' })
  const reported = links(world)
    .map(({ text }) => text)
    .join()
  t.notMatch(reported, /SEALED|HASH-OF|83,69,65/)
  t.match(auditRows(world), [
    { details: { accessKeyId: 'AK1', scopes: 'read' } },
    { details: { accessKeyId: 'AK1', scopes: 'read', version: 2 } },
    { tenantId: 'rival', details: { name: 'Rival' } },
    { details: { tokenId: 'adm_1', name: 'ops', role: 'owner' } },
  ])
})

t.test('rows of a spool', async (t) => {
  t.test('are taken over once, however often they are shipped', async (t) => {
    const world = new MapWorld()
    t.strictSame(world.do(ship(['a', 'b'], 0)), { next: 2 })
    t.strictSame(world.do(ship(['a', 'b', 'c'], 0)), { next: 2 })
    t.strictSame(world.do(ship(['b'], 1)), { next: 2 })
    t.strictSame(world.do(ship(['c'], 2)), { next: 3 })
    t.equal(links(world).length, 2)
    t.strictSame(verdict(world), [])
  })

  t.test('of each process have numbers of their own', async (t) => {
    const world = new MapWorld()
    world.do(ship(['a', 'b'], 0))
    t.strictSame(world.do(ship(['a'], 0, { spool: 'spool-2' })), { next: 1 })
    t.strictSame(world.do(ship(['a'], 0, { node: 'n2' })), { next: 1 })
    t.equal(links(world).length, 3)
  })

  t.test('that were lost leave a gap and do not block later ones', async (t) => {
    const world = new MapWorld()
    world.do(ship(['a'], 0))
    t.strictSame(world.do(ship(['c'], 5)), { next: 6 })
    t.match(
      links(world).map(({ text }) => JSON.parse(text).first),
      [0, 5],
    )
  })
})

/** Changes and batches of requests, in all orders. */
function longLog(count: number): MapWorld {
  const world = worldWithBucket()
  for (let n = 0; n < count; n++)
    if (n % 3 === 2) world.do(ship([`{"n":${n}}`, `{"n":${n},"second":true}`], n * 2))
    else ask(world, n % 3 === 0 ? put(`k${n}`, EMPTY, 0) : remove(`k${n - 1}`))
  return world
}

t.test('the chain', async (t) => {
  const damage: Record<string, (world: MapWorld, at: number) => void> = {
    'a changed row': (world, at) =>
      change(world, at, (link) => ({ ...link, text: link.text.replace('a', 'b') })),
    'a changed time': (world, at) => change(world, at, (link) => ({ ...link, time: link.time + 1 })),
    'a row that is removed': (world, at) => void world.rows.delete(auditRowKeys.auditLink(at)),
    'two rows that are swapped': (world, at) => swap(world, at, at === 0 ? 1 : at - 1),
    'a row that is rewritten with a hash of its own': (world, at) =>
      change(world, at, (link) => ({ ...link, hash: 'f'.repeat(64) })),
  }
  for (const [name, spoil] of Object.entries(damage))
    t.test(`detects ${name}, at any place`, async () => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 11 }), (at) => {
          const world = longLog(12)
          const whole = verdict(world)
          spoil(world, at)
          return whole.length === 0 && verdict(world).length > 0
        }),
        { numRuns: 24 },
      )
    })

  t.test('detects a row that was rewritten with a right hash, by the row after it', async (t) => {
    const world = longLog(6)
    const { hash: before } = world.get(auditRowKeys.auditLink(2)) as AuditLinkRecord
    change(world, 3, (link) => {
      const text = link.text.replace('192.0.2.7', '192.0.2.8')
      return { ...link, text, hash: linkHash(digest, before, text) }
    })
    t.match(verdict(world), [/^link 4 does not follow/])
  })

  t.test('detects changed rows of a batch under an intact link', async (t) => {
    const world = longLog(6)
    change(world, 2, (link) => ({ ...link, packed: Buffer.from(String(link.packed).replace('2', '9')) }))
    t.match(verdict(world), [/^the rows of link 2 were changed/])
  })

  t.test('detects an end that was cut off, with a noted head', async (t) => {
    const world = longLog(9)
    const { next, hash } = auditHead(world)
    t.strictSame(verdict(world, { next, hash }), [])
    world.rows.delete(auditRowKeys.auditLink(8))
    t.match(verdict(world), [/^the chain ends before link 8/])
    const shorter = world.get(auditRowKeys.auditLink(7)) as AuditLinkRecord
    world.rows.set(auditRowKeys.auditHead(), { ...auditHead(world), next: 8, hash: shorter.hash })
    t.strictSame(verdict(world), [], 'a head that was rewritten as well')
    t.match(verdict(world, { next, hash }), [/^the chain does not contain the head that was noted/])
  })

  t.test('grows with new links, and contains earlier heads', async (t) => {
    const world = longLog(4)
    const noted = auditHead(world)
    ask(world, put('more', EMPTY, 0))
    t.strictSame(verdict(world, noted), [])
  })
})

function change(world: MapWorld, at: number, by: (link: AuditLinkRecord) => AuditLinkRecord): void {
  const key = auditRowKeys.auditLink(at)
  world.rows.set(key, by(world.rows.get(key) as AuditLinkRecord))
}

function swap(world: MapWorld, one: number, other: number): void {
  const [a, b] = [world.rows.get(auditRowKeys.auditLink(one)), world.rows.get(auditRowKeys.auditLink(other))]
  world.rows.set(auditRowKeys.auditLink(one), b as AuditLinkRecord)
  world.rows.set(auditRowKeys.auditLink(other), a as AuditLinkRecord)
}

t.test('trimming', async (t) => {
  t.test('removes older links, in bounded steps, and leaves an anchor', async (t) => {
    const world = worldWithBucket()
    const count = AUDIT_TRIM_LINKS_MAX + 20
    for (let n = 0; n < count; n++) ask(world, put('a', EMPTY, 0))
    const before = links(world)[count - 10]?.time ?? 0
    t.strictSame(world.do({ type: 'trimAudit', before }), { trimmed: AUDIT_TRIM_LINKS_MAX, isMore: true })
    t.strictSame(verdict(world), [])
    t.strictSame(world.do({ type: 'trimAudit', before }), { trimmed: 10, isMore: false })
    t.strictSame(world.do({ type: 'trimAudit', before }), { trimmed: 0, isMore: false })
    t.equal(links(world).length, 10)
    t.match(auditHead(world), { first: count - 10, next: count })
    t.strictSame(verdict(world), [])
    ask(world, put('a', EMPTY, 0))
    t.strictSame(verdict(world), [])
  })

  t.test('of all links leaves a chain that continues', async (t) => {
    const world = longLog(5)
    const noted = auditHead(world)
    world.do({ type: 'trimAudit', before: world.time + 1 })
    t.equal(links(world).length, 0)
    ask(world, put('a', EMPTY, 0))
    t.strictSame(verdict(world, noted), [], 'the noted head is where the chain was cut')
    t.match(verdict(world, { ...noted, hash: 'e'.repeat(64) }), [/noted/])
  })

  t.test('removes a bounded number of bytes, at least one link', async (t) => {
    const world = new MapWorld()
    const large = ['x'.repeat(3_000_000)]
    for (let n = 0; n < 3; n++) world.do(ship(large, n))
    t.strictSame(world.do({ type: 'trimAudit', before: world.time }), { trimmed: 1, isMore: true })
  })

  t.test('removes the row of a spool with its last batch', async (t) => {
    const world = new MapWorld()
    world.do(ship(['a'], 0))
    const between = world.time + 1
    world.do(ship(['b'], 1))
    world.do({ type: 'trimAudit', before: between })
    t.equal(spoolRows(world), 1)
    world.do({ type: 'trimAudit', before: world.time })
    t.equal(spoolRows(world), 0)
    t.strictSame(world.do(ship(['c'], 2)), { next: 3 }, 'and takes rows that come later')
  })

  t.test('does not reach beyond the present', async (t) => {
    const world = longLog(2)
    t.match(world.run({ type: 'trimAudit', before: world.time + 1_000 }), {
      ok: false,
      code: 'invalid_argument',
    })
  })
})
