/**
 * Settings of buckets through the S3 API: CORS, policy, tags, and what is the same for all buckets.
 *
 * Actions: GetBucketCors, PutBucketCors, DeleteBucketCors, GetBucketPolicy, PutBucketPolicy, DeleteBucketPolicy, GetBucketPolicyStatus
 * Actions: GetBucketTagging, PutBucketTagging, DeleteBucketTagging, GetObjectTagging, PutObjectTagging, DeleteObjectTagging
 * Actions: GetBucketEncryption, PutBucketEncryption, DeleteBucketEncryption, GetPublicAccessBlock, PutPublicAccessBlock
 * Actions: GetBucketOwnershipControls, PutBucketOwnershipControls, GetBucketAcl, PutBucketAcl, GetObjectAcl, PutObjectAcl
 * Actions: GetBucketNotificationConfiguration, PutBucketNotificationConfiguration
 */
import t from 'tap'
import type { ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import { S3World } from './s3-world.ts'

const XMLNS = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'

async function start(
  t: Parameters<typeof S3World.start>[0],
  options: Parameters<typeof S3World.start>[1] = {},
) {
  const s3 = await S3World.start(t, options)
  const get = (mark: string) => s3.call({ path: `/photos?${mark}` })
  const put = (mark: string, body: string, headers: Record<string, string> = {}) =>
    s3.call({ method: 'PUT', path: `/photos?${mark}`, body, headers })
  const remove = (mark: string) => s3.call({ method: 'DELETE', path: `/photos?${mark}` })
  return { s3, get, put, remove }
}

const textsOf = (parent: ReadElement | null | undefined, name: string) =>
  parent?.childrenNamed(name).map(({ text }) => text)

t.test('PutBucketCors, GetBucketCors, DeleteBucketCors', async (t) => {
  const { s3, get, put, remove } = await start(t)
  t.match(await get('cors'), { status: 404, s3Code: 'NoSuchCORSConfiguration' })
  const first = `<CORSRule><ID>app</ID><AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod><AllowedOrigin>https://*.example.com</AllowedOrigin><AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><ExposeHeader>x-amz-version-id</ExposeHeader><MaxAgeSeconds>600</MaxAgeSeconds></CORSRule>`
  const second = `<CORSRule><AllowedMethod>HEAD</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>`
  const whole = (rules: string) => `<CORSConfiguration ${XMLNS}>${rules}</CORSConfiguration>`
  t.match(await put('cors', whole(first + second)), { status: 200 })
  const [one, other] = (await get('cors')).xml?.childrenNamed('CORSRule') ?? []
  t.same(textsOf(one, 'ID'), ['app'])
  t.same(textsOf(one, 'AllowedMethod'), ['GET', 'PUT'])
  t.same(textsOf(one, 'AllowedOrigin'), ['https://*.example.com'])
  t.same(textsOf(one, 'AllowedHeader'), ['*'])
  t.same(textsOf(one, 'ExposeHeader'), ['ETag', 'x-amz-version-id'])
  t.same(textsOf(one, 'MaxAgeSeconds'), ['600'])
  t.same(
    other?.children.map(({ name }) => name),
    ['AllowedMethod', 'AllowedOrigin'],
    'no more than was given',
  )
  t.match(await s3.world.call({ path: '/api/v1/buckets/photos/cors', token: s3.token }), {
    json: { rules: [{ id: 'app', maxAgeSeconds: 600 }, { allowedMethods: ['HEAD'] }] },
  })
  for (const [rules, code] of [
    ['', 'InvalidRequest'],
    [
      '<CORSRule><AllowedMethod>PATCH</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>',
      'InvalidRequest',
    ],
    ['<CORSRule><AllowedMethod>GET</AllowedMethod></CORSRule>', 'InvalidRequest'],
    [first.replace('600', 'long'), 'MalformedXML'],
    [first.replace('600', '-1'), 'InvalidRequest'],
    [`${first}<Rule/>`, 'NotImplemented'],
    [first.replace('<ID>', '<Other/><ID>'), 'NotImplemented'],
  ] as const)
    t.match(await put('cors', whole(rules)), { s3Code: code }, rules)
  t.equal((await put('cors', whole(second.repeat(1000)))).s3Code, 'EntityTooLarge')
  t.match(await remove('cors'), { status: 204 })
  t.match(await remove('cors'), { status: 204 }, 'again')
  t.equal((await get('cors')).status, 404)
})

t.test('PutBucketPolicy, GetBucketPolicy, GetBucketPolicyStatus, DeleteBucketPolicy', async (t) => {
  const { s3, get, put, remove } = await start(t)
  const deny = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' }
  const policy = (...Statement: object[]) => JSON.stringify({ Version: '2012-10-17', Statement })
  t.match(await get('policy'), { status: 404, s3Code: 'NoSuchBucketPolicy' })
  t.equal((await get('policyStatus')).xml?.textOf('IsPublic'), 'false')
  t.match(await s3.call({ path: '/absent?policyStatus' }), { status: 404, s3Code: 'NoSuchBucket' })
  t.match(await put('policy', policy(deny)), { status: 204, bytes: Buffer.alloc(0) })
  const got = await get('policy')
  t.match(got, { status: 200, headers: { 'content-type': 'application/json' }, json: { Statement: [deny] } })
  t.equal((await get('policyStatus')).xml?.textOf('IsPublic'), 'false')
  await s3.call({ method: 'PUT', path: '/photos/k', body: 'x' })
  t.match(await s3.call({ path: '/photos/k' }), { status: 403, s3Code: 'AccessDenied' }, 'it denies at once')
  const owner = await s3.world.memory.adminToken('owner')
  const ofAdmin = { admin: true, token: owner, path: '/admin/api/v1/tenants/acme/buckets/photos/policy' }
  t.match(
    await s3.world.call(ofAdmin),
    { status: 200, json: { Statement: [deny] } },
    'one policy, from both planes',
  )

  t.test('a policy that is none is a MalformedPolicy', async (t) => {
    for (const body of [
      '',
      'policy',
      '[]',
      'null',
      '{"Version":"2012-10-17"}',
      policy({ ...deny, Action: 's3:NoSuchAction' }),
      policy({ ...deny, Resource: 'arn:aws:s3:::other/*' }),
      policy({ ...deny, Principal: { AWS: 'AKNOTHERE' } }),
      policy(deny).replace('"Effect":"Deny"', '"Effect":"Deny","Effect":"Deny"'),
    ])
      t.match(await put('policy', body), { status: 400, s3Code: 'MalformedPolicy' }, body)
  })

  t.test('nothing becomes public', async (t) => {
    for (const open of [
      { ...deny, Effect: 'Allow' },
      { ...deny, Effect: 'Allow', Principal: { AWS: ['*'] } },
    ])
      t.match(await put('policy', policy(open)), { status: 403, s3Code: 'AccessDenied' })
    const own = { ...deny, Effect: 'Allow', Principal: { AWS: s3.secret.accessKeyId } }
    t.match(await put('policy', policy(own)), { status: 204 }, 'of one key it says nothing new')
  })

  t.test('the verb admin is needed, and a policy can deny it', async (t) => {
    const secret = await s3.world.memory.accessKey('acme', 'read,write,delete')
    for (const mark of ['policy', 'policyStatus'])
      t.match(
        await s3.call({ path: `/photos?${mark}`, secret }),
        { status: 403, s3Code: 'AccessDenied' },
        mark,
      )
    const gone = { method: 'DELETE', path: '/photos?policy' }
    t.match(await s3.call({ ...gone, secret }), { status: 403 })
    const whole = { ...deny, Action: 's3:DeleteBucketPolicy', Resource: 'arn:aws:s3:::photos' }
    await put('policy', policy(whole))
    t.match(await remove('policy'), { status: 403, s3Code: 'AccessDenied' })
    t.match(await s3.world.call({ ...ofAdmin, method: 'DELETE' }), { status: 204 }, 'an owner takes it back')
    t.match(await remove('policy'), { status: 204 }, 'that there is none is no error')
  })
})

t.test('what lifts a denial needs a second approval from this side too', async (t) => {
  const { s3, put, remove } = await start(t, { security: { secondApproval: ['lower_locks'] } })
  const deny = {
    Effect: 'Deny',
    Principal: '*',
    Action: 's3:DeleteObject',
    Resource: 'arn:aws:s3:::photos/*',
  }
  await put('policy', JSON.stringify({ Version: '2012-10-17', Statement: [deny] }))
  const asked = await remove('policy')
  t.match(asked, { status: 412, s3Code: 'PreconditionFailed' })
  const [approvalId = ''] = /apr_[0-9a-f]+/.exec(asked.xml?.textOf('Message') ?? '') ?? []
  const token = await s3.world.memory.adminToken('owner')
  const path = `/admin/api/v1/approvals/${approvalId}/approve`
  const body = { reason: 'It is agreed' }
  t.match(await s3.world.call({ admin: true, method: 'POST', path, token, body }), { status: 200 })
  t.match(await remove('policy'), { status: 204 })
})

t.test('PutBucketTagging, GetBucketTagging, DeleteBucketTagging', async (t) => {
  const { get, put, remove } = await start(t)
  const tag = (name: string, value: string) => `<Tag><Key>${name}</Key><Value>${value}</Value></Tag>`
  const tagging = (inner: string) => `<Tagging ${XMLNS}><TagSet>${inner}</TagSet></Tagging>`
  t.match(await get('tagging'), { status: 404, s3Code: 'NoSuchTagSet' })
  const tagged = await put('tagging', tagging(tag('team', 'blue &amp; green') + tag('cost', '7')))
  t.match(tagged, { status: 200, bytes: Buffer.alloc(0) }, 'minio-js takes no other status')
  const set = (await get('tagging')).xml?.needed('TagSet')
  t.same(
    set?.children.map((one) => [one.textOf('Key'), one.textOf('Value')]),
    [
      ['cost', '7'],
      ['team', 'blue & green'],
    ],
    'by name',
  )
  const many = Array.from({ length: 51 }, (_, n) => tag(`t${n}`, 'x')).join('')
  for (const [inner, code] of [
    [many, 'InvalidTag'],
    [tag('a', '1') + tag('a', '2'), 'InvalidTag'],
    [tag('aws:x', '1'), 'InvalidTag'],
    [tag('', '1'), 'InvalidTag'],
    [tag('k'.repeat(129), '1'), 'InvalidTag'],
    ['<Tag><Key>k</Key></Tag>', 'MalformedXML'],
    ['<Tag><Key>k</Key><Value/><Note/></Tag>', 'NotImplemented'],
  ] as const)
    t.match(
      await put('tagging', tagging(inner)),
      { status: code === 'NotImplemented' ? 501 : 400, s3Code: code },
      inner,
    )
  t.match(await put('tagging', tagging(many.replace(tag('t50', 'x'), ''))), { status: 200 }, 'fifty')
  t.match(await remove('tagging'), { status: 204 })
  t.match(await get('tagging'), { s3Code: 'NoSuchTagSet' })
})

t.test('object tags', async (t) => {
  const { s3 } = await start(t)
  await s3.call({ method: 'PUT', path: '/photos/k', body: 'x', headers: { 'x-amz-tagging': 'a=1&b=2' } })
  const path = '/photos/k?tagging'
  const tags = async () =>
    Object.fromEntries(
      (await s3.call({ path })).xml
        ?.needed('TagSet')
        .children.map((one) => [one.textOf('Key'), one.textOf('Value')]) ?? [],
    )
  t.same(await tags(), { a: '1', b: '2' })
  const body = `<Tagging ${XMLNS}><TagSet><Tag><Key>c</Key><Value>3 + 3</Value></Tag></TagSet></Tagging>`
  t.match(await s3.call({ method: 'PUT', path, body }), { status: 200 })
  t.same(await tags(), { c: '3 + 3' })
  t.match(await s3.call({ method: 'DELETE', path }), { status: 204 })
  t.same(await tags(), {}, 'none is an empty set')
  const eleven = Array.from({ length: 11 }, (_, n) => `<Tag><Key>t${n}</Key><Value/></Tag>`).join('')
  const much = `<Tagging><TagSet>${eleven}</TagSet></Tagging>`
  t.match(await s3.call({ method: 'PUT', path, body: much }), { status: 400, s3Code: 'InvalidTag' })
  t.match(await s3.call({ path: '/photos/none?tagging' }), { status: 404, s3Code: 'NoSuchKey' })
})

t.test(
  'encryption, public access and ownership are what they are, and nothing else is accepted',
  async (t) => {
    const { get, put, remove } = await start(t)
    const encryption = (inner: string) =>
      `<ServerSideEncryptionConfiguration ${XMLNS}><Rule><ApplyServerSideEncryptionByDefault>${inner}</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>`
    const aes = '<SSEAlgorithm>AES256</SSEAlgorithm>'
    const shown = (await get('encryption')).xml?.needed('Rule').needed('ApplyServerSideEncryptionByDefault')
    t.equal(shown?.textOf('SSEAlgorithm'), 'AES256')
    t.match(await put('encryption', encryption(aes)), { status: 200 })
    for (const inner of ['<SSEAlgorithm>aws:kms</SSEAlgorithm>', `${aes}<KMSMasterKeyID>x</KMSMasterKeyID>`])
      t.match(await put('encryption', encryption(inner)), { status: 501, s3Code: 'NotImplemented' }, inner)
    t.equal((await put('encryption', encryption(''))).s3Code, 'MalformedXML')
    t.match(await remove('encryption'), { status: 204 })

    const names = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets']
    const block = (value: (name: string) => string) =>
      `<PublicAccessBlockConfiguration>${names.map((name) => `<${name}>${value(name)}</${name}>`).join('')}</PublicAccessBlockConfiguration>`
    const all = (await get('publicAccessBlock')).xml
    t.same(
      names.map((name) => all?.textOf(name)),
      ['true', 'true', 'true', 'true'],
    )
    t.match(
      await put(
        'publicAccessBlock',
        block(() => 'true'),
      ),
      { status: 200 },
    )
    for (const off of names)
      t.match(
        await put(
          'publicAccessBlock',
          block((name) => `${name !== off}`),
        ),
        { status: 501 },
        off,
      )
    t.match(await put('publicAccessBlock', '<PublicAccessBlockConfiguration/>'), { status: 501 })

    const ownership = (value: string) =>
      `<OwnershipControls><Rule><ObjectOwnership>${value}</ObjectOwnership></Rule></OwnershipControls>`
    t.equal(
      (await get('ownershipControls')).xml?.needed('Rule').textOf('ObjectOwnership'),
      'BucketOwnerEnforced',
    )
    t.match(await put('ownershipControls', ownership('BucketOwnerEnforced')), { status: 200 })
    t.match(await put('ownershipControls', ownership('ObjectWriter')), {
      status: 501,
      s3Code: 'NotImplemented',
    })
    for (const mark of ['encryption', 'publicAccessBlock', 'ownershipControls', 'acl'])
      t.match(await get(`${mark}&other=1`), { status: 501 }, `${mark} with a parameter that it does not take`)
  },
)

t.test('ACLs are private', async (t) => {
  const { s3, get, put } = await start(t)
  await s3.call({ method: 'PUT', path: '/photos/k', body: 'x' })
  for (const acl of [await get('acl'), await s3.call({ path: '/photos/k?acl' })]) {
    t.equal(acl.xml?.needed('Owner').textOf('ID'), 'acme')
    const grants = acl.xml?.needed('AccessControlList').childrenNamed('Grant') ?? []
    t.same(
      grants.map((grant) => [grant.needed('Grantee').textOf('ID'), grant.textOf('Permission')]),
      [['acme', 'FULL_CONTROL']],
    )
    t.match(acl.bytes.toString(), /xsi:type="CanonicalUser"/)
  }
  const own = (await get('acl')).bytes.toString()
  t.match(await put('acl', own), { status: 200 }, 'what was read can be sent back')
  t.match(await put('acl', own.replaceAll('acme', 'rival')), { status: 400, s3Code: 'MalformedACLError' })
  const [before = '', grants = ''] = own.split('<AccessControlList>')
  const toOther = `${before}<AccessControlList>${grants.replaceAll('acme', 'rival')}`
  t.match(await put('acl', toOther), { status: 501, s3Code: 'NotImplemented' })
  t.match(await put('acl', own.replace('FULL_CONTROL', 'READ')), { status: 501, s3Code: 'NotImplemented' })
  const canned = (path: string, acl: string) =>
    s3.call({ method: 'PUT', path, headers: { 'x-amz-acl': acl } })
  for (const path of ['/photos?acl', '/photos/k?acl']) {
    t.match(await canned(path, 'private'), { status: 200 })
    for (const acl of ['public-read', 'authenticated-read', 'log-delivery-write'])
      t.match(await canned(path, acl), { status: 501, s3Code: 'NotImplemented' }, acl)
    t.match(await canned(path, 'public-ready'), { status: 400, s3Code: 'InvalidArgument' })
    t.match(await s3.call({ method: 'PUT', path }), { status: 400, s3Code: 'MissingSecurityHeader' })
  }
  t.match(await canned('/photos/k?acl', 'bucket-owner-full-control'), { status: 200 })
  t.match(await s3.call({ path: '/photos/none?acl' }), { status: 404, s3Code: 'NoSuchKey' })
})

t.test('webhooks are shown as queues, and can be kept, changed and removed', async (t) => {
  const { s3, get, put } = await start(t)
  const path = '/api/v1/buckets/photos/notifications'
  const token = await s3.world.memory.bearer('acme', 'read,write')
  const hook = (id: string, more: object = {}) => ({
    id,
    url: `https://hooks.example/${id}`,
    events: ['object-created', 'object-lock-changed'],
    ...more,
  })
  const configs = [hook('a', { prefix: 'in/', payloadFormat: 's3', enabled: false }), hook('b')]
  const made = await s3.world.call({ method: 'PUT', path, token, body: { configs } })
  t.equal(made.status, 200)
  const native = async () =>
    (await s3.world.call({ path, token })).json['configs'] as Record<string, unknown>[]
  const before = await native()

  const shown = await get('notification')
  const [one, other] = shown.xml?.childrenNamed('QueueConfiguration') ?? []
  t.same(textsOf(one, 'Id'), ['a'])
  t.same(textsOf(one, 'Queue'), ['arn:holdfast:webhook:us-east-1:acme:a'])
  t.same(textsOf(one, 'Event'), ['s3:ObjectCreated:*', 's3:ObjectRetention:Put', 's3:ObjectLegalHold:Put'])
  const rule = one?.needed('Filter').needed('S3Key').needed('FilterRule')
  t.same([rule?.textOf('Name'), rule?.textOf('Value')], ['prefix', 'in/'])
  t.equal(other?.child('Filter'), null)

  const body = shown.bytes.toString()
  t.match(await put('notification', body), { status: 200 }, 'what was read can be sent back')
  const same = (config: Record<string, unknown>) => ({ ...config, updatedAt: null })
  t.same((await native()).map(same), before.map(same), 'and changes nothing')
  const changed = body
    .replace('<Name>prefix</Name><Value>in/', '<Name>Suffix</Name><Value>.jpg')
    .replaceAll(/<Event>s3:Object(Retention|LegalHold):Put<\/Event>/g, '<Event>s3:ObjectTagging:*</Event>')
    .replace(/<QueueConfiguration><Id>b.*<\/QueueConfiguration>/, '')
  t.match(await put('notification', changed), { status: 200 })
  t.match(await native(), [
    { id: 'a', url: 'https://hooks.example/a', events: ['object-created', 'object-tagged'], suffix: '.jpg' },
  ])
  t.match(await native(), [{ prefix: '', payloadFormat: 's3', enabled: false, hasSecret: true }])

  const whole = (inner: string) => `<NotificationConfiguration ${XMLNS}>${inner}</NotificationConfiguration>`
  const queue = (arn: string, event = 's3:ObjectCreated:*') =>
    `<QueueConfiguration><Queue>${arn}</Queue><Event>${event}</Event></QueueConfiguration>`
  const ours = 'arn:holdfast:webhook:us-east-1:acme:a'
  for (const [inner, code, text] of [
    ['<TopicConfiguration><Topic>x</Topic></TopicConfiguration>', 'NotImplemented', 'SNS'],
    ['<CloudFunctionConfiguration/>', 'NotImplemented', 'Lambda'],
    ['<EventBridgeConfiguration/>', 'NotImplemented', 'EventBridge'],
    [queue('arn:aws:sqs:us-east-1:1:q'), 'NotImplemented', 'SQS'],
    [queue(ours.replace(/a$/, 'none')), 'InvalidArgument', 'none'],
    [queue(ours, 's3:ObjectCreated:Put'), 'NotImplemented', 's3:ObjectCreated:Put'],
    [queue(ours, ''), 'NotImplemented', 'event'],
    [queue(ours).replace(/<Event>.*<\/Event>/, ''), 'InvalidArgument', 'event'],
    [queue(ours).replace('<Queue>', '<Other/><Queue>'), 'NotImplemented', 'Other'],
  ] as const) {
    const refused = await put('notification', whole(inner))
    t.equal(refused.s3Code, code, inner)
    t.match(refused.xml?.textOf('Message'), new RegExp(text), inner)
  }
  t.equal((await native()).length, 1, 'what is refused removes nothing')

  const reader = await s3.world.memory.accessKey('acme', 'read')
  t.match(await s3.call({ path: '/photos?notification', secret: reader }), { status: 200 })
  const clear = { method: 'PUT', path: '/photos?notification', body: whole('') }
  t.match(await s3.call({ ...clear, secret: reader }), { status: 403, s3Code: 'AccessDenied' })
  t.match(await s3.call(clear), { status: 200 }, 'an empty configuration removes all')
  t.same(await native(), [])
  t.match(await get('notification'), { status: 200, xml: { children: [] } })
})
