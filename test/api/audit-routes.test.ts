/**
 * Every route of both planes, asked so that it goes well, is denied and fails: one row of the audit log each.
 */
import * as fc from 'fast-check'
import t from 'tap'
import type { OperationId } from '../../src/access/operation-ids.ts'
import { UNAUDITED } from '../../src/api/audited.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { dataRoute } from '../../src/api/route.ts'
import { STATUS_OF } from '../../src/api/problem.ts'
import { DENIED, outcomeOf } from '../../src/operations/audit/outcome.ts'
import { ApiWorld, type Ask, METRICS } from './api-world.ts'
import { AuditedWorld } from './audited-world.ts'
import { type Kitchen, RECIPES } from './audit-recipes.ts'

const DONE = { status: 200, description: 'Done' }
const ROUTES = [...dataPlane.routes, ...adminPlane(METRICS).routes]
const routeOf = (id: string) => ROUTES.find(({ operationId }) => operationId === id)

t.test('every route leaves one row of each request [audit.every-request] [audit.denials]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world, owner } = audited
  const token = await world.memory.bearer('acme', 'read,write,delete,admin')
  const key = await world.memory.accessKey('acme', 'read,write,delete')
  const kitchen: Kitchen = {
    token,
    owner,
    key,
    uploadId: '',
    part: '',
    operation: '',
    delivery: '',
    readUrl: '',
    writeUrl: '',
  }
  for (const [id, recipe] of Object.entries(RECIPES) as [OperationId, (kitchen: Kitchen) => Ask][]) {
    const ask = recipe(kitchen)
    if (UNAUDITED[id] !== undefined) {
      const heard = await world.send(ask)
      t.equal(heard.status, 200, id)
      continue
    }
    const { heard, row } = await audited.row(ask)
    t.ok(heard.status < 300, `${id} goes well: ${heard.bytes.toString()}`)
    const isOpen = routeOf(id)?.auth === 'none'
    t.match(row, { operation: id, status: heard.status, code: null, nodeId: 'n1', sourceIp: '127.0.0.1' }, id)
    t.equal(outcomeOf(row), 'success', id)
    const isSigned = routeOf(id)?.auth === 'signedUrl'
    t.equal(row.actor.type, actorTypeOf(ask, { isOpen, isSigned }), id)
    t.equal(row.reason, isSigned || /"reason"/.test(JSON.stringify(ask.body ?? '')) ? 'because' : null, id)
    if (id === 'createMultipartUpload') kitchen.uploadId = String(heard.json['uploadId'])
    if (id === 'uploadPart') kitchen.part = String(heard.json['etag'])
    if (id === 'rebalance') kitchen.operation = String(heard.json['operationId'])
    if (id === 'testNotification') kitchen.delivery = String(heard.json['deliveryId'])
    if (id === 'signURL') {
      kitchen.readUrl = String(heard.json['token'])
      const body = { method: 'PUT', bucket: 'locked', key: 'a', reason: 'because' }
      kitchen.writeUrl = String((await world.send({ ...ask, body })).json['token'])
    }
    if (id === 'completeMultipartUpload') {
      const begun = await world.send(RECIPES.createMultipartUpload(kitchen))
      kitchen.uploadId = String(begun.json['uploadId'])
    }
    if (isOpen) continue
    const { token: _, ...known } = ask
    const stranger = isSigned ? { ...known, path: ask.path.replace(/\?.*/, '') } : known
    if (id !== 'createToken') {
      const denied = await audited.row(stranger)
      t.equal(denied.heard.status, 401, id)
      t.match(denied.row, {
        operation: id,
        status: 401,
        code: isSigned ? 'invalid_signed_url' : 'unauthorized',
        actor: { type: 'anonymous', id: null },
      })
      t.equal(outcomeOf(denied.row), 'denied', id)
    }
    const failed = await audited.row({ ...ask, path: `${ask.path}${isSigned ? '&' : '?'}nonsense=1` })
    t.equal(failed.heard.status, 400, id)
    t.match(failed.row, {
      operation: id,
      status: 400,
      actor: row.actor.type === 'accessKey' && id === 'createToken' ? {} : row.actor,
    })
    t.equal(outcomeOf(failed.row), 'error', id)
  }
  const probed = world.memory.auditRows.filter(
    ({ operation }) => UNAUDITED[operation as OperationId] === 'always',
  )
  t.strictSame(probed, [], 'probes leave none')
})

function actorTypeOf(
  ask: Ask,
  { isOpen, isSigned }: { readonly isOpen: boolean; readonly isSigned: boolean },
): string {
  if (isOpen) return 'anonymous'
  if (isSigned) return 'signedUrl'
  return ask.admin === true ? 'adminToken' : 'accessKey'
}

t.test('a route that is added leaves its row by itself', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const { services, auditRows } = world.memory
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[a-z]{1,12}$/), fc.boolean(), async (name, isThrowing) => {
      const added = dataRoute(
        {
          operationId: 'getBucket',
          method: 'POST',
          path: `/added-${name}/{bucket}`,
          summary: name,
          success: DONE,
        },
        async () => {
          if (isThrowing) throw new Error('a bug')
          return { kind: 'json', body: {} }
        },
      )
      const server = createHttpServer(services, { ...dataPlane, routes: [added] }, NO_METER)
      const before = auditRows.length
      const headers = { authorization: `Bearer ${token}` }
      const address = await server.listen({ host: '127.0.0.1', port: 0 })
      const answer = await fetch(`${address}/api/v1/added-${name}/b1`, { method: 'POST', headers })
      await answer.text()
      await server.close()
      const [row, ...more] = auditRows.slice(before)
      t.match(row, { bucket: 'b1', operation: 'getBucket', code: isThrowing ? 'internal_error' : null })
      t.strictSame(more, [])
    }),
    { numRuns: 6 },
  )
})

t.test('probes and scrapes that go well are the only exceptions [audit.probes]', async (t) => {
  t.strictSame(UNAUDITED, {
    healthz: 'always',
    readyz: 'always',
    adminHealthz: 'always',
    adminReadyz: 'always',
    getMetrics: 'success',
  })
  const audited = await AuditedWorld.start(t)
  audited.world.memory.notReady = ['no quorum']
  t.equal((await audited.world.send({ path: '/readyz' })).status, 503)
  t.equal((await audited.world.send({ path: '/metrics', admin: true, token: audited.owner })).status, 200)
  const { row } = await audited.row({ path: '/metrics', admin: true })
  t.match(row, { operation: 'getMetrics', code: 'unauthorized' })
  t.strictSame(
    audited.world.memory.auditRows.map(({ operation }) => operation),
    ['getMetrics'],
  )
})

t.test('DENIED are the codes that are answered with 401 and 403 [audit.outcome]', async (t) => {
  const denied = Object.entries(STATUS_OF).filter(([, status]) => status === 401 || status === 403)
  t.strictSame([...DENIED].toSorted(), denied.map(([code]) => code).toSorted())
})

t.test('what never becomes a request or meets no route', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world, token } = audited
  t.test('is told of as unknown', async (t) => {
    const found = await audited.row({ path: '/api/v1/nowhere/at/all?token=secret', token })
    t.match(found.row, {
      operation: 'unknown',
      path: '/api/v1/nowhere/at/all',
      code: 'not_found',
      actor: { type: 'accessKey' },
    })
    const denied = await audited.row({ path: '/api/v1/nowhere' })
    t.match(denied.row, { operation: 'unknown', code: 'unauthorized', status: 401 })
    const wrong = await audited.row({ method: 'PUT', path: '/api/v1/buckets', token })
    t.match(wrong.row, { code: 'method_not_allowed', method: 'PUT' })
    const broken = await audited.row({ path: '/api/v1/buckets/%ff', token })
    t.match(broken.row, { status: 400 })
  })

  t.test('is told of as unparsed, without its bytes [audit.unparsed]', async (t) => {
    const before = world.memory.auditRows.length
    await world.raw('NONSENSE svcadm_not-even-http\r\n\r\n')
    const rows = world.memory.auditRows.slice(before)
    t.match(rows, [
      {
        operation: 'unparsed',
        status: 400,
        code: 'invalid_request',
        path: null,
        actor: { type: 'anonymous' },
      },
    ])
    t.equal(rows.length, 1)
    t.notMatch(JSON.stringify(rows), /svcadm/)
  })

  t.test('is refused while there is no room for its row, but for probes [audit.no-room]', async (t) => {
    const { audit } = world.memory.services
    const { Condition } = await import('../../cluster/index.ts')
    const full = (): never => {
      throw new Condition('slow_down', 'No room')
    }
    world.memory.services.audit = { ...audit, admit: full }
    const before = world.memory.auditRows.length
    const put = await world.send({
      method: 'PUT',
      path: '/api/v1/buckets/photos/objects/x',
      token,
      body: 'x',
    })
    t.match(put, { status: 503, code: 'slow_down' })
    t.equal((await world.send({ path: '/healthz' })).status, 200)
    t.equal(await world.raw('NONSENSE\r\n\r\n'), '', 'not even told so')
    t.equal(world.memory.auditRows.length, before)
    world.memory.services.audit = audit
    t.equal(
      (await world.send({ path: '/api/v1/buckets/photos/objects/x', token })).status,
      404,
      'nothing was done',
    )
  })
})
