/**
 * Every action of the S3 API against every form of a signature that must be refused, and the narrowest right that must pass.
 *
 * The actions come from the route table. The sum over all rows shows that refused requests changed nothing, and the audit log
 * has one row for each, as one of the S3 API.
 */
import t from 'tap'
import { until } from '../../helpers/async.ts'
import { AuditedWorld } from '../audited-world.ts'
import { S3Forms } from './s3-credential-forms.ts'
import { PLACE, S3_ROUTES, sampleOf } from './s3-samples.ts'
import { S3World } from './s3-world.ts'

const MANY = { limits: { unprovedRequestsPerMinute: 1_000_000, unprovedBurst: 100_000 } }

t.test('no signature without the right passes, changes anything or goes unrecorded', async (t) => {
  const s3 = await S3World.start(t, MANY)
  const { memory } = s3.world
  const made = await S3Forms.make(s3)
  await s3.call({ method: 'PUT', path: `/photos/${PLACE.key}`, body: 'a cat' })
  await made.deny()
  let cells = 0
  for (const route of S3_ROUTES) {
    const sample = sampleOf(route)
    const before = memory.checksum()
    for (const { form, as, expect } of made.forms) {
      const expected = expect(route)
      if (expected === null) continue
      cells += 1
      const received = await s3.sent(as(sample))
      const [status, code] = expected
      const isRefused = received.status === status && (route.method === 'HEAD' || received.s3Code === code)
      t.ok(
        isRefused,
        `${route.action}, ${form}: ${received.status} ${received.s3Code}, not ${status} ${code}`,
      )
      const requestId = String(received.headers['x-amz-request-id'])
      const rows = () => memory.auditRows.filter((row) => row.requestId === requestId)
      await until('the request is recorded', () => rows().length > 0)
      t.match(rows(), [{ api: 's3', status }], `${route.action}, ${form} is recorded`)
    }
    t.equal(memory.checksum(), before, `${route.action}: no row of the state has changed`)
  }
  t.comment(`${cells} cells`)
  t.ok(cells > 20 * S3_ROUTES.length, `${cells} cells`)
})

t.test('the narrowest right suffices for every action', async (t) => {
  const s3 = await S3World.start(t)
  const made = await S3Forms.make(s3)
  for (const route of S3_ROUTES) {
    await s3.call({ method: 'PUT', path: '/photos' })
    await s3.call({ method: 'PUT', path: `/photos/${PLACE.key}`, body: 'a cat' })
    const { status, s3Code } = await s3.call({ ...sampleOf(route), secret: await made.narrowest(route) })
    t.ok(![401, 403, 500, 503].includes(status), `${route.action}: ${status} ${s3Code}`)
  }
})

t.test('each request has one row in the audit log, with its operation and its caller', async (t) => {
  const s3 = await S3World.start(t)
  const audited = await AuditedWorld.around(s3.world, s3.token)
  await s3.call({ method: 'PUT', path: `/photos/${PLACE.key}`, body: 'a cat' })
  for (const route of S3_ROUTES) {
    const { row, answer } = await audited.row(s3.signed(sampleOf(route)))
    t.match(
      row,
      {
        api: 's3',
        operation: route.operation.id,
        // A change that the log refused has its code there, and no status.
        ...(row.status === null ? { code: /^bucket_/ } : { status: answer.status }),
        actor: { type: 'accessKey', id: s3.secret.accessKeyId },
        tenantId: 'acme',
        bucket: route.level === 'service' ? null : 'photos',
        key: route.level === 'object' ? PLACE.key : null,
        requestId: String(answer.headers['x-amz-request-id']),
      },
      route.action,
    )
  }
})
