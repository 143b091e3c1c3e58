/**
 * The tester of rights beside the requests that it speaks of: what it says of a key is what the key is answered.
 */
import t, { type Test } from 'tap'
import { ApiDocument } from '../helpers/api-document.ts'
import type { Ask } from './api-world.ts'
import { denial, FILMS, PolicyClient } from './policy-client.ts'

const TEST = '/admin/api/v1/tenants/acme/access-test'
const KEYS = '/admin/api/v1/tenants/acme/keys'
/** From where and how the requests of this test come. */
const HERE = { sourceIp: '127.0.0.1', secure: false }
const IN_FILMS = '/api/v1/buckets/films'

interface Pair {
  readonly asked: {
    readonly operation: string
    readonly bucket?: string
    readonly key?: string
    readonly versionId?: string
  }
  readonly request: Ask
}

const ofObject = (operation: string, method: string, key: string): Pair => ({
  asked: { operation, bucket: 'films', key },
  request: { method, path: `${IN_FILMS}/objects/${key}`, ...(method === 'PUT' ? { body: 'x' } : {}) },
})
const VERSION = '01890a5d-ac96-774b-bcce-b302099a8057'

/** Each with the request that it stands for. Changes come last: what they remove is asked for before. */
const PAIRS: readonly Pair[] = [
  ...['in/a', 'secret/a', 'b'].flatMap((key) => [
    ofObject('getObject', 'GET', key),
    ofObject('putObject', 'PUT', key),
    {
      asked: { operation: 'getObject', bucket: 'films', key, versionId: VERSION },
      request: { path: `${IN_FILMS}/objects/${key}?versionId=${VERSION}` },
    },
    {
      asked: { operation: 'getObjectTags', bucket: 'films', key },
      request: { path: `${IN_FILMS}/object-tags/${key}` },
    },
  ]),
  ...['', 'in/', 'secret/'].map((key) => ({
    asked: { operation: 'listObjects', bucket: 'films', ...(key === '' ? {} : { key }) },
    request: { path: `${IN_FILMS}/objects?prefix=${key}` },
  })),
  { asked: { operation: 'listBuckets' }, request: { path: '/api/v1/buckets' } },
  { asked: { operation: 'getBucket', bucket: 'films' }, request: { path: IN_FILMS } },
  { asked: { operation: 'getBucketUsage', bucket: 'films' }, request: { path: `${IN_FILMS}/usage` } },
  { asked: { operation: 'getBucketCORS', bucket: 'films' }, request: { path: `${IN_FILMS}/cors` } },
  { asked: { operation: 'getBucketLifecycle', bucket: 'films' }, request: { path: `${IN_FILMS}/lifecycle` } },
  {
    asked: { operation: 'deleteBucketCORS', bucket: 'films' },
    request: { method: 'DELETE', path: `${IN_FILMS}/cors` },
  },
  { asked: { operation: 'getBucket', bucket: 'absent' }, request: { path: '/api/v1/buckets/absent' } },
  ...['in/a', 'secret/a', 'b'].map((key) => ofObject('deleteObject', 'DELETE', key)),
]

const SCOPES = [
  'read',
  'read,write,delete,admin',
  'write,delete',
  'op=read:bucket=films:prefix=in/,op=write:bucket=films:prefix=in/',
  'op=read:bucket=films:prefix=,op=admin:bucket=films:prefix=',
  'op=delete:bucket=*:prefix=secret/',
  'op=read:bucket=photos:prefix=',
]

async function start(t: Test) {
  const policies = await PolicyClient.start(t, {}, { limits: { adminRequestsBurst: 10_000 } })
  const { films } = policies
  const { memory } = films.world
  for (const key of ['in/a', 'secret/a', 'b']) await films.put(key)
  const viewer = await memory.adminToken('viewer', 'acme')
  const test = (body: object, token = viewer, path = TEST) =>
    films.world.call({ admin: true, method: 'POST', path, token, body })
  const keyOf = async (scopes: string) => {
    const key = await memory.accessKey('acme', scopes)
    const { token } = memory.services.access.exchange({ ...key, clientAddress: '127.0.0.1' })
    return { accessKeyId: key.accessKeyId, token }
  }
  /** Asks both, and compares them; returns what the tester says. */
  const compare = async (
    t: Test,
    { accessKeyId, token }: { readonly accessKeyId: string; readonly token: string },
    { asked, request }: Pair,
  ) => {
    const { status, json: said } = await test({ accessKeyId, ...asked, ...HERE })
    const answer = await films.world.call({ ...request, token })
    const what = `${accessKeyId} ${JSON.stringify(asked)}`
    t.equal(status, 200, what)
    const isRefused = answer.status === 401 || answer.status === 403
    t.equal(said['allowed'], !isRefused, what)
    t.equal(said['code'], isRefused ? answer.code : null, what)
    if (isRefused) t.equal(said['reason'], answer.json['message'], what)
    return said
  }
  return { policies, films, memory, test, keyOf, compare, viewer }
}

t.test(
  'the tester says what a request is answered [policies.tester.same] [policies.tester.explains]',
  async (t) => {
    const { policies, memory, keyOf, compare } = await start(t)
    const keys: Awaited<ReturnType<typeof keyOf>>[] = []
    for (const scopes of SCOPES) keys.push(await keyOf(scopes))
    const named = keys[1]?.accessKeyId ?? ''
    const deciders = new Map<unknown, number>()
    const compareAll = async () => {
      for (const key of keys)
        for (const pair of PAIRS) {
          const { decidedBy, allowed } = await compare(t, key, pair)
          const found = `${String(decidedBy)} ${String(allowed)}`
          deciders.set(found, (deciders.get(found) ?? 0) + 1)
        }
    }
    await compareAll()
    await policies.set(
      denial({ Effect: 'Allow' }),
      denial({ Action: 's3:GetObject', Resource: `${FILMS}/secret/*` }),
      denial({ Action: 's3:GetObjectVersion', Resource: `${FILMS}/b` }),
      denial({ Action: 's3:*Bucket*', Resource: FILMS, Principal: { AWS: named } }),
      denial({
        Action: 's3:ListBucket',
        Resource: FILMS,
        Condition: { StringLike: { 's3:prefix': 'secret/*' } },
      }),
      denial({
        Action: 's3:PutObject',
        Resource: `${FILMS}/in/*`,
        Condition: { IpAddress: { 'aws:SourceIp': '127.0.0.0/8' } },
      }),
      denial({
        Action: 's3:DeleteObject',
        Resource: `${FILMS}/b`,
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    )
    await compareAll()
    t.same(new Set(deciders.keys()), new Set(['bucketPolicy false', 'scopes false', 'scopes true']))
    t.ok(
      [...deciders.values()].every((times) => times > 20),
      JSON.stringify([...deciders]),
    )
    t.equal(
      memory.auditRows.filter(({ operation }) => operation === 'testAccess').length,
      2 * keys.length * PAIRS.length,
    )
  },
)

t.test(
  'it names the scopes and the statement, whose text only owners see [policies.tester.explains]',
  async (t) => {
    const { policies, keyOf, test } = await start(t)
    const { accessKeyId } = await keyOf('op=read:bucket=films:prefix=in/')
    const question = { accessKeyId, operation: 'getObject', bucket: 'films', key: 'in/a' }
    const scopes = [{ verb: 'read', bucket: 'films', prefix: 'in/' }]
    t.match((await test(question)).json, {
      allowed: true,
      code: null,
      decidedBy: 'scopes',
      scopes,
      statement: null,
    })
    const second = { ...denial({ Action: 's3:GetObject', Resource: `${FILMS}/in/*` }), Sid: 'KeepOut' }
    await policies.set(denial({ Effect: 'Allow' }), second)
    const denied = { allowed: false, code: 'access_denied', decidedBy: 'bucketPolicy', scopes }
    const seen = (await test(question)).json
    t.match(seen, { ...denied, statement: { index: 1, sid: 'KeepOut', document: null } })
    t.same((await test(question, policies.owner)).json, {
      ...seen,
      statement: { index: 1, sid: 'KeepOut', document: second },
    })
  },
)

t.test('a key that has ended or may not be used from there [policies.tester.key]', async (t) => {
  const { policies, films, memory, keyOf, compare, test } = await start(t)
  const pair = ofObject('getObject', 'GET', 'b')
  const revoked = await keyOf('read')
  const operator = await memory.adminToken('operator')
  const path = `${KEYS}/${revoked.accessKeyId}/revoke`
  await films.world.call({ admin: true, method: 'POST', path, token: operator, body: { reason: 'test' } })
  t.match(await compare(t, revoked, pair), { allowed: false, decidedBy: 'key', code: 'key_revoked' })
  const expired = await memory.accessKey('acme', 'read', 1)
  t.match((await test({ ...pair.asked, accessKeyId: expired.accessKeyId })).json, {
    allowed: false,
    decidedBy: 'key',
    code: 'key_revoked',
    reason: /expired at 1970-01-01/,
  })
  const { accessKeyId } = await memory.accessKey('acme', 'read', null, {
    addresses: ['203.0.113.0/24'],
    certificates: [],
  })
  const bound = { ...pair.asked, accessKeyId }
  t.match((await test({ ...bound, ...HERE })).json, {
    allowed: false,
    decidedBy: 'binding',
    code: 'access_denied',
  })
  t.match((await test({ ...bound, sourceIp: '203.0.113.9' })).json, { allowed: true })
  t.match(await test(bound), {
    status: 400,
    code: 'invalid_argument',
    json: { message: /is bound to addresses/ },
  })
  const last = await keyOf('read')
  const disable = {
    path: '/admin/api/v1/tenants/acme/disable',
    token: policies.owner,
    body: { reason: 'test' },
  }
  await films.world.call({ admin: true, method: 'POST', ...disable })
  t.match(await compare(t, last, pair), { allowed: false, decidedBy: 'tenant', code: 'tenant_disabled' })
})

t.test('what cannot be answered is refused [policies.tester.refused]', async (t) => {
  const { policies, memory, keyOf, test } = await start(t)
  const { accessKeyId } = await keyOf('read')
  const good = { accessKeyId, operation: 'getObject', bucket: 'films', key: 'b' }
  const refused = async (changes: object, message: RegExp) => {
    t.match(await test({ ...good, ...changes }), { status: 400, code: 'invalid_argument', json: { message } })
  }
  await refused({ operation: 'getObjct' }, /"operation" is "getObjct", which is no operation of the data API/)
  await refused({ operation: 'createTenant' }, /no operation of the data API/)
  await refused({ operation: 'getSigned' }, /no access key calls by itself/)
  await refused({ operation: 'createToken' }, /no access key calls by itself/)
  const document = new ApiDocument('admin')
  const { path } = document.operation('testAccess')
  const schema = ['paths', path, 'post', 'requestBody', 'content', 'application/json', 'schema']
  for (const operation of ['getObjct', 'createTenant', 'getSigned', 'createToken'])
    t.not(document.check(schema, { ...good, operation }), null, `the document does not allow ${operation}`)
  t.equal(document.check(schema, good), null)
  await refused({ bucket: undefined }, /"getObject" needs "bucket"/)
  await refused({ key: undefined }, /"getObject" needs "key"/)
  await refused({ operation: 'putObject', versionId: VERSION }, /takes no "versionId"/)
  await refused({ sourceIp: 'here' }, /"sourceIp" is "here", which is not an address/)
  await policies.set(denial({ Condition: { NotIpAddress: { 'aws:SourceIp': '127.0.0.0/8' } } }))
  await refused({}, /the policy of bucket "films" asks for it/)
  t.match((await test({ ...good, ...HERE })).json, { allowed: true })
  t.match((await test({ ...good, sourceIp: '203.0.113.9' })).json, { allowed: false })
  t.match(await test({ ...good, accessKeyId: 'AKNOBODY' }), { status: 404, code: 'not_found' })
  await memory.tenant('rival')
  const other = await memory.accessKey('rival', 'read')
  t.match(await test({ ...good, accessKeyId: other.accessKeyId }), { status: 404 }, 'of another tenant')
  const rival = await memory.adminToken('owner', 'rival')
  t.match(await test(good, rival), { status: 403, code: 'tenant_scope_denied' })
  t.match(await test({ ...good, colour: 1 }), { status: 400, code: 'invalid_request' })
})

t.test('it changes nothing, and the key counts as not used [policies.tester.read-only]', async (t) => {
  const { films, memory, test } = await start(t)
  const { accessKeyId } = await memory.accessKey('acme', 'read')
  const before = memory.checksum()
  t.equal((await test({ accessKeyId, operation: 'getObject', bucket: 'films', key: 'b' })).status, 200)
  t.equal(memory.checksum(), before)
  const token = await memory.adminToken('viewer')
  const { json } = await films.world.call({ admin: true, path: KEYS, token })
  const keys = json['keys'] as readonly { accessKeyId: string; lastUsedAt: string | null }[]
  t.equal(keys.find((key) => key.accessKeyId === accessKeyId)?.lastUsedAt, null)
})
