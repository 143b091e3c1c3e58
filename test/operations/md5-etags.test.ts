/**
 * Entity tags of what came through the S3 API, and of objects that were assembled of such parts.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { parseClaims } from '../../src/content/checksums.ts'
import { etagOfParts } from '../../src/content/etag.ts'
import { idOf, etagOf } from '../api/bucket-client.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { large, md5Of, S3UploadWorld, tagOfParts } from './s3-upload-world.ts'

t.test('putObject with etag md5', async (t) => {
  const world = await S3UploadWorld.start(t, { versioning: 'Enabled' })
  for (const size of [0, 5, 100_000, 5_000_000]) {
    const bytes = patternBytes(size)
    const { object } = await world.put('cat', bytes)
    t.equal(object.etag, md5Of(bytes).toString('hex'), `${size} bytes`)
    const got = await world.films.get('cat')
    t.equal(got.headers.etag, `"${object.etag}"`, 'the native API gives the tag that the object has')
    t.ok(got.bytes.equals(bytes))
  }
  t.match(etagOf(await world.films.put('cat')), /^[0-9a-f]{32}-1$/, 'and writes its own')
})

t.test('an idempotency key is the same through both APIs', async (t) => {
  const world = await S3UploadWorld.start(t, { versioning: 'Enabled' })
  const bytes = Buffer.from('hello')
  const headers = {
    'content-type': 'a/b',
    'idempotency-key': 'once',
    'content-md5': md5Of(bytes).toString('base64'),
  }
  const first = await world.films.put('k', bytes, headers)
  const claimed = new Map([['MD5', md5Of(bytes)]] as const)
  const again = await world.put('k', bytes, { idempotencyKey: 'once', claimed })
  t.match(again, { replayed: true, object: { versionId: idOf(first), etag: etagOf(first) } })
  await t.rejects(
    world.put('k', Buffer.from('hellO'), {
      idempotencyKey: 'once',
      claimed: parseClaims([['SHA256', createHash('sha256').update('hellO').digest('base64')]]),
    }),
    { code: 'idempotency_conflict' },
  )
})

t.test(
  'an object of parts with MD5 etags has the etag of S3, and a repeat gets the same answer',
  async (t) => {
    const world = await S3UploadWorld.start(t, { versioning: 'Enabled' })
    const upload = await world.create('film')
    const bodies = [large(1), large(2), patternBytes(77, 3)]
    const parts = []
    for (const [n, bytes] of bodies.entries()) {
      const { etag } = await world.part(upload, 2 * n + 1, bytes)
      t.equal(etag, md5Of(bytes).toString('hex'))
      parts.push({ partNumber: 2 * n + 1, etag: `"${etag}"` })
    }
    const { object } = await world.complete(upload, parts)
    t.equal(object.etag, tagOfParts(bodies))
    const again = await world.complete(upload, parts)
    t.strictSame(again.object, object)
    t.ok((await world.films.get('film')).bytes.equals(Buffer.concat(bodies)))
  },
)

t.test('the native API completes an upload with parts of both APIs', async (t) => {
  const world = await S3UploadWorld.start(t, { versioning: 'Enabled' })
  const upload = await world.create('film')
  const first = await world.part(upload, 1, large(1))
  const second = await world.part(upload, 2, large(2), { etag: 'content' })
  const answer = await world.films.on(`multipart/${upload.uploadId}/complete`, 'film', {
    method: 'POST',
    body: { parts: [first, second].map(({ partNumber, etag }) => ({ partNumber, etag })) },
  })
  t.match(answer, { status: 200, json: { etag: etagOfParts([first.etag, second.etag]) } })
  t.not(etagOf(answer), tagOfParts([large(1), large(2)]))
})
