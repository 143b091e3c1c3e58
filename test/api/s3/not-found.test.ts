/**
 * What is not there is named in S3's words, whether it was missing before the request or went before its commit.
 */
import t from 'tap'
import { settle } from '../../../src/commands/settle.ts'
import { S3World } from './s3-world.ts'

t.test('not found, in the words of S3', async (t) => {
  const s3 = await S3World.start(t)
  const asked = async (path: string, method = 'GET') => {
    const answer = await s3.call({ method, path })
    const element = (name: string): string | null => answer.xml?.textOf(name) ?? null
    return { ...answer, element }
  }

  t.test('names the bucket, the key, the version', async (t) => {
    const bucket = await asked('/nosuch/a.txt')
    t.match(bucket, { status: 404, s3Code: 'NoSuchBucket' })
    t.equal(bucket.element('BucketName'), 'nosuch')
    const key = await asked('/photos/no%20such')
    t.match(key, { status: 404, s3Code: 'NoSuchKey' })
    t.equal(key.element('Key'), 'no such')
    t.equal(key.element('Resource'), '/photos/no%20such')
    t.equal(key.element('RequestId'), key.headers['x-amz-request-id'])
    t.equal(key.element('HostId'), key.headers['x-amz-id-2'])
    const version = await asked(`/photos/a.txt?versionId=${'0'.repeat(26)}`)
    t.match(version, { status: 404, s3Code: 'NoSuchVersion' })
    t.equal(version.element('VersionId'), '0'.repeat(26))
  })

  t.test('says that a deletion marker is in the way', async (t) => {
    const { token } = s3
    const versioning = {
      method: 'PUT',
      path: '/api/v1/buckets/photos/versioning',
      body: { status: 'Enabled' },
    }
    t.equal((await s3.world.call({ ...versioning, token })).status, 200)
    t.equal((await s3.call({ method: 'PUT', path: '/photos/gone', body: 'a' })).status, 200)
    const { headers } = await s3.call({ method: 'DELETE', path: '/photos/gone' })
    const versionId = String(headers['x-amz-version-id'])
    const gone = await asked('/photos/gone')
    t.match(gone, { status: 404, s3Code: 'NoSuchKey', headers: { 'x-amz-delete-marker': 'true' } })
    const marker = await asked(`/photos/gone?versionId=${versionId}`)
    t.match(marker, {
      status: 405,
      s3Code: 'MethodNotAllowed',
      headers: { 'x-amz-delete-marker': 'true', 'x-amz-version-id': versionId, allow: 'DELETE' },
    })
    t.notOk(Object.keys(marker.headers).some((name) => name.startsWith('x-service-delete')))
  })

  t.test('has no body in the answer to HEAD', async (t) => {
    const head = await asked('/photos/nosuch', 'HEAD')
    t.equal(head.status, 404)
    t.equal(head.bytes.length, 0)
  })

  t.test('is said by commands too', async (t) => {
    const { services } = s3.world.memory
    const name = { tenantId: 'acme', bucket: 'nosuch', key: 'a', versionId: null } as const
    const tagged = async (bucket: string) =>
      settle(await services.propose({ type: 'setObjectTags', ...name, bucket, tags: {} }))
    await t.rejects(tagged('nosuch'), { code: 'not_found', extras: { missing: 'bucket' } })
    await t.rejects(tagged('photos'), { code: 'not_found', extras: { missing: 'key' } })
  })
})
