/**
 * Headers that SDKs presign as parameters of the query: they mean there what they mean as headers, and what is not carried out is refused.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { S3World } from './s3-world.ts'

const CRC_OF_SENT = 'usQqqQ=='

t.test('x-amz- parameters of a presigned URL are headers', async (t) => {
  const s3 = await S3World.start(t)
  const put = (query: string, headers: Record<string, string> = {}) => {
    const path = s3.presigned({ method: 'PUT', path: `/photos/a?${query}`, headers })
    return s3.sent({ method: 'PUT', path, headers, body: 'sent' })
  }

  await t.test('metadata, tags and digests are those of the object', async (t) => {
    const query = `x-amz-meta-by=m%C3%A9&X-Amz-Tagging=a%3Db&x-amz-checksum-crc32=${encodeURIComponent(CRC_OF_SENT)}`
    const stored = await put(`${query}&x-amz-sdk-checksum-algorithm=CRC32`)
    t.match(
      stored,
      { status: 200, headers: { 'x-amz-checksum-crc32': CRC_OF_SENT } },
      stored.bytes.toString(),
    )
    const got = await s3.sent({ path: s3.presigned({ path: '/photos/a?x-amz-checksum-mode=ENABLED' }) })
    t.match(got, {
      status: 200,
      headers: {
        'x-amz-checksum-crc32': CRC_OF_SENT,
        'x-amz-meta-by': Buffer.from('mé').toString('latin1'),
        'x-amz-tagging-count': '1',
      },
    })
    t.equal((await s3.call({ method: 'DELETE', path: '/photos/a' })).status, 204)
  })

  await t.test('what is wrong or not carried out stores nothing', async (t) => {
    const kms = 'x-amz-server-side-encryption=aws%3Akms'
    const refused: readonly (readonly [string, number, string])[] = [
      ['x-amz-acl=public-read', 501, 'NotImplemented'],
      ['X-Amz-Acl=public-read', 501, 'NotImplemented'],
      [kms, 501, 'NotImplemented'],
      ['x-amz-grant-read=id%3D1', 501, 'NotImplemented'],
      ['x-amz-nonsense=1', 501, 'NotImplemented'],
      ['x-amz-signature=1', 501, 'NotImplemented'],
      ['x-amz-storage-class=GLACIER', 400, 'InvalidStorageClass'],
      ['x-amz-checksum-crc32=AAAAAQ%3D%3D', 400, 'BadDigest'],
      ['x-amz-meta-a=x%0D%0AX-Injected%3A1', 400, 'InvalidArgument'],
      ['x-amz-meta-a=%00', 400, 'InvalidArgument'],
      ['x-amz-meta-a=1&x-amz-meta-a=2', 400, 'InvalidArgument'],
      ['x-amz-expected-bucket-owner=other', 403, 'AccessDenied'],
      ['X-Amz-Security-Token=x', 400, 'InvalidToken'],
      ['X-Amz-Security%2DToken=x', 400, 'InvalidToken'],
    ]
    for (const [query, status, code] of refused) t.match(await put(query), { status, s3Code: code }, query)
    const twice = await put('x-amz-meta-a=1', { 'x-amz-meta-a': '2' })
    t.match(twice, { status: 400, s3Code: 'InvalidArgument' }, 'a header of another value')
    t.equal((await s3.call({ path: '/photos/a' })).status, 404)
  })

  await t.test(
    'the digest of no bytes, which an SDK signs before there is a body, is not compared',
    async (t) => {
      const digests = {
        crc32: 'AAAAAA==',
        crc32c: 'AAAAAA==',
        crc64nvme: 'AAAAAAAAAAA=',
        sha1: createHash('sha1').digest('base64'),
        sha256: createHash('sha256').digest('base64'),
      }
      for (const [name, digest] of Object.entries(digests)) {
        const query = `x-amz-checksum-${name}=${encodeURIComponent(digest)}&x-amz-sdk-checksum-algorithm=CRC32`
        t.match(await put(query), { status: 200 }, name)
      }
      t.match(await s3.call({ path: '/photos/a' }), { status: 200, bytes: Buffer.from('sent') })
      await s3.call({ method: 'DELETE', path: '/photos/a' })
    },
  )

  await t.test('they change a request that is signed in its header as well', async (t) => {
    const ask = { method: 'PUT', path: '/photos/a?x-amz-acl=public-read', body: 'x' }
    t.match(await s3.call(ask), { status: 501, s3Code: 'NotImplemented' })
  })
})
