/**
 * Floods of unauthenticated clients, probes and scrapes through both servers, with the spools of a node on a disk in memory: what they leave behind, and
 * what a reader of the log sees of it.
 */
import t from 'tap'
import { CountingTrail } from '../../src/audit/counting-trail.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import { until } from '../helpers/async.ts'
import { SPOOL_DIR, spoolFilesOn } from '../helpers/audit-disk.ts'
import { recordingLogger } from '../helpers/loggers.ts'
import { MemoryFiles } from '../wal/memory-files.ts'
import type { Ask } from './api-world.ts'
import { AuditedWorld, ship } from './audited-world.ts'

const LONG = 'x'.repeat(2_000)
/** Of a row of an unauthenticated client, as text. */
const ROW_CHARACTERS_MAX = 1_200

interface Flooded {
  readonly audited: AuditedWorld
  /** All rows that the requests have left so far, after the minute of their counts has ended. */
  readonly rows: () => Promise<readonly AuditRow[]>
}

async function start(t: Parameters<typeof AuditedWorld.start>[0], strict = false): Promise<Flooded> {
  const audited = await AuditedWorld.start(t, { auditStrict: strict })
  let now = 0
  const trail = await CountingTrail.open({
    dir: SPOOL_DIR,
    strict,
    spoolBytesMax: 2 ** 22,
    unprovedSpoolBytesMax: 2 ** 20,
    logger: recordingLogger([]),
    files: spoolFilesOn(new MemoryFiles()),
    later: () => {},
    now: () => now,
  })
  audited.world.memory.services.audit = trail
  const found: AuditRow[] = []
  const rows = async (): Promise<readonly AuditRow[]> => {
    now += 60_000
    trail.sweep()
    await trail.durable('known')
    await trail.durable('unproved')
    for (const spool of trail.spools)
      for (let batch = await spool.oldest(); batch !== null; batch = await spool.oldest()) {
        found.push(...batch.rows.map((text) => JSON.parse(text) as AuditRow))
        await spool.taken(batch)
      }
    return found
  }
  return { audited, rows }
}

const requestsIn = (rows: readonly AuditRow[]): number =>
  rows.reduce((sum, { repeated }) => sum + (repeated?.count ?? 1), 0)

/** The edge records when the connection is done with a request, which the client may know first. */
async function allOf({ rows }: Flooded, count: number): Promise<readonly AuditRow[]> {
  await until('every request has left its trace', async () => requestsIn(await rows()) >= count)
  return await rows()
}

async function send({ audited }: Flooded, times: number, ask: Ask): Promise<void> {
  for (let n = 0; n < times; n++) await audited.world.send(ask)
}

t.test(
  'a flood without a token leaves a few short rows, and each request is in one [audit.floods]',
  async (t) => {
    const flooded = await start(t)
    const headers = { 'user-agent': LONG }
    await send(flooded, 60, { path: `/api/v1/buckets/${LONG}?versionId=${LONG}`, headers })
    const rows = await allOf(flooded, 60)
    t.equal(requestsIn(rows), 60)
    t.ok(rows.length <= 13, `${rows.length} rows`)
    for (const row of rows) {
      t.ok(JSON.stringify(row).length < ROW_CHARACTERS_MAX)
      t.match(row, { operation: 'getBucket', code: 'unauthorized', actor: { type: 'anonymous' } })
      t.equal(row.path?.length, 256)
      t.equal(row.userAgent?.length, 64)
    }
  },
)

t.test('a known caller keeps long paths, and its requests stay rows of their own', async (t) => {
  const flooded = await start(t)
  const { token } = flooded.audited
  const path = `/api/v1/buckets/photos/objects/${'k'.repeat(900)}`
  await send(flooded, 30, { path, token, headers: { 'user-agent': LONG } })
  const rows = await allOf(flooded, 30)
  t.equal(rows.length, 30)
  t.match(rows[0], { path, code: 'not_found' })
  t.equal(rows[0]?.userAgent?.length, 256)
})

t.test('a right exchange of credentials is the row of a known caller', async (t) => {
  const flooded = await start(t)
  const body = await flooded.audited.world.memory.accessKey('acme', 'read')
  await send(flooded, 15, {
    method: 'POST',
    path: '/api/v1/auth/token',
    body,
    headers: { 'user-agent': LONG },
  })
  const rows = await allOf(flooded, 15)
  t.equal(rows.length, 15)
  t.match(rows[0], { code: null, actor: { type: 'accessKey', id: body.accessKeyId } })
  t.equal(rows[0]?.userAgent?.length, 256)
})

t.test('what is no request is counted as well', async (t) => {
  const flooded = await start(t)
  for (let n = 0; n < 25; n++) await flooded.audited.world.raw('NONSENSE\r\n\r\n')
  const rows = await allOf(flooded, 25)
  t.ok(rows.length <= 13)
  t.match(rows.at(-1), { operation: 'unparsed', repeated: { from: '127.0.0.1' } })
})

t.test('probes and scrapes of one caller share a row a minute [audit.probes]', async (t) => {
  for (const strict of [false, true]) {
    const flooded = await start(t, strict)
    const { world, owner } = flooded.audited
    for (const path of ['/healthz', '/readyz']) {
      await send(flooded, 5, { path })
      await send(flooded, 5, { path, admin: true })
    }
    await send(flooded, 5, { path: '/metrics', admin: true, token: owner })
    world.memory.notReady = ['no quorum']
    await send(flooded, 5, { path: '/readyz' })
    const rows = await allOf(flooded, 30)
    const found = rows.map(({ operation, code, repeated }) => `${operation} ${code} ${repeated?.count}`)
    t.strictSame(found.toSorted(), [
      'adminHealthz null 5',
      'adminReadyz null 5',
      'getMetrics null 5',
      'healthz null 5',
      'readyz leader_not_ready 5',
      'readyz null 5',
    ])
    t.match(rows.find(({ operation }) => operation === 'getMetrics')?.actor, { type: 'adminToken' })
  }
})

t.test('a reader finds a counted row, by its example too [audit.floods]', async (t) => {
  const flooded = await start(t)
  const { world, owner } = flooded.audited
  await send(flooded, 30, { path: '/api/v1/buckets' })
  const rows = await allOf(flooded, 30)
  await ship(world, rows)
  const counted = rows.find(({ repeated }) => repeated !== undefined)
  const query = `/admin/api/v1/audit?requestId=${counted?.requestId}`
  const { json } = await world.call({ path: query, admin: true, token: owner })
  const [record] = json['records'] as readonly Record<string, unknown>[]
  t.match(record, {
    outcome: 'denied',
    sourceIp: '127.0.0.1',
    repeated: { count: 20, firstTime: /^\d{4}-/, lastTime: /^\d{4}-/, from: '127.0.0.1' },
  })
})
