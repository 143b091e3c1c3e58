/**
 * Buckets through the S3 API: create, look, delete, location, versioning; what is refused by its name.
 *
 * Actions: CreateBucket, HeadBucket, DeleteBucket, GetBucketLocation, GetBucketVersioning, PutBucketVersioning, GetBucketRequestPayment
 * Actions: GetBucketAccelerateConfiguration, GetBucketLogging, GetBucketWebsite
 */
import t from 'tap'
import { refusedActions } from '../../../src/api/s3/refused-actions.ts'
import { MultipartCalls } from './multipart-calls.ts'
import { S3World } from './s3-world.ts'

const XMLNS = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'

t.test('CreateBucket', async (t) => {
  const s3 = await S3World.start(t)
  const create = (name: string, headers: Record<string, string> = {}, body?: string) =>
    s3.call({ method: 'PUT', path: `/${name}`, headers, ...(body === undefined ? {} : { body }) })
  const located = (text: string) =>
    `<CreateBucketConfiguration ${XMLNS}><LocationConstraint>${text}</LocationConstraint></CreateBucketConfiguration>`

  t.test('makes a bucket that both APIs see', async (t) => {
    t.match(await create('films'), { status: 200, headers: { location: '/films' } })
    t.match(await s3.world.call({ path: '/api/v1/buckets/films', token: s3.token }), {
      status: 200,
      json: { versioning: 'Unversioned', objectLockEnabled: false },
    })
    t.match(await create('locked', { 'x-amz-bucket-object-lock-enabled': 'true' }), { status: 200 })
    t.match(await s3.world.call({ path: '/api/v1/buckets/locked', token: s3.token }), {
      json: { versioning: 'Enabled', objectLockEnabled: true },
    })
  })

  t.test('accepts the private ACL, the one ownership, and any location', async (t) => {
    const headers = { 'x-amz-acl': 'private', 'x-amz-object-ownership': 'BucketOwnerEnforced' }
    t.match(await create('private', headers), { status: 200 })
    for (const [n, place] of ['eu-central-1', '', 'EU'].entries())
      t.match(await create(`placed-${n}`, {}, located(place)), { status: 200 }, place)
    t.match(await create('empty', {}, `<CreateBucketConfiguration/>`), { status: 200 })
  })

  t.test('refuses what it would not do, and makes nothing', async (t) => {
    const table = [
      [{ 'x-amz-acl': 'public-read' }, undefined, 'NotImplemented'],
      [{ 'x-amz-grant-read': 'id=1' }, undefined, 'NotImplemented'],
      [{ 'x-amz-object-ownership': 'ObjectWriter' }, undefined, 'NotImplemented'],
      [{ 'x-amz-bucket-object-lock-enabled': 'yes' }, undefined, 'InvalidArgument'],
      [{}, located('../x'), 'InvalidLocationConstraint'],
      [{}, '<CreateBucketConfiguration><Bucket/></CreateBucketConfiguration>', 'NotImplemented'],
      [{}, '<Other/>', 'MalformedXML'],
      [{}, '<CreateBucketConfiguration>', 'MalformedXML'],
    ] as const
    for (const [headers, body, code] of table)
      t.equal((await create('never', headers, body)).s3Code, code, JSON.stringify([headers, body]))
    t.equal((await s3.call({ method: 'HEAD', path: '/never' })).status, 404)
  })

  t.test('names what is wrong with a name', async (t) => {
    const locked = await create('photos', { 'x-amz-bucket-object-lock-enabled': 'true' })
    t.match(locked, { status: 409, s3Code: 'BucketAlreadyOwnedByYou' })
    for (const name of ['Photos', 'a', 'a..b', '10.0.0.1'])
      t.match(await create(name), { status: 400, s3Code: 'InvalidBucketName' }, name)
    const writer = await s3.world.memory.accessKey('acme', 'read')
    t.match(await s3.call({ method: 'PUT', path: '/other', secret: writer }), {
      status: 403,
      s3Code: 'AccessDenied',
    })
  })
})

t.test('CreateBucket of a bucket that is there', async (t) => {
  const s3 = await S3World.start(t)
  const again = { method: 'PUT', path: '/photos' }
  await s3.call({ method: 'PUT', path: '/photos/k', body: 'x' })
  t.match(
    await s3.call(again),
    { status: 200, headers: { location: '/photos' } },
    'the classic region agrees',
  )
  t.match(
    await s3.call({ path: '/photos/k' }),
    { status: 200, bytes: Buffer.from('x') },
    'and changes nothing',
  )
  const elsewhere = await S3World.start(t, { security: { s3Region: 'eu-west-3' } })
  t.match(await elsewhere.call(again), { status: 409, s3Code: 'BucketAlreadyOwnedByYou' })
})

t.test('HeadBucket, GetBucketLocation, DeleteBucket', async (t) => {
  const s3 = await S3World.start(t)
  const head = await s3.call({ method: 'HEAD', path: '/photos' })
  t.match(head, { status: 200, headers: { 'x-amz-bucket-region': 'us-east-1' }, bytes: Buffer.alloc(0) })
  t.match(await s3.call({ method: 'HEAD', path: '/absent' }), { status: 404, bytes: Buffer.alloc(0) })
  const location = await s3.call({ path: '/photos?location' })
  t.match(location.xml, { name: 'LocationConstraint', text: '' }, 'the classic region has no name')
  t.equal((await s3.call({ path: '/absent?location' })).s3Code, 'NoSuchBucket')

  await s3.call({ method: 'PUT', path: '/photos/k', body: 'x' })
  t.match(await s3.call({ method: 'DELETE', path: '/photos' }), { status: 409, s3Code: 'BucketNotEmpty' })
  await s3.call({ method: 'DELETE', path: '/photos/k' })
  t.match(await s3.call({ method: 'DELETE', path: '/photos' }), { status: 204, bytes: Buffer.alloc(0) })
  t.match(await s3.call({ method: 'DELETE', path: '/photos' }), { status: 404, s3Code: 'NoSuchBucket' })
})

t.test('the location is the setting, where it is another region', async (t) => {
  const s3 = await S3World.start(t, { security: { s3Region: 'eu-west-3' } })
  t.equal((await s3.call({ path: '/photos?location' })).xml?.text, 'eu-west-3')
  t.equal((await s3.call({ method: 'HEAD', path: '/photos' })).headers['x-amz-bucket-region'], 'eu-west-3')
})

t.test('PutBucketVersioning and GetBucketVersioning', async (t) => {
  const s3 = await S3World.start(t)
  const path = '/photos?versioning'
  const put = (inner: string) =>
    s3.call({
      method: 'PUT',
      path,
      body: `<VersioningConfiguration ${XMLNS}>${inner}</VersioningConfiguration>`,
    })
  const state = async () => (await s3.call({ path })).xml?.textOf('Status') ?? null
  t.equal(await state(), null, 'never switched on')
  for (const status of ['Enabled', 'Suspended', 'Enabled']) {
    t.match(await put(`<MfaDelete>Disabled</MfaDelete><Status>${status}</Status>`), { status: 200 })
    t.equal(await state(), status)
  }
  for (const [inner, code] of [
    ['', 'IllegalVersioningConfigurationException'],
    ['<Status>On</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><Status>Enabled</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>', 'NotImplemented'],
    ['<Status>Enabled</Status><Expiry/>', 'NotImplemented'],
  ] as const)
    t.equal((await put(inner)).s3Code, code, inner)
  t.equal((await s3.call({ method: 'PUT', path })).s3Code, 'MalformedXML', 'without a body')
  const locked = { 'x-amz-bucket-object-lock-enabled': 'True' }
  await s3.call({ method: 'PUT', path: '/locked', headers: locked })
  const body = '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>'
  t.match(await s3.call({ method: 'PUT', path: '/locked?versioning', body }), {
    status: 409,
    s3Code: 'InvalidBucketState',
  })
})

t.test('configurations that nothing here has are not there, or empty', async (t) => {
  const s3 = await S3World.start(t)
  const website = { status: 404, s3Code: 'NoSuchWebsiteConfiguration' }
  t.match(await s3.call({ path: '/photos?website' }), website)
  for (const mark of ['logging', 'accelerate'])
    t.match(await s3.call({ path: `/photos?${mark}` }), { status: 200, xml: { children: [] } }, mark)
  const payer = await s3.call({ path: '/photos?requestPayment' })
  t.equal(payer.xml?.textOf('Payer'), 'BucketOwner')
  t.equal((await s3.call({ path: '/absent?website' })).s3Code, 'NoSuchBucket')
})

t.test('every action of the table is refused by its name, and never done as another one', async (t) => {
  const s3 = await S3World.start(t)
  await s3.call({ method: 'PUT', path: '/photos/k', body: 'hello' })
  t.ok(refusedActions.length >= 30)
  for (const { action, method, level, marks } of refusedActions) {
    const path = `${level === 'bucket' ? '/photos' : '/photos/k'}?${marks.map((mark) => `${mark}=1`).join('&')}`
    const answer = await s3.call({ method, path, ...(method === 'GET' ? {} : { body: '<X/>' }) })
    t.match(answer, { status: 501, s3Code: 'NotImplemented' }, action)
    t.match(answer.xml?.textOf('Message'), new RegExp(`^${action} `), `${action} names itself`)
  }
  t.equal((await s3.call({ path: '/photos/k' })).bytes.toString(), 'hello', 'nothing happened')
})

t.test('DeleteBucket ends the unfinished uploads of a bucket that holds nothing else', async (t) => {
  const s3 = await S3World.start(t)
  const calls = new MultipartCalls(s3, 'u')
  const uploadId = await calls.begin()
  await calls.part(uploadId, 1, 'a part')
  await calls.begin()
  await s3.call({ method: 'PUT', path: '/photos/k', body: 'x' })
  const remove = () => s3.call({ method: 'DELETE', path: '/photos' })
  t.match(await remove(), { status: 409, s3Code: 'BucketNotEmpty' })
  t.equal(
    (await s3.call({ path: `/photos/u?uploadId=${uploadId}` })).status,
    200,
    'a bucket that stays keeps them',
  )
  await s3.call({ method: 'DELETE', path: '/photos/k' })
  const native = { method: 'DELETE', path: '/api/v1/buckets/photos', token: s3.token }
  t.match(await s3.world.call(native), { status: 409, json: { code: 'bucket_not_empty' } })
  t.match(await remove(), { status: 204 })
  t.match(await remove(), { status: 404, s3Code: 'NoSuchBucket' })
})
