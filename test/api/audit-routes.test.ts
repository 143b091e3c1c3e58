/**
 * Every route of both planes, requested so that it succeeds, is denied and fails: one row of the audit log each.
 */
import * as fc from 'fast-check'
import t from 'tap'
import { dataPlane } from '../../src/api/native/routes.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { dataRoute } from '../../src/api/route.ts'
import { STATUS_OF } from '../../src/api/problem.ts'
import { DENIED, outcomeOf } from '../../src/operations/audit/outcome.ts'
import { getBucket } from '../../src/operations/buckets/bucket-lookups.ts'
import { OPERATIONS } from '../helpers/operations.ts'
import { TWO_DISKS } from '../helpers/disk-samples.ts'
import { foundThree } from '../helpers/membership-samples.ts'
import { ApiWorld } from './api-world.ts'
import { AuditedWorld } from './audited-world.ts'
import {
  askOf,
  exampleOf,
  type ExampleId,
  isAdmin,
  operationIdOf,
  operationOf,
  PREPARED,
  STORY,
  takes,
} from './example-story.ts'

const ROUTINE = OPERATIONS.filter(({ isRoutine }) => isRoutine === true).map(({ id }) => id)
const DONE = { status: 200, description: 'Done' }

/** The use of a URL is recorded with the reason of its creation. */
const MINTED_BY: Readonly<Record<string, ExampleId>> = {
  getSigned: 'signURL',
  preflightSigned: 'signURL',
  putSigned: 'signUpload',
}

t.test('every route leaves one row of each request [audit.every-request] [audit.denials]', async (t) => {
  const audited = await AuditedWorld.empty(t, { limits: { adminRequestsBurst: 10_000 } })
  const { owner } = audited
  await foundThree(audited.world.memory)
  audited.world.memory.repairs = TWO_DISKS
  await audited.world.memory.change(PREPARED)
  const answers: Record<string, unknown> = {}
  let token = ''
  for (const id of STORY) {
    const operationId = operationIdOf(id)
    const isBearer = takes(operationOf(id), 'bearer')
    const isSigned = takes(operationOf(id), 'signedUrl')
    const anonymous = askOf(id, answers)
    const ask = isBearer ? { ...anonymous, token: isAdmin(id) ? owner : token } : anonymous
    const { answer, row } = await audited.row(ask)
    t.ok(answer.status < 300, `${id} goes well: ${answer.bytes.toString()}`)
    const { status } = answer
    t.match(row, { operation: operationId, status, code: null, nodeId: 'n1', sourceIp: '127.0.0.1' }, id)
    t.equal(outcomeOf(row), 'success', id)
    t.equal(row.actor.type, actorTypeOf(id), id)
    t.equal(row.reason, reasonOf(MINTED_BY[operationId] ?? id), id)
    answers[id] = answer.json
    if (id === 'createToken') token = String(answer.json['token'])
    if (actorTypeOf(id) === 'anonymous') continue
    if (id !== 'createToken') {
      const path = isSigned ? anonymous.path.replace(/\?.*/, '') : anonymous.path
      const denied = await audited.row({ ...anonymous, path })
      t.equal(denied.answer.status, 401, id)
      t.match(denied.row, {
        operation: operationId,
        status: 401,
        code: isSigned ? 'invalid_signed_url' : 'unauthorized',
        actor: { type: 'anonymous', id: null },
      })
      t.equal(outcomeOf(denied.row), 'denied', id)
    }
    const failed = await audited.row({
      ...ask,
      // A signed URL takes any parameter, but its token once.
      path: `${ask.path}${ask.path.includes('?') ? '&' : '?'}${isSigned ? 'token' : 'nonsense'}=1`,
    })
    t.equal(failed.answer.status, 400, id)
    // The owner of the key is known once the key was verified, and that of the URL once its token is clear.
    const actor = id === 'createToken' || isSigned ? {} : row.actor
    t.match(failed.row, { operation: operationId, status: 400, actor })
    t.equal(outcomeOf(failed.row), 'error', id)
  }
})

function actorTypeOf(id: ExampleId): string {
  const operation = operationOf(id)
  if (takes(operation, 'signedUrl')) return 'signedUrl'
  if (takes(operation, 'bearer')) return isAdmin(id) ? 'adminToken' : 'accessKey'
  return id === 'createToken' ? 'accessKey' : 'anonymous'
}

/** The request's value for a member of the row. */
function reasonOf(id: ExampleId): string | null {
  const { body } = exampleOf(id)
  return typeof body === 'object' && 'reason' in body ? String(body.reason) : null
}

t.test('the creation of a link and each use of it refer to each other [audit.links]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world } = audited
  const key = await world.memory.accessKey('acme', 'read,write')
  const { token } = world.memory.services.access.exchange({ ...key, clientAddress: 't' })
  const { accessKeyId } = key
  const created = await audited.row({
    method: 'POST',
    path: '/api/v1/buckets',
    token,
    body: { name: 'films' },
  })
  t.equal(created.answer.status, 201)
  const body = { method: 'PUT', bucket: 'films', key: 'a', reason: 'for the board' }
  const made = await audited.row({ method: 'POST', path: '/api/v1/sign-url', token, body })
  t.match(made.row, { actor: { id: accessKeyId }, bucket: 'films', key: 'a', reason: 'for the board' })
  const details = made.row.details as Readonly<Record<string, unknown>>
  t.match(details, { method: 'PUT', keyPrefix: null })
  const path = `/api/v1/signed/films/a?token=${String(made.answer.json['token'])}`
  const used = await audited.row({ method: 'PUT', path, body: 'x' })
  t.equal(used.answer.status, 200)
  t.strictSame(used.row.actor, { type: 'signedUrl', id: details['signedUrl'], role: null, accessKeyId })
  t.equal(used.row.reason, 'for the board')
  const refused = await audited.row({
    method: 'POST',
    path: '/api/v1/sign-url',
    token,
    body: { ...body, bucket: 'others' },
  })
  t.match(
    refused.row,
    { code: 'not_found', bucket: 'others', key: 'a' },
    'a refused request names its target',
  )
})

t.test('a new route leaves its row without further code', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const { services, auditRows } = world.memory
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[a-z]{1,12}$/), fc.boolean(), async (name, isThrowing) => {
      const added = dataRoute(
        getBucket,
        {
          method: 'POST',
          path: `/added-${name}/{bucket}`,
          summary: name,
          success: DONE,
          example: {},
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

t.test('only probes, scrapes, charts and questions what has changed are routine', async (t) => {
  const routine = [
    'adminHealthz',
    'adminReadyz',
    'getChanges',
    'getClusterHistory',
    'getEvents',
    'getMetrics',
    'healthz',
    'readyz',
  ]
  t.strictSame(ROUTINE.toSorted(), routine)
})

t.test('DENIED holds the codes with status 401 and 403 [audit.outcome]', async (t) => {
  const denied = Object.entries(STATUS_OF).filter(([, status]) => status === 401 || status === 403)
  t.strictSame([...DENIED].toSorted(), denied.map(([code]) => code).toSorted())
})

t.test('input that is no request or matches no route', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world, token } = audited
  t.test('is recorded as unknown', async (t) => {
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

  t.test('is recorded as unparsed, without its bytes [audit.unparsed]', async (t) => {
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

  t.test(
    'is refused while there is no space for its row, except probes [audit.no-room] [audit.probes]',
    async (t) => {
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
      t.match(await world.raw('NONSENSE\r\n\r\n'), /^HTTP\/1.1 400/)
      const left = world.memory.auditRows.slice(before)
      t.match(
        left.find(({ operation }) => operation === 'putObject'),
        {
          code: 'slow_down',
          actor: { type: 'anonymous' },
        },
      )
      world.memory.services.audit = audit
      t.equal(
        (await world.send({ path: '/api/v1/buckets/photos/objects/x', token })).status,
        404,
        'nothing was done',
      )
    },
  )
})
