/**
 * Pages of the audit log: where they end, and rows behind those of others.
 */
import net from 'node:net'
import t from 'tap'
import { AuditSegments } from '../../src/operations/audit-segments/audit-segments.ts'
import { AUDIT_OWNER } from '../../src/state-machine/base/record-ids.ts'
import { auditRow } from '../helpers/audit-disk.ts'
import { deferred, until } from '../helpers/async.ts'
import { AuditedWorld, sealingIn, ship } from './audited-world.ts'
import { auditSegmentBefore } from '../../src/store/reads/audit-rows.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'

t.test('a page of queryAuditLog', async (t) => {
  const { world, owner } = await AuditedWorld.start(t)
  const query = (text: string) =>
    world.call({ admin: true, token: owner, path: `/admin/api/v1/audit${text}` })
  const denied = auditRow('denied', { status: 403, code: 'access_denied' })
  await ship(
    world,
    ['a', 'b', 'c'].map((key) => auditRow(key, { key, operation: 'putObject' })),
  )
  await ship(world, [denied], 0, 'oldest')

  await t.test('holds a row that lies behind thousands of others [audit.behind-others]', async (t) => {
    for (let n = 0; n < 2_010; n++) await ship(world, [auditRow(`sparse-${n}`)], n, 'sparse')
    const answer = await query('?requestId=denied')
    t.match(answer.json, { count: 1, isTruncated: false, records: [{ requestId: 'denied' }] })
    t.match((await query('?requestId=absent')).json, { count: 0, isTruncated: false })
  })

  await t.test('is not the last one only where one more row matches [audit.paging]', async (t) => {
    const puts = await query('?operation=putObject&limit=3')
    t.match(puts.json, { count: 3, isTruncated: false })
    const two = await query('?operation=putObject&limit=2')
    t.match(two.json, { count: 2, isTruncated: true })
    const next = String(two.json['nextContinuationToken'])
    const last = await query(`?operation=putObject&limit=2&continuationToken=${next}`)
    t.match(last.json, { count: 1, isTruncated: false })
  })

  await t.test(
    'ends at its bound of work once it has a row, and the next one continues there [audit.bounded-page]',
    async (t) => {
      const userAgent = 'x'.repeat(1_000_000)
      for (let n = 0; n < 18; n++) await ship(world, [auditRow(`wide-${n}`, { userAgent })], n, 'wide')
      await ship(world, [auditRow('denied')], 0, 'newest')
      const first = await query('?requestId=denied')
      t.match(first.json, { count: 1, isTruncated: true, records: [{ status: 200 }] })
      const next = String(first.json['nextContinuationToken'])
      const rest = await query(`?requestId=denied&continuationToken=${next}`)
      t.match(rest.json, { count: 1, isTruncated: false, records: [{ status: 403 }] })
    },
  )
})

t.test('a search stops opening segments when its client has left [audit.client-gone]', async (t) => {
  const { world, owner } = await AuditedWorld.start(t)
  const { memory } = world
  memory.featureLevel = 3
  let sequence = 0
  const sealing = sealingIn(memory)
  for (; sequence < 3; sequence++) {
    await ship(world, [auditRow(`r${sequence}`)], sequence)
    await sealing.round()
  }
  const segments = new AuditSegments(memory.own)
  const held = deferred()
  const ended = deferred()
  let opened = 0
  memory.services.auditSegments = {
    walk: (work) => segments.walk(work).finally(ended.resolve),
    open: async (segment) => {
      opened++
      await held.promise
      return segments.open(segment)
    },
  }
  const socket = net.connect(world.adminPort, '127.0.0.1')
  socket.write(
    `GET /admin/api/v1/audit?keyPrefix=nowhere HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner}\r\n\r\n`,
  )
  await until('a segment is opened', () => opened === 1)
  socket.destroy()
  await until('it is audited', () => memory.auditRows.some(({ code }) => code === 'client_gone'))
  held.resolve()
  await ended.promise
  t.equal(opened, 1)
})

t.test('an answer names the rows that no node can read [audit.segments] [audit.gaps]', async (t) => {
  const { world, owner } = await AuditedWorld.start(t)
  const { memory } = world
  memory.featureLevel = 3
  const query = (text: string) =>
    world.call({ admin: true, token: owner, path: `/admin/api/v1/audit${text}` })
  await ship(world, [auditRow('sealed')])
  const whole = await query('?limit=1000')
  const sealing = sealingIn(memory)
  await sealing.round()
  const segment = await auditSegmentBefore(memory.reader, Number.MAX_SAFE_INTEGER)
  t.ok(segment !== null)
  t.strictSame((await query('?limit=1000')).json, whole.json, 'sealing changes no answer')
  memory.services.auditSegments = new AuditSegments(memory.own)
  const id = segment?.chunkId ?? ''
  const birth = memory.reader.get(chunkKeys.chunk(AUDIT_OWNER, id))?.birth ?? ''
  for (const node of ['n1', 'n2', 'n3']) memory.blobs.lose(node, { id, birth })
  await ship(world, [auditRow('newer')], 1)
  const answer = await query('?requestId=sealed')
  t.match(answer, { status: 200, json: { count: 0, gaps: [{ rows: segment?.rows, from: /Z$/, to: /Z$/ }] } })
  t.equal((await query('?requestId=newer')).json['gaps'], undefined, 'it cannot be in there')
})
