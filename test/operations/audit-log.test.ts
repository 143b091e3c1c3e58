/**
 * The audit log as queries and verification see it while its rows lie partly in the state and partly in segments.
 */
import t, { type Test } from 'tap'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { rowFilter } from '../../src/operations/audit/audit-filters.ts'
import {
  auditPage,
  type AuditPage,
  type AuditPlace,
  PAGE_BOUNDS,
} from '../../src/operations/audit/audit-page.ts'
import type { StateReader } from '../../src/store/reads/state-reader.ts'
import { verifyAudit } from '../../src/operations/audit/verify-audit-log.ts'
import { deferred } from '../helpers/async.ts'
import { down, SealingWorld } from '../workers/sealing-world.ts'
import { oldestAuditTime } from '../../src/store/reads/audit-rows.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'

t.test('a query', async (t) => {
  const world = await SealingWorld.start(t)
  for (let n = 0; n < 6; n++) {
    await world.log(10, {
      tenantId: `t${n}`,
      key: `k${n}`,
      actor: { type: 'accessKey', id: `AK${n}`, role: null, session: `build-${n}` },
    })
    if (n < 5) await world.sealAll()
  }
  await world.ship([{ code: 'access_denied', status: 403, bucket: 'rare', details: { session: 'made' } }])
  const details = { deletedKeys: ['batch-1'], refusedKeys: [{ key: 'batch-b', code: 'x' }] }
  await world.ship([{ key: null, details }])
  await world.sealAll()
  await world.log(3)

  await t.test('sees segments and rows as one log, the newest first, in pages', async (t) => {
    const all: string[] = []
    let pages = 0
    for (let from: AuditPlace | null = null; ; ) {
      const page: AuditPage = await world.page({}, 7, from)
      all.push(...page.rows.map(({ row }) => row.requestId))
      pages++
      if (page.next === null) break
      from = page.next
    }
    t.strictSame(all, down(64, 0))
    t.equal(pages, 10)
  })

  await t.test('opens only the segments that may hold matching rows', async (t) => {
    const rare = await world.page({ bucket: 'rare' })
    t.equal(rare.rows.length, 1)
    t.equal(rare.segmentsOpened, 1)
    t.equal((await world.page({ outcome: 'denied' })).segmentsOpened, 1)
    for (const [filters, count] of [
      [{ tenant: 't2' }, 10],
      [{ key: 'k3' }, 10],
      [{ key: 'batch-1' }, 1],
      [{ key: 'batch-b' }, 1],
      [{ actor: 'AK1' }, 10],
      [{ session: 'build-1' }, 10],
      [{ session: 'made' }, 1],
      [{ session: 'AK1' }, 0],
      [{ session: 'AKEXAMPLE' }, 0],
      [{ requestId: 'r14' }, 1],
      [{ operation: 'deleteObject' }, 0],
      [{ keyPrefix: 'k4' }, 10],
    ] as const) {
      const page = await world.page(filters)
      t.equal(page.rows.length, count, JSON.stringify(filters))
      if (!('keyPrefix' in filters)) t.ok(page.segmentsOpened <= 1, JSON.stringify(filters))
    }
  })

  await t.test('finds the rows of a window of time, in the state and in segments', async (t) => {
    const times = new Map<string, number>()
    const segments = await world.segments()
    const { firstTime, lastTime } = segments[2] ?? { firstTime: 0, lastTime: 0 }
    const window = { since: firstTime, until: lastTime, limit: 1_000, from: null, filter: rowFilter({}) }
    const parts = { state: world.memory.reader, segments: world.fresh() }
    const page = await auditPage(parts, window)
    t.strictSame(
      page.rows.map(({ row }) => row.requestId),
      down(28, 20),
    )
    t.equal(page.segmentsOpened, 1)
    t.equal(times.size, 0)
  })

  await t.test('ends at its bound of segments once it has a row', async (t) => {
    const parts = { state: world.memory.reader, segments: world.fresh() }
    const query = { since: 0, until: null, limit: 1_000, from: null, filter: rowFilter({ keyPrefix: 'k' }) }
    const page = await auditPage(parts, query, { ...PAGE_BOUNDS, segments: 2 })
    t.ok(page.next !== null && page.rows.length > 0 && page.segmentsOpened === 2)
    const none = { ...query, filter: rowFilter({ keyPrefix: 'nowhere' }) }
    const empty = await auditPage(parts, none, { ...PAGE_BOUNDS, segments: 2 })
    t.match(empty, { rows: [], next: null })
  })

  await t.test('names a segment without a readable copy, and returns the rest', async (t) => {
    const name = await world.copyOf(2)
    for (const node of ['n1', 'n2', 'n3']) world.memory.blobs.lose(node, name)
    const page = await world.page()
    t.strictSame(
      page.rows.map(({ row }) => row.requestId),
      [...down(64, 30), ...down(19, 0)],
    )
    t.match(page.gaps, [{ first: 20, next: 30, rows: 10 }])
    t.match(await world.page({ tenant: 't5' }), { gaps: [], next: null })
    const verdict = await world.verify()
    t.match(verdict.faults, [/^links 20 to 29 cannot be read/])
    t.equal(verdict.rows, 55)
  })
})

t.test('verification', async (t) => {
  const start = async (t: Test): Promise<SealingWorld> => {
    const world = await SealingWorld.start(t)
    for (let n = 0; n < 3; n++) {
      await world.log(4)
      await world.sealAll()
    }
    await world.log(2)
    const whole = await world.verify()
    t.match(whole, { links: 14, rows: 14, segments: 3, first: 0, next: 14, faults: [] })
    return world
  }

  t.test('finds a segment whose copies were all changed on disk', async (t) => {
    const world = await start(t)
    const name = await world.copyOf(1)
    for (const node of ['n1', 'n2', 'n3']) {
      const bytes = world.memory.blobs.bytesOn(node, name)
      bytes[40] = (bytes[40] ?? 0) ^ 1
    }
    t.match((await world.verify()).faults, [/^links 4 to 7 cannot be read/])
  })

  t.test('reads past a single changed copy', async (t) => {
    const world = await start(t)
    const bytes = world.memory.blobs.bytesOn('n1', await world.copyOf(1))
    bytes[40] = (bytes[40] ?? 0) ^ 1
    t.strictSame((await world.verify()).faults, [])
  })

  const changes: Record<string, (row: Record<string, unknown>) => Record<string, unknown>> = {
    'an index that hides its rows': (row) => ({ ...row, index: { codes: [], names: new Uint8Array(8) } }),
    'another count of rows': (row) => ({ ...row, rows: 3 }),
    'another time': (row) => ({ ...row, lastTime: 1 }),
    'another hash': (row) => ({ ...row, hash: 'f'.repeat(64) }),
    'another anchor': (row) => ({ ...row, anchor: 'f'.repeat(64) }),
    'the chunk of another segment': (row) => ({ ...row, chunkId: 'other' }),
  }
  for (const [name, change] of Object.entries(changes))
    t.test(`finds a row of a segment with ${name}`, async (t) => {
      const world = await start(t)
      const [, segment] = await world.segments()
      await world.memory.writeRow(auditRowKeys.auditSegment(4), change({ ...segment }))
      t.not((await world.verify()).faults.length, 0)
    })

  t.test('finds a segment whose row was taken out', async (t) => {
    const world = await start(t)
    await world.memory.removeRow(auditRowKeys.auditSegment(4))
    t.not((await world.verify()).faults.length, 0)
  })
})

t.test('trimming drops segments whose rows are all older, and the rest continues', async (t) => {
  const world = await SealingWorld.start(t)
  for (let n = 0; n < 3; n++) {
    await world.log(4)
    await world.sealAll()
  }
  const [, second] = await world.segments()
  await world.memory.change({ type: 'trimAudit', before: second?.lastTime ?? 0 })
  t.strictSame(await world.ids(), down(11, 4))
  t.match(await world.verify(), { first: 4, segments: 2, faults: [] })
  t.equal(oldestAuditTime(world.memory.reader), second?.lastTime)
  const recount = await recountState(world.memory.reader, () => true)
  t.strictSame(recount?.differences, [])
})

/** `after` runs when a read of several rows has its answer, before the walk gets it. */
function readingThrough(reader: StateReader, after: () => Promise<void>): StateReader {
  return {
    get: (key) => reader.get(key),
    page: (range, query) => reader.page(range, query),
    cut: (read) => reader.cut(read),
    usable: reader.usable,
    lease: async (work) => {
      const answer = await reader.lease(work)
      await after()
      return answer
    },
  }
}

t.test('a walk meets each row once while rows become a segment beside it', async (t) => {
  t.test('between its looks at rows and at segments', async (t) => {
    const world = await SealingWorld.start(t)
    await world.log(12)
    let looks = 0
    const state = readingThrough(world.memory.reader, async () => {
      if (looks++ === 0) await world.sealAll()
    })
    const query = { since: 0, until: null, limit: 1_000, from: null, filter: rowFilter({}) }
    const page = await auditPage({ state, segments: world.fresh() }, query)
    t.equal((await world.segments()).length, 1)
    t.strictSame(
      page.rows.map(({ row }) => row.requestId),
      down(11, 0),
    )
  })

  t.test('between two of its pages', async (t) => {
    const world = await SealingWorld.start(t)
    await world.log(12)
    const first = await world.page({}, 5)
    await world.sealAll()
    const rest = await world.page({}, 100, first.next)
    t.strictSame(
      [...first.rows, ...rest.rows].map(({ row }) => row.requestId),
      down(11, 0),
    )
  })

  t.test('and verification finds nothing wrong', async (t) => {
    const world = await SealingWorld.start(t)
    await world.log(12)
    let looks = 0
    const state = readingThrough(world.memory.reader, async () => {
      if (looks++ === 0) await world.sealAll()
    })
    t.match(await verifyAudit({ state, segments: world.fresh() }, null), { links: 12, faults: [] })
  })
})

t.test('a node walks the log for a bounded number of readers at a time [audit.bounded-page]', async (t) => {
  const world = await SealingWorld.start(t)
  const segments = world.fresh()
  const held = Array.from({ length: 8 }, () => deferred())
  const walks = held.map(({ promise }) => segments.walk(() => promise))
  await t.rejects(
    segments.walk(async () => 1),
    { code: 'slow_down' },
  )
  for (const { resolve } of held) resolve()
  await Promise.all(walks)
  t.equal(await segments.walk(async () => 1), 1)
})
