/**
 * Small changes of objects at a node that has not applied what others have acknowledged: they pass no read barrier, and see it all the same. [record 66]
 *
 * Rule: `changeElsewhere` is in the log before the request begins, and in the rows of this node only after a barrier or with the entry of the request.
 */
import t, { type Test } from 'tap'
import type { Command } from '../../src/state-machine/commands.ts'
import { until } from '../helpers/async.ts'
import { AuditedWorld } from './audited-world.ts'
import { keyWithToken } from './issued-keys.ts'
import type { Ask, ApiAnswer } from './api-world.ts'
import { S3World } from './s3/s3-world.ts'

const BUCKET = '/api/v1/buckets/photos'
const OBJECT = `${BUCKET}/objects/cat`
const IN_BUCKET = { tenantId: 'acme', bucket: 'photos' }
const NAMED = { tenantId: 'acme', name: 'photos' }
const CREATE = { type: 'createBucket', ...NAMED, bucketsMax: 10, versioning: 'Unversioned' } as const
const NO_QUOTA = { maxBytes: null, maxObjects: null, maxBuckets: null }

function policy(effect: 'Allow' | 'Deny'): Command {
  const Resource = 'arn:aws:s3:::photos/*'
  const Statement = [{ Effect: effect, Principal: '*', Action: 's3:*', Resource }]
  const text = JSON.stringify({ Version: '2012-10-17', Statement })
  return { type: 'setBucketPolicy', ...NAMED, policy: text }
}

/** A body of more than one piece for the reader. */
const BODY = Buffer.alloc(40_000, 'a body ')

class Stale {
  readonly audited: AuditedWorld
  /** A bearer token. */
  readonly token: string
  readonly accessKeyId: string

  /** With the object `cat` in `photos`. */
  static async start(t: Test): Promise<Stale> {
    const audited = await AuditedWorld.start(t)
    const { token, accessKeyId } = await keyWithToken(audited.world.memory)
    const stale = new Stale(audited, { token, accessKeyId })
    t.equal((await stale.ask({ method: 'PUT', body: 'first' })).status, 200)
    return stale
  }

  private constructor(
    audited: AuditedWorld,
    { token, accessKeyId }: { readonly token: string; readonly accessKeyId: string },
  ) {
    this.audited = audited
    this.token = token
    this.accessKeyId = accessKeyId
  }

  get memory(): AuditedWorld['world']['memory'] {
    return this.audited.world.memory
  }

  ask(ask: Omit<Ask, 'path'> & { readonly path?: string }): Promise<ApiAnswer> {
    return this.audited.world.call({ path: OBJECT, token: this.token, ...ask })
  }

  /** How many barriers a request passes, and what is answered; it has left one row in the audit log. */
  async counted(
    ask: Omit<Ask, 'path'> & { readonly path?: string },
  ): Promise<{ readonly status: number; readonly code: unknown; readonly barriers: number }> {
    const { barriers } = this.memory
    const { answer, row } = await this.audited.row({ path: OBJECT, token: this.token, ...ask })
    const { status, json } = answer
    const code = status < 300 ? null : json['code']
    if (row.code !== code) throw new Error(`the row says ${row.code}`)
    return { status, code, barriers: this.memory.barriers - barriers }
  }

  /** The bytes of the object as a caller sees them whose key no test touches; null: it is not there. */
  async stored(path = OBJECT): Promise<string | null> {
    const { status, bytes } = await this.audited.world.call({ path, token: this.audited.token })
    return status === 200 ? bytes.toString() : null
  }
}

const PUT = { method: 'PUT', body: BODY } as const
const DELETE = { method: 'DELETE' } as const

t.test('a small PUT and a DELETE pass no barrier', async (t) => {
  const stale = await Stale.start(t)
  t.match(await stale.counted(PUT), { status: 200, barriers: 0 })
  t.equal(await stale.stored(), BODY.toString())
  t.match(await stale.counted(DELETE), { status: 204, barriers: 0 })
  t.equal(await stale.stored(), null)
})

t.test('a barrier comes first where the entry does not decide all', async (t) => {
  const stale = await Stale.start(t)
  const large = Buffer.alloc(64 * 1024 + 1)
  const isRead = await stale.counted({ method: 'HEAD' })
  t.equal(isRead.barriers, 1, 'reads')
  t.match(await stale.counted({ ...PUT, body: large }), { status: 200, barriers: 1 }, 'large bodies')
  const page = { origin: 'https://example.com' }
  t.match(
    await stale.counted({ ...PUT, headers: page }),
    { status: 200, barriers: 1 },
    'pages of other origins',
  )
  await stale.memory.change(policy('Allow'))
  t.match(await stale.counted(PUT), { status: 200, barriers: 1 }, 'buckets with a policy')
  await stale.memory.change({ type: 'deleteBucketPolicy', ...NAMED })
  stale.memory.featureLevel = 4
  t.match(await stale.counted(PUT), { status: 200, barriers: 1 }, 'a member may be older')
})

t.test('many at once share a barrier', async (t) => {
  const stale = await Stale.start(t)
  const { memory } = stale
  const { barriers } = memory
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  memory.beforeApply = () => held
  const puts = [1, 2, 3, 4, 5].map((n) => stale.ask({ ...PUT, path: `${BUCKET}/objects/${n}` }))
  await until('one of five passes a barrier', () => memory.barriers > barriers)
  release()
  const statuses = (await Promise.all(puts)).map(({ status }) => status)
  t.same([memory.barriers - barriers, statuses], [1, [200, 200, 200, 200, 200]])
})

/** What another node has acknowledged; what this one answers a PUT and a DELETE then, and how many barriers each of them passes. */
interface Case {
  readonly name: string
  readonly change: (stale: Stale) => readonly Command[]
  readonly put: { readonly status: number; readonly code?: string; readonly barriers: number }
  readonly delete: { readonly status: number; readonly code?: string; readonly barriers: number }
  /** Before the PUT. */
  readonly before?: readonly Command[]
  /** Afterwards, by a key that works. Absent: what the PUT has sent, or the first object. */
  readonly stored?: string | null
}

const CASES: readonly Case[] = [
  {
    name: 'its key was revoked',
    change: ({ accessKeyId }) => [
      { type: 'revokeAccessKey', tenantId: 'acme', accessKeyId, reason: 'stolen' },
    ],
    put: { status: 401, code: 'key_revoked', barriers: 0 },
    delete: { status: 401, code: 'key_revoked', barriers: 0 },
  },
  {
    name: 'its key was rotated',
    change: ({ accessKeyId, memory }) => {
      const { sealed: secret } = memory.services.access.newSecret(accessKeyId)
      const narrower = { scopes: 'read', expiresAt: null }
      return [{ type: 'rotateAccessKey', tenantId: 'acme', accessKeyId, secret, ...narrower }]
    },
    put: { status: 401, code: 'token_invalid', barriers: 0 },
    delete: { status: 401, code: 'token_invalid', barriers: 0 },
  },
  {
    name: 'its tenant was disabled',
    change: () => [{ type: 'disableTenant', tenantId: 'acme', reason: 'unpaid' }],
    put: { status: 401, code: 'tenant_disabled', barriers: 0 },
    delete: { status: 401, code: 'tenant_disabled', barriers: 0 },
    stored: null,
  },
  {
    name: 'a policy denies it',
    change: () => [policy('Deny')],
    put: { status: 403, code: 'access_denied', barriers: 1 },
    delete: { status: 403, code: 'access_denied', barriers: 1 },
    stored: null,
  },
  {
    name: 'a policy allows it',
    change: () => [policy('Allow')],
    put: { status: 200, barriers: 1 },
    delete: { status: 204, barriers: 1 },
  },
  {
    name: 'the policy that denied it is gone',
    before: [policy('Deny')],
    change: () => [{ type: 'deleteBucketPolicy', ...NAMED }],
    put: { status: 200, barriers: 1 },
    delete: { status: 204, barriers: 1 },
  },
  {
    name: 'the quota is used up',
    change: () => [{ type: 'setQuota', tenantId: 'acme', ...NO_QUOTA, maxBytes: 1 }],
    put: { status: 507, code: 'quota_exceeded', barriers: 0 },
    delete: { status: 204, barriers: 0 },
  },
  {
    name: 'there is room again',
    before: [{ type: 'setQuota', tenantId: 'acme', ...NO_QUOTA, maxBytes: 1 }],
    change: () => [{ type: 'setQuota', tenantId: 'acme', ...NO_QUOTA }],
    put: { status: 200, barriers: 1 },
    delete: { status: 204, barriers: 0 },
  },
]

for (const tried of CASES) {
  t.test(`what another node has acknowledged counts: ${tried.name}`, async (t) => {
    for (const [method, expected] of [
      ['PUT', tried.put],
      ['DELETE', tried.delete],
    ] as const) {
      const stale = await Stale.start(t)
      for (const command of tried.before ?? []) await stale.memory.change(command)
      for (const command of tried.change(stale)) stale.memory.changeElsewhere(command)
      const answer = await stale.counted(method === 'PUT' ? PUT : DELETE)
      t.match(answer, { code: null, ...expected }, method)
      const changed = method === 'PUT' ? BODY.toString() : null
      const isChanged = expected.status < 300
      const stored = tried.stored === undefined || isChanged ? (isChanged ? changed : 'first') : tried.stored
      t.equal(await stale.stored(), stored, `${method}: what is stored`)
    }
  })
}

t.test('a bucket that another node has deleted, made, or made again', async (t) => {
  const stale = await Stale.start(t)
  const { memory } = stale
  const made = { path: '/api/v1/buckets/made/objects/cat' }
  memory.changeElsewhere({ ...CREATE, name: 'made', objectLockEnabled: false })
  t.match(await stale.counted({ ...PUT, ...made }), { status: 200, barriers: 1 }, 'made')
  t.match(await stale.counted({ ...PUT, ...made }), { status: 200, barriers: 0 }, 'known')
  t.match(await stale.counted({ ...DELETE, ...made }), { status: 204, barriers: 0 })
  memory.changeElsewhere({ type: 'deleteBucket', ...NAMED, name: 'made' })
  memory.changeElsewhere({ ...CREATE, name: 'made', objectLockEnabled: false })
  t.match(await stale.counted({ ...PUT, ...made }), { status: 200, barriers: 1 }, 'made again')
  t.match(await stale.counted({ ...DELETE, ...made }), { status: 204, barriers: 0 })
  memory.changeElsewhere({ type: 'deleteBucket', ...NAMED, name: 'made' })
  t.match(
    await stale.counted({ ...PUT, ...made }),
    { status: 404, code: 'not_found', barriers: 1 },
    'deleted',
  )
})

t.test('locks that another node has set', async (t) => {
  const stale = await Stale.start(t)
  const lock = { type: 'setBucketObjectLock', ...NAMED } as const
  await stale.memory.change({ type: 'setBucketVersioning', ...NAMED, versioning: 'Enabled' })
  await stale.memory.change({ ...lock, defaultRetention: null })
  const cat = { ...IN_BUCKET, key: 'cat', versionId: null } as const
  stale.memory.changeElsewhere({ type: 'setObjectLegalHold', ...cat, legalHold: true })
  const version = { ...DELETE, path: `${OBJECT}?versionId=null` }
  t.match(await stale.counted(version), { status: 403, code: 'object_locked', barriers: 0 })
  t.equal(await stale.stored(), 'first')
  stale.memory.changeElsewhere({ ...lock, defaultRetention: { mode: 'COMPLIANCE', days: 1 } })
  t.match(await stale.counted(PUT), { status: 200, barriers: 0 })
  const { headers } = await stale.ask({ method: 'HEAD' })
  t.equal(
    headers['x-service-retention-mode'],
    'COMPLIANCE',
    'the default retention holds for the new version',
  )
})

t.test('conditions on what another node has changed', async (t) => {
  const stale = await Stale.start(t)
  const onlyNew = { ...PUT, headers: { 'if-none-match': '*' } }
  const gone = { type: 'deleteObject', ...IN_BUCKET, key: 'cat', versionId: null, ifMatch: null } as const
  t.match(
    await stale.counted(onlyNew),
    { status: 412, code: 'precondition_failed', barriers: 1 },
    'it is there',
  )
  stale.memory.changeElsewhere(gone)
  t.match(await stale.counted(onlyNew), { status: 200, barriers: 1 }, 'it is gone')
  stale.memory.changeElsewhere(gone)
  const onlyOld = { ...PUT, headers: { 'if-match': '*' } }
  t.match(
    await stale.counted(onlyOld),
    { status: 412, code: 'precondition_failed', barriers: 0 },
    'by the entry',
  )
  t.equal(await stale.stored(), null)
})

t.test('a key that another node has made works', async (t) => {
  const stale = await Stale.start(t)
  const { access } = stale.memory.services
  const key = access.newAccessKey()
  const record = { tenantId: 'acme', accountId: null, name: null, scopes: 'write', expiresAt: null }
  const { accessKeyId, secretKey, sealed: secret } = key
  stale.memory.changeElsewhere({ type: 'createAccessKey', accessKeyId, secret, ...record })
  // Its token is from the other node.
  await stale.memory.services.cluster.readBarrier()
  const { token } = access.exchange({ accessKeyId, secretKey, clientAddress: 'test' })
  t.match(await stale.counted({ ...PUT, token }), { status: 200, barriers: 0 })
})

t.test(
  'the S3 API: none either, and the answer tells of versions that another node has switched on',
  async (t) => {
    const photos = await S3World.start(t)
    const { memory } = photos.world
    const put = async () => {
      const { barriers } = memory
      const { status, headers } = await photos.call({ method: 'PUT', path: '/photos/cat', body: 'a cat' })
      return { status, hasVersion: 'x-amz-version-id' in headers, barriers: memory.barriers - barriers }
    }
    t.same(await put(), { status: 200, hasVersion: false, barriers: 0 })
    memory.changeElsewhere({ type: 'setBucketVersioning', ...NAMED, versioning: 'Enabled' })
    t.same(await put(), { status: 200, hasVersion: true, barriers: 1 })
    t.same(await put(), { status: 200, hasVersion: true, barriers: 0 })
    memory.changeElsewhere(policy('Deny'))
    t.match(await put(), { status: 403, barriers: 1 })
    const { accessKeyId } = photos.secret
    memory.changeElsewhere({ type: 'deleteBucketPolicy', ...NAMED })
    memory.changeElsewhere({ type: 'revokeAccessKey', tenantId: 'acme', accessKeyId, reason: 'stolen' })
    t.match(await put(), { status: 403, barriers: 1 })
  },
)
