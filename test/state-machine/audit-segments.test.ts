/**
 * Segments of the audit log in the state: for any sealing and trimming, the log contains each event once, in order.
 */
import * as fc from 'fast-check'
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { auditRanges, auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { auditHead } from '../../src/state-machine/audit/append.ts'
import {
  AUDIT_SEGMENT_LINKS_MAX,
  AUDIT_TRIM_SEGMENTS_MAX,
  type AuditLinkRecord,
  type AuditSegmentRecord,
} from '../../src/state-machine/audit/records.ts'
import { AUDIT_OWNER } from '../../src/state-machine/base/record-ids.ts'
import type { ChunkUse } from '../../src/state-machine/chunks/commands.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { rowsBegin } from '../../src/state-machine/audit/audit-segments.ts'
import { ask, links, ship, spoolRows } from './audit-world.ts'
import {
  createBucket,
  fresh,
  type MapWorld,
  put,
  recounted,
  rowsUnder,
  worldWithBucket,
} from './map-world.ts'

const EMPTY = { kind: 'empty' } as const
type Seal = Extract<Command, { type: 'sealAudit' }>

/** What the chunks of segments hold, as the copies would. */
type Copies = Map<string, readonly AuditLinkRecord[]>

const segmentsOf = (world: MapWorld): AuditSegmentRecord[] => rowsUnder(world, auditRanges.auditSegments())

/** As the worker would propose it for the oldest `count` rows. */
function sealOf(world: MapWorld, count: number, more: Partial<AuditSegmentRecord> = {}): Seal {
  const { first, anchor } = rowsBegin(auditHead(world))
  const sealed = links(world).slice(0, count)
  const [oldest, newest] = [sealed[0], sealed.at(-1)]
  const chunkId = `segment-${first}-${count}`
  const spools = new Map<string, AuditSegmentRecord['spools'][number]>()
  for (const { text, time, packed } of sealed) {
    const { nodeId: node, spool } = JSON.parse(text) as { nodeId: string; spool: string }
    if (packed !== null) spools.set(`${node}/${spool}`, { node, spool, time })
  }
  const segment: AuditSegmentRecord = {
    first,
    next: first + count,
    anchor,
    hash: newest?.hash ?? '',
    firstTime: oldest?.time ?? 0,
    lastTime: newest?.time ?? 0,
    rows: count,
    bytes: 100,
    chunkId,
    size: 10,
    spools: [...spools.values()],
    index: { codes: null, names: new Uint8Array(8) },
    ...more,
  }
  const birth = `birth-${world.index.toString(36)}`
  return { type: 'sealAudit', segment, chunk: fresh(chunkId, { birth }), copiesMin: 2 }
}

/** The whole log as a reader would put it together. */
function logOf(world: MapWorld, copies: Copies): readonly string[] {
  const sealed = segmentsOf(world).flatMap(({ chunkId }) => copies.get(chunkId) ?? [])
  return [...sealed, ...links(world)].map(({ text }) => text)
}

t.test('a segment', async (t) => {
  t.test('removes its rows from the state, refers to its chunk, and the chain continues', async (t) => {
    const world = worldWithBucket()
    for (let n = 0; n < 6; n++) ask(world, put(`k${n}`, EMPTY, 0))
    const { next, hash } = auditHead(world)
    const seal = sealOf(world, 4)
    t.equal(world.do(seal), null)
    t.equal(links(world).length, 2)
    t.strictSame(segmentsOf(world), [seal.segment])
    t.match(auditHead(world), { first: 0, next, hash, sealed: { next: 4, hash: seal.segment.hash } })
    t.match(world.get(chunkKeys.chunk(AUDIT_OWNER, seal.chunk.id)), { references: 1, replicas: ['n1', 'n2'] })
    t.strictSame(recounted(world), [])
    ask(world, put('more', EMPTY, 0))
    t.equal(auditHead(world).next, 7)
    t.strictSame(recounted(world), [])
  })

  const refused: Record<string, (seal: Seal, world: MapWorld) => Seal> = {
    'of other rows': (seal) => withSegment(seal, { hash: 'f'.repeat(64) }),
    'that begins behind the oldest row': (seal) => withSegment(seal, { first: 1 }),
    'that begins before the oldest row': (seal) => withSegment(seal, { first: -1 }),
    'with another anchor': (seal) => withSegment(seal, { anchor: 'e'.repeat(64) }),
    'that ends behind the last row': (seal) => withSegment(seal, { next: 7 }),
    'that is longer by one than its hash': (seal) => withSegment(seal, { next: 5 }),
    'that is shorter by one than its hash': (seal) => withSegment(seal, { next: 3 }),
    'with another time of its newest row': (seal) => withSegment(seal, { lastTime: 1 }),
    'with another time of its oldest row': (seal) => withSegment(seal, { firstTime: 1 }),
    'of another chunk': (seal) => withSegment(seal, { chunkId: 'other' }),
    'with too few copies': (seal) => withChunk(seal, { replicas: ['n1'] }),
    'whose upload has ended': (seal) => withChunk(seal, { birth: 'closed-1' }),
    'whose index is too large': (seal) =>
      withSegment(seal, { index: { codes: null, names: new Uint8Array(65_537) } }),
  }
  for (const [name, spoil] of Object.entries(refused))
    t.test(`${name} is refused, and all rows stay`, async (t) => {
      const world = worldWithBucket()
      for (let n = 0; n < 6; n++) ask(world, put(`k${n}`, EMPTY, 0))
      const before = new Map(world.rows)
      t.match(world.run(spoil(sealOf(world, 4), world)), { ok: false, code: 'precondition_failed' })
      t.strictSame(new Map(world.rows), before)
      t.ok(world.run(sealOf(world, 4)).ok, 'and the true one is taken')
    })

  t.test('is registered once, even if two nodes make one of the same rows', async (t) => {
    const world = worldWithBucket()
    for (let n = 0; n < 6; n++) ask(world, put(`k${n}`, EMPTY, 0))
    const one = sealOf(world, 4)
    const other = withChunk(one, { birth: 'birth-zz' })
    world.do(one)
    t.match(world.run(other), { ok: false })
    t.match(world.run(one), { ok: false })
    t.equal(segmentsOf(world).length, 1)
    t.strictSame(recounted(world), [])
  })

  t.test('holds a bounded number of links', async (t) => {
    const world = worldWithBucket()
    const count = AUDIT_SEGMENT_LINKS_MAX + 1
    for (let n = 0; n < count; n++) world.do(ship(['a'], n))
    t.match(world.run(sealOf(world, count)), { ok: false })
    t.ok(world.run(sealOf(world, count - 1)).ok)
  })
})

function withSegment(seal: Seal, more: Partial<AuditSegmentRecord>): Seal {
  return { ...seal, segment: { ...seal.segment, ...more } }
}

function withChunk(seal: Seal, more: Partial<ChunkUse>): Seal {
  return { ...seal, chunk: { ...seal.chunk, ...more } }
}

t.test('trimming', async (t) => {
  t.test('drops whole segments whose newest row is older, and releases their chunks', async (t) => {
    const world = worldWithBucket()
    for (let n = 0; n < 9; n++) ask(world, put(`k${n}`, EMPTY, 0))
    for (let n = 0; n < 2; n++) world.do(sealOf(world, 4))
    const [first, second] = segmentsOf(world)
    t.strictSame(world.do({ type: 'trimAudit', before: first?.lastTime ?? 0 }), { trimmed: 0, isMore: false })
    t.strictSame(world.do({ type: 'trimAudit', before: second?.lastTime ?? 0 }), {
      trimmed: 4,
      isMore: false,
    })
    t.match(auditHead(world), { first: 4, anchor: first?.hash })
    t.match(world.get(chunkKeys.chunk(AUDIT_OWNER, first?.chunkId ?? '')), { references: 0 })
    t.strictSame(recounted(world), [])
    t.strictSame(world.do({ type: 'trimAudit', before: world.time }), { trimmed: 5, isMore: false })
    t.equal(links(world).length, 0)
    t.match(auditHead(world), { first: 9, next: 9 })
    t.strictSame(recounted(world), [])
    ask(world, put('more', EMPTY, 0))
    t.ok(world.run(sealOf(world, 1)).ok)
    t.strictSame(recounted(world), [])
  })

  t.test('drops a bounded number of segments at once', async (t) => {
    const world = worldWithBucket()
    for (let n = 0; n <= AUDIT_TRIM_SEGMENTS_MAX; n++) {
      ask(world, put('a', EMPTY, 0))
      world.do(sealOf(world, 1))
    }
    const trimmed = world.do({ type: 'trimAudit', before: world.time })
    t.strictSame(trimmed, { trimmed: AUDIT_TRIM_SEGMENTS_MAX, isMore: true })
    t.strictSame(world.do({ type: 'trimAudit', before: world.time }), { trimmed: 1, isMore: false })
  })

  t.test('removes the row of a spool with the segment of its last batch, and not before', async (t) => {
    const world = worldWithBucket()
    world.do(ship(['a'], 0))
    world.do(sealOf(world, 1))
    const between = world.time
    world.do(ship(['b'], 1))
    world.do(sealOf(world, 1))
    world.do({ type: 'trimAudit', before: between })
    t.equal(segmentsOf(world).length, 1)
    t.equal(spoolRows(world), 1)
    t.strictSame(world.do(ship(['b'], 1)), { next: 2 }, 'rows in a segment are taken once')
    world.do({ type: 'trimAudit', before: world.time })
    t.equal(spoolRows(world), 0)
  })
})

t.test('the keys of the audit log are those of the first writer', async (t) => {
  const world = worldWithBucket()
  const pair = (n: number) => ({ dataKey: Uint8Array.of(n), dedupKey: Uint8Array.of(n, n) })
  t.strictSame(world.do({ type: 'setAuditKeys', keys: pair(1) }), pair(1))
  t.strictSame(world.do({ type: 'setAuditKeys', keys: pair(2) }), pair(1))
  const rewrap = (from: number, to: number) =>
    world.do({
      type: 'rewrapTenantKeys',
      masterKeyId: 'mk-2',
      items: [{ tenantId: AUDIT_OWNER, before: pair(from), after: pair(to) }],
    })
  t.strictSame(rewrap(2, 3), { rewrapped: 0 })
  t.strictSame(rewrap(1, 3), { rewrapped: 1 })
  t.strictSame(world.get(auditRowKeys.auditKeys()), pair(3))
})

type Step =
  | { readonly kind: 'change' | 'refuse' | 'ship' | 'again' }
  | { readonly kind: 'seal'; readonly count: number; readonly tries: number }
  | { readonly kind: 'trim'; readonly back: number }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.constantFrom('change', 'refuse', 'ship', 'again').map((kind) => ({ kind }) as Step),
    fc.record({
      kind: fc.constant('seal' as const),
      count: fc.integer({ min: 1, max: 7 }),
      tries: fc.integer({ min: 1, max: 2 }),
    }),
    fc.record({ kind: fc.constant('trim' as const), back: fc.integer({ min: 0, max: 120 }) }),
  ),
  { maxLength: 60 },
)

t.test('the log contains each event once and in order, for any sealing and trimming', async () => {
  fc.assert(
    fc.property(steps, (history) => {
      const world = worldWithBucket()
      const copies: Copies = new Map()
      /** Every link there ever was, by its number. */
      const happened: AuditLinkRecord[] = []
      let shipped = 0
      for (const step of history) {
        const { next } = auditHead(world)
        if (step.kind === 'change') ask(world, put('a', EMPTY, 0))
        if (step.kind === 'refuse') ask(world, createBucket('photos'))
        if (step.kind === 'ship') world.do(ship([`row ${shipped}`], shipped++))
        if (step.kind === 'again' && shipped > 0) world.do(ship([`row ${shipped - 1}`], shipped - 1))
        if (step.kind === 'seal' && links(world).length >= step.count) {
          const seal = sealOf(world, step.count)
          copies.set(seal.segment.chunkId, links(world).slice(0, step.count))
          for (let tries = 0; tries < step.tries; tries++) world.run(seal)
        }
        if (step.kind === 'trim') {
          const before = world.time - step.back
          const { first } = auditHead(world)
          world.do({ type: 'trimAudit', before })
          const gone = happened.slice(first, auditHead(world).first)
          if (gone.some(({ time }) => time >= before)) return false
        }
        const [added] = links(world).slice(-1)
        if (auditHead(world).next > next && added !== undefined) happened.push(added)
        const kept = happened.slice(auditHead(world).first).map(({ text }) => text)
        if (JSON.stringify(logOf(world, copies)) !== JSON.stringify(kept)) return false
        if (recounted(world).length > 0) return false
      }
      return true
    }),
    { numRuns: 150 },
  )
})
