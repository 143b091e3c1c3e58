/**
 * The routes of bucket policies, and the effect of a policy on requests, through real sockets.
 */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { denial, FILMS, PolicyClient, WHOLE } from './policy-client.ts'
import { idOf } from './bucket-client.ts'
import { bucketPolicyOf } from '../../src/state-machine/buckets/bucket-policies.ts'

const DENIED = { status: 403, code: 'access_denied' }

t.test('the policy of a bucket [policies.set] [policies.get] [policies.delete]', async (t) => {
  const policies = await PolicyClient.start(t)
  t.match(await policies.ask(), { status: 404, code: 'not_found', json: { message: /has no policy/ } })
  t.equal((await policies.ask({ method: 'DELETE' })).status, 204, 'there is nothing to remove')
  const policy = {
    Version: '2012-10-17',
    Id: 'ü',
    Statement: [denial({ Action: 's3:DeleteObject', Resource: `${FILMS}/*` })],
  }
  const set = await policies.put(policy)
  t.equal(set.status, 200)
  t.same(set.json, policy)
  t.same((await policies.ask()).json, policy, 'as it was set')
  const other = { Statement: [denial()] }
  t.same((await policies.put(other)).json, other)
  t.same((await policies.ask()).json, other, 'the new policy replaces the old one')
  t.equal((await policies.ask({ method: 'DELETE' })).status, 204)
  t.match(await policies.ask(), { status: 404 })

  for (const [path, what] of [
    ['/admin/api/v1/tenants/acme/buckets/absent/policy', /Bucket "absent" does not exist/],
    ['/admin/api/v1/tenants/absent/buckets/films/policy', /Tenant "absent" does not exist/],
    ['/admin/api/v1/tenants/acme/buckets/a%00b/policy', /does not exist/],
  ] as const)
    for (const ask of [{}, { method: 'PUT', body: policy }, { method: 'DELETE' }])
      t.match(await policies.ask({ path, ...ask }), { status: 404, json: { message: what } })
})

t.test('only an owner of the tenant may [policies.owner]', async (t) => {
  const policies = await PolicyClient.start(t)
  const { memory } = policies.films.world
  await memory.tenant('rival')
  const tokens = [
    [await memory.adminToken('operator'), { status: 403, code: 'access_denied' }],
    [await memory.adminToken('owner', 'rival'), { status: 403, code: 'tenant_scope_denied' }],
    [policies.films.token, { status: 401, code: 'token_invalid' }],
  ] as const
  for (const [token, expected] of tokens)
    for (const ask of [{}, { method: 'PUT', body: { Statement: [] } }, { method: 'DELETE' }])
      t.match(await policies.ask({ token, ...ask }), expected)
  const own = await memory.adminToken('owner', 'acme')
  t.equal((await policies.ask({ token: own, method: 'PUT', body: { Statement: [denial()] } })).status, 200)
})

t.test('an invalid policy is refused with the place of the error [policies.refused]', async (t) => {
  const policies = await PolicyClient.start(t)
  const refused = async (policy: object, message: RegExp) =>
    t.match(await policies.put(policy), { status: 400, code: 'invalid_request', json: { message } })
  await refused({}, /"Statement" is missing/)
  await refused({ Statement: [denial()], Statemnt: 1 }, /has the member "Statemnt"/)
  await refused(
    { Statement: [denial({ Action: 's3:Get' })] },
    /"Statement.0.Action" names "s3:Get", which is no action here/,
  )
  await refused(
    { Statement: [denial({ Principal: { AWS: 'AKNOBODY' } })] },
    /access key "AKNOBODY", which tenant "acme" does not have/,
  )
  await policies.films.world.memory.tenant('rival')
  const { accessKeyId } = await policies.films.world.memory.accessKey('rival', 'read')
  await refused(
    { Statement: [denial({ Principal: { AWS: accessKeyId } })] },
    /which tenant "acme" does not have/,
  )
  await refused({ Statement: [denial({ Resource: 'arn:aws:s3:::photos/*' })] }, /names "arn:aws:s3:::photos/)
  const large = await policies.put({ Id: 'x'.repeat(20_480), Statement: [denial()] })
  t.match(large, { status: 413, code: 'entity_too_large' })
  t.match(await policies.ask(), { status: 404 }, 'nothing was set')
})

t.test('a dry run changes nothing and reports statements without effect [policies.dry-run]', async (t) => {
  const policies = await PolicyClient.start(t)
  const policy = { Statement: [denial(), denial({ Effect: 'Allow' })] }
  const before = policies.films.world.memory.checksum()
  t.match(await policies.put(policy, '?dryRun=true'), {
    status: 200,
    json: {
      dryRun: true,
      operation: 'setTenantBucketPolicy',
      tenantId: 'acme',
      allowed: true,
      plan: { replaces: false, denials: 1, withoutEffect: 1 },
      warnings: [/1 of the statements allow something/],
    },
  })
  t.match(await policies.put({ Statement: [7] }, '?dryRun=true'), { status: 400 })
  t.equal(policies.films.world.memory.checksum(), before)
  await policies.set(denial())
  const path = '/admin/api/v1/tenants/acme/buckets/films/policy?dryRun=true'
  t.match(await policies.ask({ method: 'DELETE', path }), {
    status: 200,
    json: { dryRun: true, operation: 'deleteTenantBucketPolicy', plan: { removes: true } },
  })
  t.match(await policies.put(policy, '?dryRun=true'), { json: { plan: { replaces: true } } })
  t.equal((await policies.ask()).status, 200, 'it is still there')
})

t.test(
  'an allowance widens no scope; a denial narrows each [policies.never-widens] [policies.deny-first]',
  async (t) => {
    const policies = await PolicyClient.start(t)
    const { films } = policies
    await films.put('a')
    const reader = films.as({
      token: await films.world.memory.bearer('acme', 'op=read:bucket=films:prefix=in/'),
    })
    await policies.set(denial({ Effect: 'Allow' }))
    t.match(await reader.get('a'), DENIED)
    t.match(await reader.put('in/a'), DENIED)
    t.equal((await films.get('a')).status, 200, 'requests that scopes allow stay allowed')
    await policies.set(
      denial({ Effect: 'Allow' }),
      denial({ Action: 's3:GetObject', Resource: `${FILMS}/a` }),
    )
    const answer = await films.get('a')
    t.match(answer, { ...DENIED, json: { message: /^The policy of bucket "films" denies 'getObject' here/ } })
    t.equal((await films.put('a')).status, 200)
    t.equal((await films.put('b')).status, 200)
    t.equal((await films.get('b')).status, 200)
    await policies.clear()
    t.equal((await films.get('a')).status, 200, 'without a policy only scopes decide')
  },
)

t.test('no policy locks out an owner who can remove it [policies.admin-plane]', async (t) => {
  const policies = await PolicyClient.start(t)
  await policies.set(denial({ Action: '*' }))
  t.match(await policies.films.list(), DENIED)
  t.equal((await policies.ask()).status, 200)
  await policies.clear()
  t.equal((await policies.films.list()).status, 200)
})

t.test('the policy is removed with its bucket [policies.bucket-gone]', async (t) => {
  const policies = await PolicyClient.start(t)
  await policies.set(denial({ Action: 's3:GetObject', Resource: `${FILMS}/*` }))
  const { films } = policies
  t.equal((await films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' })).status, 204)
  t.match(await policies.ask(), { status: 404 })
  t.equal((await films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'films' } })).status, 201)
  await films.put('a')
  t.equal((await films.get('a')).status, 200)
})

t.test('the source of a copy is authorized as a download, with its version [policies.copy]', async (t) => {
  const policies = await PolicyClient.start(t, { versioning: 'Enabled' })
  const { films } = policies
  const first = idOf(await films.put('secret/a', 'old'))
  await films.put('secret/a', 'new')
  await films.put('b', 'tagged', { 'x-service-tagging': 'k=v' })
  await policies.set(denial({ Action: 's3:GetObject', Resource: `${FILMS}/secret/*` }))
  t.match(await films.copy('stolen', { sourceKey: 'secret/a' }), DENIED)
  t.match(
    await films.copy('stolen', { sourceKey: 'secret/a', sourceVersionId: first }),
    DENIED,
    'nor an older version',
  )
  const ofVersion = { Condition: { StringEquals: { 's3:VersionId': first } } }
  await policies.set(denial({ Action: 's3:GetObjectVersion', Resource: `${FILMS}/*`, ...ofVersion }))
  t.match(await films.copy('stolen', { sourceKey: 'secret/a', sourceVersionId: first }), DENIED)
  t.equal((await films.copy('fine', { sourceKey: 'secret/a' })).status, 200)
  await policies.set(denial({ Action: 's3:PutObject', Resource: `${FILMS}/kept/*` }))
  t.match(await films.copy('kept/a', { sourceKey: 'b' }), DENIED, 'the target as an upload')
  await policies.set(denial({ Action: 's3:GetObjectTagging', Resource: `${FILMS}/*` }))
  t.match(await films.copy('c', { sourceKey: 'b' }), DENIED, 'copied tags are read')
  t.equal((await films.copy('c', { sourceKey: 'secret/a' })).status, 200, 'there are none')
  await policies.set(denial({ Action: 's3:PutObjectTagging', Resource: `${FILMS}/*` }))
  t.match(await films.copy('c', { sourceKey: 'b' }), DENIED, 'and written')
  t.match(await films.get('stolen'), { status: 404 })
})

t.test('each key of a batch is authorized as a delete, with its version [policies.batch]', async (t) => {
  const policies = await PolicyClient.start(t, { versioning: 'Enabled' })
  const { films } = policies
  const [a, b] = [idOf(await films.put('kept/a')), idOf(await films.put('b'))]
  const codes = async (...objects: readonly object[]) => {
    const { json } = await films.batchDelete({ objects })
    return (json['results'] as readonly { error?: { code: string } }[]).map(
      ({ error }) => error?.code ?? 'gone',
    )
  }
  await policies.set(
    denial({ Action: 's3:DeleteObject', Resource: `${FILMS}/kept/*` }),
    denial({
      Action: 's3:DeleteObjectVersion',
      Resource: `${FILMS}/b`,
      Condition: { StringEquals: { 's3:VersionId': b } },
    }),
  )
  const asked = [{ key: 'kept/a' }, { key: 'kept/a', versionId: a }, { key: 'b', versionId: b }, { key: 'b' }]
  t.same(await codes(...asked), ['access_denied', 'access_denied', 'access_denied', 'gone'])
  const many = Array.from({ length: 100 }, (_, n) => ({ key: n % 2 === 0 ? 'kept/x' : `other/${n}` }))
  t.same((await codes(...many)).filter((code) => code === 'access_denied').length, 50)
})

t.test('tags and locks of an upload are authorized separately [policies.settings]', async (t) => {
  const policies = await PolicyClient.start(t, { objectLockEnabled: true })
  const { films } = policies
  const settings = [
    ['s3:PutObjectTagging', { 'x-service-tagging': 'k=v' }],
    [
      's3:PutObjectRetention',
      { 'x-service-retention-mode': 'GOVERNANCE', 'x-service-retain-until': '2099-01-01T00:00:00Z' },
    ],
    ['s3:PutObjectLegalHold', { 'x-service-legal-hold': 'ON' }],
  ] as const
  for (const [Action, headers] of settings) {
    const upload = () => films.on('multipart', 'm', { method: 'POST', headers })
    await policies.set(denial({ Action, Resource: `${FILMS}/*` }))
    t.match(await films.put('a', 'x', headers), DENIED, Action)
    t.match(await upload(), DENIED, `${Action} of a multipart upload`)
    t.equal((await films.put('a')).status, 200, 'without them it is an upload like any other')
    await policies.clear()
    t.equal((await films.put('a', 'x', headers)).status, 200)
    t.equal((await upload()).status, 201)
  }
})

t.test('conditions see the request [policies.conditions]', async (t) => {
  const policies = await PolicyClient.start(t)
  const { films } = policies
  await films.put('in/a')
  const listing = { Action: 's3:ListBucket', Resource: FILMS }
  await policies.set(denial({ ...listing, Condition: { StringNotLike: { 's3:prefix': 'in/*' } } }))
  t.match(await films.list(), DENIED)
  t.match(await films.list({ prefix: 'out/' }), DENIED)
  t.equal((await films.list({ prefix: 'in/' })).status, 200)
  await policies.set(denial({ ...listing, Condition: { StringNotEquals: { 's3:delimiter': '/' } } }))
  t.match(await films.list(), DENIED)
  t.equal((await films.list({ delimiter: '/' })).status, 200)
  await policies.set(
    denial({
      Action: 's3:ListBucketVersions',
      Resource: FILMS,
      Condition: { Null: { 's3:delimiter': true } },
    }),
  )
  t.match(await films.versions(), DENIED)
  t.equal((await films.versions({ delimiter: '/' })).status, 200)

  const reading = { Action: 's3:GetObject', Resource: `${FILMS}/*` }
  for (const [Condition, isDenied] of [
    [{ IpAddress: { 'aws:SourceIp': '127.0.0.0/8' } }, true],
    [{ IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } }, false],
    [{ NotIpAddress: { 'aws:SourceIp': '10.0.0.0/8' } }, true],
    [{ Bool: { 'aws:SecureTransport': false } }, true],
    [{ Bool: { 'aws:SecureTransport': true } }, false],
    [{ DateGreaterThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } }, true],
    [{ DateLessThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } }, false],
    [{ StringLike: { 'aws:username': 'AK*' } }, true],
  ] as const) {
    await policies.set(denial({ ...reading, Condition }))
    t.equal((await films.get('in/a')).status, isDenied ? 403 : 200, JSON.stringify(Condition))
  }
})

t.test('a policy that this version cannot read denies everything [policies.unreadable]', async (t) => {
  const policies = await PolicyClient.start(t)
  const { films } = policies
  const { services } = films.world.memory
  await films.put('a')
  for (const policy of ['{"Version":"2099-01-01","Statement":[]}', 'no JSON', '{}', '7']) {
    await services.propose({ type: 'setBucketPolicy', tenantId: 'acme', name: 'films', policy })
    t.match(await films.get('a'), DENIED, policy)
    t.match(await films.list(), DENIED)
  }
  await policies.set(denial({ Resource: `${FILMS}/other/*`, Action: 's3:GetObject' }))
  t.equal((await films.get('a')).status, 200, 'until a good one takes its place')
  const bucket = services.state.get(bucketKeys.bucket('acme', 'films'))
  t.ok(services.state.get(bucketKeys.bucketPolicy(bucket?.id ?? '')))
  t.equal(bucketPolicyOf(services.state, 'acme', 'a\u0000b'), undefined)
})

t.test('many policies are kept apart, with any of them cached [policies.now]', async (t) => {
  const policies = await PolicyClient.start(t)
  const { films } = policies
  for (let n = 0; n < 80; n += 1) await films.world.memory.services.propose(numbered(n))
  for (const n of [79, 0, 40]) {
    await films.world.memory.services.propose(numbered(n))
    t.match(await films.get(`k${n}`), DENIED)
    t.match(await films.get(`k${n + 1}`), { status: 404 })
  }
  await policies.set(denial({ Resource: WHOLE }))
  t.match(await films.get('k1'), DENIED)
})

function numbered(n: number) {
  const policy = JSON.stringify({
    Statement: [denial({ Action: 's3:GetObject', Resource: `${FILMS}/k${n}` })],
  })
  return { type: 'setBucketPolicy', tenantId: 'acme', name: 'films', policy } as const
}
