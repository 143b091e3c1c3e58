/**
 * Objects through the S3 API, beside the native API: the same objects.
 *
 * Actions: ListBuckets, PutObject
 */
import t from 'tap'
import { S3World } from './s3-world.ts'

t.test('objects through the S3 API', async (t) => {
  const s3 = await S3World.start(t)

  t.test('an object that is put is read back, by both APIs', async (t) => {
    const put = await s3.call({
      method: 'PUT',
      path: '/photos/a/cat.txt',
      headers: { 'content-type': 'text/plain', 'x-amz-meta-by': 'me' },
      body: 'hello',
    })
    const etag = '"5d41402abc4b2a76b9719d911017c592"'
    t.match(put, { status: 200, headers: { etag }, bytes: Buffer.alloc(0) }, 'the MD5 of hello')
    const got = await s3.call({ path: '/photos/a/cat.txt' })
    t.match(got, {
      status: 200,
      headers: { 'content-type': 'text/plain', 'x-amz-meta-by': 'me', etag: put.headers.etag },
    })
    t.equal(got.bytes.toString(), 'hello')
    const native = await s3.world.call({ path: '/api/v1/buckets/photos/objects/a/cat.txt', token: s3.token })
    t.match(native, { status: 200, headers: { etag: put.headers.etag, 'x-service-meta-by': 'me' } })
    t.equal(native.bytes.toString(), 'hello')
  })

  t.test('buckets are listed', async (t) => {
    const { status, xml } = await s3.call({ path: '/' })
    t.equal(status, 200)
    t.equal(xml?.needed('Owner').textOf('ID'), 'acme')
    const names = xml
      ?.needed('Buckets')
      .childrenNamed('Bucket')
      .map((bucket) => bucket.textOf('Name'))
    t.same(names, ['photos'])
  })
})
