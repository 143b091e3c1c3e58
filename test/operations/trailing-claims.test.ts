/**
 * Claims behind a body that turn out wrong, or that do not come: the body was read to its end, and nothing of it is stored.
 */
import t from 'tap'
import { Refusal } from '../../src/base/refusal.ts'
import { parseClaims, type TrailingClaims } from '../../src/content/checksums.ts'
import { listParts } from '../../src/operations/multipart/list-parts.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { S3UploadWorld } from './s3-upload-world.ts'

const FAULT = new Refusal('invalid_request', 'The signature of the trailer does not match')
const throwing: TrailingClaims = {
  algorithms: ['CRC32'],
  read: () => {
    throw FAULT
  },
}
const wrong: TrailingClaims = { algorithms: ['CRC32'], read: () => parseClaims([['CRC32', 'AAAAAA==']]) }

t.test('a put or a part whose trailing claims fail stores nothing', async (t) => {
  const world = await S3UploadWorld.start(t)
  const { services, principal } = world
  await world.put('kept', Buffer.from('before'))
  const upload = await world.create('film')
  const before = { ...usageOf(services.state, 'acme') }
  const { proposals } = world.films.world.memory
  for (const size of [5, 100_000, 5_000_000])
    for (const [trailing, expected] of [
      [throwing, FAULT],
      [wrong, { code: 'checksum_mismatch' }],
    ] as const) {
      const bytes = patternBytes(size, size)
      for (const key of ['new', 'kept']) await t.rejects(world.put(key, bytes, { trailing }), expected)
      await t.rejects(world.part(upload, 1, bytes, { trailing }), expected)
    }
  t.strictSame({ ...usageOf(services.state, 'acme') }, before)
  t.equal((await world.films.get('new')).status, 404)
  t.equal((await world.films.get('kept')).bytes.toString(), 'before')
  const name = { bucket: 'films', key: 'film', uploadId: upload.uploadId }
  const page = await listParts(services, principal, {
    ...name,
    maxParts: undefined,
    partNumberMarker: undefined,
  })
  t.strictSame(page.parts, [])
  t.ok(world.films.world.memory.proposals - proposals <= 1, 'no more than a session of uploads was proposed')
})
