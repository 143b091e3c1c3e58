/**
 * Browser forms over HTTP: what a signed policy allows is stored like a PUT, and of all else nothing is.
 */
import { createHmac } from 'node:crypto'
import t from 'tap'
import { BOUNDARY, formOf, type SampleFile } from './form/sample-form.ts'
import { amzDate, signingKeyOf } from './s3-signer.ts'
import { type S3Answer, S3World } from './s3-world.ts'

interface Post {
  readonly bucket?: string
  /** Beside those of the signature; each is covered by a condition, unless `conditions` are given. */
  readonly fields?: Readonly<Record<string, string>>
  readonly conditions?: readonly unknown[]
  readonly expiration?: string
  readonly signedAt?: Date
  readonly file?: SampleFile
  readonly late?: readonly (readonly [string, string])[]
  readonly headers?: Readonly<Record<string, string>>
  readonly secret?: { readonly accessKeyId: string; readonly secretKey: string }
  /** Of the fields of the signature. */
  readonly changed?: Readonly<Record<string, string | undefined>>
}

const HELLO: SampleFile = { fileName: 'hello.txt', bytes: 'hello' }

/** As an SDK makes it, from the reference. */
function signedFields(s3: S3World, post: Post): Record<string, string> {
  const { bucket = 'photos', fields = { key: 'a.txt' }, secret = s3.secret, signedAt = s3.now } = post
  const expiration = post.expiration ?? new Date(s3.now.getTime() + 600_000).toISOString()
  const date = amzDate(signedAt)
  const day = date.slice(0, 8)
  const proof = {
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${secret.accessKeyId}/${day}/us-east-1/s3/aws4_request`,
    'x-amz-date': date,
  }
  const covered = Object.entries({ bucket, ...fields }).map(([name, value]) => ({ [name]: value }))
  const conditions = [
    ...(post.conditions ?? covered),
    ...Object.entries(proof).map(([name, value]) => ({ [name]: value })),
  ]
  const policy = Buffer.from(JSON.stringify({ expiration, conditions })).toString('base64')
  const key = signingKeyOf(secret.secretKey, day, 'us-east-1')
  const signature = createHmac('sha256', key).update(policy).digest('hex')
  return { ...fields, ...proof, policy, 'x-amz-signature': signature }
}

function posted(s3: S3World, post: Post = {}): Promise<S3Answer> {
  const { bucket = 'photos', changed = {}, file = HELLO, late = [], headers = {} } = post
  const fields = Object.entries({ ...signedFields(s3, post), ...changed }).filter(
    ([, value]) => value !== undefined,
  )
  const body = formOf(fields as [string, string][], file, late)
  const type = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  return s3.sent({ method: 'POST', path: `/${bucket}`, headers: { ...type, ...headers }, body })
}

const native = (s3: S3World, path: string) =>
  s3.world.call({ path: `/api/v1/buckets/photos${path}`, token: s3.token })

t.test('PostObject', async (t) => {
  const s3 = await S3World.start(t, { s3Domains: ['s3.example'] })

  t.test('stores the file, and answers as the form wants', async (t) => {
    const plain = await posted(s3)
    t.equal(plain.status, 204)
    t.equal(plain.bytes.length, 0)
    t.match(plain.headers, { etag: /^"[0-9a-f-]+"$/, location: /\/photos\/a\.txt$/ })
    t.equal((await native(s3, '/objects/a.txt')).bytes.toString(), 'hello')
    for (const [wanted, status] of [
      ['200', 200],
      ['201', 201],
      ['204', 204],
      ['404', 204],
      ['', 204],
    ] as const) {
      const answer = await posted(s3, { fields: { key: 'a b&c.txt', success_action_status: wanted } })
      t.equal(answer.status, status, wanted)
      if (status !== 201) continue
      t.equal(answer.xml?.name, 'PostResponse')
      t.equal(answer.xml?.textOf('Key'), 'a b&c.txt')
      t.equal(answer.xml?.textOf('Bucket'), 'photos')
      t.equal(answer.xml?.textOf('ETag'), answer.headers.etag)
      t.match(answer.xml?.textOf('Location'), /\/photos\/a%20b%26c\.txt$/)
    }
  })

  t.test('leads the browser to where the form says', async (t) => {
    const redirect = (field: string, url: string) => posted(s3, { fields: { key: 'a b', [field]: url } })
    const answer = await redirect('success_action_redirect', 'https://example.com/done?a=b')
    t.equal(answer.status, 303)
    const etag = encodeURIComponent(String(answer.headers.etag))
    t.equal(answer.headers.location, `https://example.com/done?a=b&bucket=photos&key=a+b&etag=${etag}`)
    t.equal((await redirect('redirect', 'http://example.com/')).status, 303)
    for (const url of ['javascript:alert(1)', 'no address', ''])
      t.equal((await redirect('success_action_redirect', url)).status, 204, url)
    const uncovered = await posted(s3, {
      fields: { key: 'a', success_action_redirect: 'https://evil.example' },
      conditions: [{ bucket: 'photos' }, { key: 'a' }],
    })
    t.equal(uncovered.s3Code, 'AccessDenied')
  })

  t.test('keeps what the fields say of the object', async (t) => {
    const tagging = '<Tagging><TagSet><Tag><Key>kind</Key><Value>photo</Value></Tag></TagSet></Tagging>'
    const fields = {
      key: 'user/${filename}',
      acl: 'private',
      tagging,
      'Content-Type': 'image/png',
      'Cache-Control': 'no-store',
      'x-amz-meta-name': 'é',
      'x-amz-checksum-sha256': 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
    }
    const conditions = [
      { bucket: 'photos' },
      ['starts-with', '$key', 'user/'],
      { acl: 'private' },
      ['starts-with', '$tagging', ''],
      ['starts-with', '$Content-Type', 'image/'],
      ['starts-with', '$Cache-Control', ''],
      ['starts-with', '$x-amz-meta-name', ''],
    ]
    const answer = await posted(s3, {
      fields,
      conditions,
      file: { fileName: '/tmp/x/p.png', bytes: 'hello' },
    })
    t.equal(answer.status, 204)
    const head = await s3.call({ method: 'HEAD', path: '/photos/user/p.png' })
    t.match(head.headers, {
      'content-type': 'image/png',
      'cache-control': 'no-store',
      'x-amz-tagging-count': '1',
      'x-amz-meta-name': Buffer.from('é').toString('latin1'),
    })
    const wrong = await posted(s3, {
      fields: { ...fields, 'x-amz-checksum-sha256': `${'A'.repeat(43)}=` },
      conditions,
    })
    t.equal(wrong.s3Code, 'BadDigest')
  })

  t.test('holds the file to the size that the policy allows', async (t) => {
    const sized = (min: number, max: number, bytes: string, key: string) =>
      posted(s3, {
        fields: { key },
        conditions: [{ bucket: 'photos' }, { key }, ['content-length-range', min, max]],
        file: { bytes },
      })
    t.equal((await sized(5, 5, 'hello', 'size-5')).status, 204)
    t.equal((await sized(6, 9, 'hello', 'size-6')).s3Code, 'EntityTooSmall')
    t.equal((await sized(0, 4, 'hello', 'size-4')).s3Code, 'EntityTooLarge')
    t.equal((await sized(0, 1000, 'x'.repeat(200_000), 'size-1000')).s3Code, 'EntityTooLarge')
    t.equal((await sized(0, 2 ** 23, 'x'.repeat(5 * 2 ** 20), 'large')).status, 204)
    for (const key of ['size-6', 'size-4', 'size-1000'])
      t.equal((await native(s3, `/objects/${key}`)).status, 404, key)
    t.equal((await native(s3, '/objects/large')).bytes.length, 5 * 2 ** 20)
  })

  t.test('refuses what is not signed, not signed so, or not by a key that may', async (t) => {
    const { memory } = s3.world
    for (const tenant of ['rival', 'gone']) await memory.tenant(tenant)
    const other = await memory.accessKey('acme', 'read')
    const elsewhere = await memory.accessKey('acme', 'op=write:bucket=photos:prefix=2026/')
    const rival = await memory.accessKey('rival', 'write')
    const gone = await memory.accessKey('gone', 'write')
    await memory.change({ type: 'disableTenant', tenantId: 'gone', reason: 'test' })
    const foreign = { accessKeyId: 'HFNOSUCHKEY000000000', secretKey: 'a'.repeat(40) }
    const none = { policy: undefined, 'x-amz-signature': undefined }
    const cases: readonly (readonly [string, Post, string, number])[] = [
      ['no signature', { changed: none }, 'AccessDenied', 403],
      ['half a signature', { changed: { 'x-amz-date': undefined } }, 'InvalidArgument', 400],
      ['a wrong signature', { changed: { 'x-amz-signature': 'a'.repeat(64) } }, 'SignatureDoesNotMatch', 403],
      ['another policy', { changed: { policy: 'e30=' } }, 'SignatureDoesNotMatch', 403],
      ['another key', { secret: { ...s3.secret, secretKey: other.secretKey } }, 'SignatureDoesNotMatch', 403],
      ['an unknown key', { secret: foreign }, 'InvalidAccessKeyId', 403],
      ['a key that may only read', { secret: other }, 'AccessDenied', 403],
      ['a key for another prefix', { secret: elsewhere }, 'AccessDenied', 403],
      ['a key of another tenant', { secret: rival }, 'NoSuchBucket', 404],
      ['a key of a tenant that is disabled', { secret: gone }, 'AccessDenied', 403],
      ['version 2', { changed: { AWSAccessKeyId: 'a', signature: 'b' } }, 'InvalidRequest', 400],
      ['a session token', { changed: { 'x-amz-security-token': 'a' } }, 'InvalidToken', 400],
      ['an end that has passed', { expiration: '2020-01-01T00:00:00Z' }, 'AccessDenied', 403],
      ['an end too far', { expiration: '2100-01-01T00:00:00Z' }, 'AccessDenied', 403],
      ['a date to come', { signedAt: new Date(s3.now.getTime() + 3_600_000) }, 'AccessDenied', 403],
      ['a policy that is none', { expiration: 'tomorrow' }, 'InvalidPolicyDocument', 400],
      ['a field beyond the policy', { changed: { 'x-amz-meta-a': 'b' } }, 'AccessDenied', 403],
      ['another key of an object', { changed: { key: 'other' } }, 'AccessDenied', 403],
      ['another bucket in a field', { changed: { bucket: 'other' } }, 'AccessDenied', 403],
      ['no bucket in the policy', { conditions: [['starts-with', '$key', '']] }, 'AccessDenied', 403],
      ['no key', { changed: { key: undefined } }, 'InvalidArgument', 400],
      ['an empty key', { fields: { key: '' } }, 'UserKeyMustBeSpecified', 400],
      ['a bucket that does not exist', { bucket: 'missing' }, 'NoSuchBucket', 404],
      ['a public ACL', { fields: { key: 'a.txt', acl: 'public-read' } }, 'NotImplemented', 501],
      [
        'a field of S3 that is not there',
        { fields: { key: 'a.txt', 'x-amz-website-redirect-location': '/b' } },
        'NotImplemented',
        501,
      ],
      [
        'a digest in a header',
        { headers: { 'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==' } },
        'InvalidRequest',
        400,
      ],
      ['a condition in a header', { headers: { 'if-none-match': '*' } }, 'NotImplemented', 501],
      ['a field behind the file', { late: [['acl', 'private']] }, 'InvalidArgument', 400],
      ['tags that are no document', { fields: { key: 'a.txt', tagging: 'a=b' } }, 'MalformedXML', 400],
    ]
    const before = (await native(s3, '/objects')).json
    for (const [what, post, code, status] of cases) {
      const answer = await posted(s3, post)
      t.equal(answer.s3Code, code, what)
      t.equal(answer.status, status, what)
      t.notMatch(answer.bytes.toString(), s3.secret.secretKey, what)
    }
    t.same((await native(s3, '/objects')).json, before, 'nothing was stored')
  })

  t.test('stores nothing of a form that breaks off', async (t) => {
    const body = formOf(Object.entries(signedFields(s3, { fields: { key: 'broken' } })), HELLO)
    for (const cut of [4, 30, 40]) {
      const answer = await s3.sent({
        method: 'POST',
        path: '/photos',
        headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        body: body.subarray(0, -cut),
      })
      t.equal(answer.s3Code, 'MalformedPOSTRequest')
    }
    t.equal((await native(s3, '/objects/broken')).status, 404)
  })

  t.test('reads forms that a client of the web makes', async (t) => {
    const fields = { key: 'web/${filename}', 'Content-Type': 'text/plain', 'x-amz-meta-name': 'é "x"' }
    const conditions = [
      { bucket: 'photos' },
      ['starts-with', '$key', 'web/'],
      ['starts-with', '$Content-Type', ''],
      ['starts-with', '$x-amz-meta-name', ''],
    ]
    const form = new FormData()
    for (const [name, text] of Object.entries(signedFields(s3, { fields, conditions })))
      form.append(name, text)
    const bytes = Buffer.alloc(300_000, '\r\n--')
    form.append('file', new File([bytes], 'ü (1).txt', { type: 'text/html' }))
    const answer = await fetch(`http://${s3.host}/photos`, { method: 'POST', body: form })
    t.equal(answer.status, 204)
    const stored = await s3.call({ path: '/photos/web/%C3%BC%20(1).txt' })
    t.match(stored, { status: 200, headers: { 'content-type': 'text/plain' } })
    t.ok(stored.bytes.equals(bytes))
  })

  t.test('ends with its key', async (t) => {
    const key = await s3.world.memory.accessKey('acme', 'write')
    t.equal((await posted(s3, { secret: key })).status, 204)
    await s3.world.memory.change({
      type: 'revokeAccessKey',
      tenantId: 'acme',
      accessKeyId: key.accessKeyId,
      reason: 'test',
    })
    t.equal((await posted(s3, { secret: key })).status, 403)
  })

  t.test('is sent to a bucket in the host too, and shows its answer to pages that may read it', async (t) => {
    const cors =
      '<CORSConfiguration><CORSRule><AllowedMethod>POST</AllowedMethod><AllowedOrigin>https://a.example</AllowedOrigin></CORSRule></CORSConfiguration>'
    t.equal((await s3.call({ method: 'PUT', path: '/photos?cors', body: cors })).status, 200)
    const answer = await s3.sent({
      method: 'POST',
      path: '/',
      headers: {
        host: 'photos.s3.example',
        origin: 'https://a.example',
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
      body: formOf(Object.entries(signedFields(s3, { fields: { key: 'in host' } })), HELLO),
    })
    t.match(answer, {
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://a.example',
        location: 'http://photos.s3.example/in%20host',
      },
    })
    const foreign = await posted(s3, { headers: { origin: 'https://b.example' } })
    t.equal(foreign.status, 204, 'a form needs no leave to be sent')
    t.notOk('access-control-allow-origin' in foreign.headers)
  })

  t.test('is known to the audit log as what it is', async (t) => {
    await posted(s3, { changed: { key: 'other' } })
    t.match(s3.world.memory.auditRows.at(-1), {
      api: 's3',
      operation: 'putObject',
      actor: { type: 'accessKey', id: s3.secret.accessKeyId },
      bucket: 'photos',
      key: 'other',
      code: 'access_denied',
    })
  })

  t.test('takes no other body than a form', async (t) => {
    const signed = await s3.call({ method: 'POST', path: '/photos', body: 'hello' })
    t.equal(signed.s3Code, 'PreconditionFailed')
    const plain = await s3.sent({ method: 'POST', path: '/photos', body: 'hello' })
    t.equal(plain.s3Code, 'AccessDenied')
    const object = await s3.sent({
      method: 'POST',
      path: '/photos/a.txt',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: formOf(Object.entries(signedFields(s3, {})), HELLO),
    })
    t.equal(object.s3Code, 'AccessDenied', 'a form goes to a bucket')
  })
})
