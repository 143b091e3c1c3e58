/**
 * The building blocks of an import: addresses, signatures, the rate, the record, the decision.
 */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { BytesRate } from '../../../src/cli/import/bytes-rate.ts'
import { ETAG_NAME, MODIFIED_NAME, stepFor, withRecord } from '../../../src/cli/import/import-record.ts'
import { sourceEndpoint, sourcePath } from '../../../src/cli/import/source-address.ts'
import { placeOf } from '../../../src/s3-client/place.ts'
import { signedHeaders } from '../../../src/s3-client/signed-headers.ts'
import { SourceDigests } from '../../../src/cli/import/source-checksums.ts'
import { payloadHash, signedHeaders as signedByOther } from '../../api/s3/s3-signer.ts'

t.test('an address', async (t) => {
  t.same(sourcePath('s3://photos'), { bucket: 'photos', prefix: '' })
  t.same(sourcePath('s3://photos/'), { bucket: 'photos', prefix: '' })
  t.same(sourcePath('s3://photos/2026'), { bucket: 'photos', prefix: '2026/' }, 'a prefix is a folder')
  t.same(sourcePath('s3://photos/a//b/'), { bucket: 'photos', prefix: 'a//b/' })
  for (const text of ['ftp://a', 'a.example.net', 'https://a/?x=1', 'https://user@a', 'https://a/#b'])
    t.throws(() => sourceEndpoint(text), { code: 'invalid_argument', exitCode: 2 }, text)
  const endpoint = sourceEndpoint('https://s3.example.net:9000')
  const target = { bucket: 'photos', key: "a b/ü+'", query: { 'list-type': '2', prefix: 'a/&=' } }
  t.same(placeOf(endpoint, false, target), {
    origin: 'https://s3.example.net:9000',
    host: 's3.example.net:9000',
    path: '/photos/a%20b/%C3%BC%2B%27',
    query: 'list-type=2&prefix=a%2F%26%3D',
  })
  t.match(
    placeOf(endpoint, true, target),
    {
      origin: 'https://photos.s3.example.net:9000',
      host: 'photos.s3.example.net:9000',
      path: '/a%20b/%C3%BC%2B%27',
    },
    'the bucket is in the name of the host',
  )
  t.match(placeOf(endpoint, true, {}), { host: 's3.example.net:9000', path: '/' }, 'where there is one')
  t.equal(placeOf(sourceEndpoint('https://a/s3/'), false, target).path, '/s3/photos/a%20b/%C3%BC%2B%27')
})

t.test('a request is signed as another signer signs it', async (t) => {
  const property = fc.property(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.dictionary(fc.constantFrom('prefix', 'list-type', 'tagging', 'Z'), fc.string({ maxLength: 12 }), {
      maxKeys: 4,
    }),
    (key, query) => {
      const place = placeOf(new URL('http://127.0.0.1:9000'), false, { bucket: 'photos', key, query })
      const at = Date.parse('2026-11-26T12:00:00Z')
      const headers = { 'accept-encoding': 'identity', range: 'bytes=0-1' }
      const region = 'eu-central-1'
      const secret = { accessKeyId: 'AKID', secretKey: 'a secret' }
      const own = signedHeaders(
        { ...secret, sessionToken: null },
        { method: 'GET', place, headers, at, region },
      )
      const path = place.query === '' ? place.path : `${place.path}?${place.query}`
      const payload = payloadHash(Buffer.alloc(0))
      const ask = { method: 'GET', path, host: place.host, headers, payload, at: new Date(at), region }
      return own['authorization'] === signedByOther(secret, ask)['authorization']
    },
  )
  fc.assert(property, { numRuns: 300, seed: 7 })
  t.pass('300 requests, seed 7')
})

t.test('the rate', async (t) => {
  let now = 0
  const waits: number[] = []
  const clock = {
    now: () => now,
    wait: async (ms: number) => {
      waits.push(ms)
      now += ms
    },
  }
  const { signal } = new AbortController()
  const rate = new BytesRate(1000, clock)
  for (let n = 0; n < 10; n++) await rate.passed(500, signal)
  t.equal(now, 5000, '5,000 bytes take five seconds at 1,000 a second')
  now += 60_000
  waits.length = 0
  for (let n = 0; n < 3; n++) await rate.passed(1000, signal)
  t.equal(now, 67_000, 'a pause is caught up for one second at most')
  const free = new BytesRate(Infinity, clock)
  await free.passed(1e12, signal)
  t.equal(now, 67_000, 'without a limit nothing waits')
})

const etag = 'd41d8cd98f00b204e9800998ecf8427e'
const modifiedAt = Date.parse('2026-03-04T05:06:07.890Z')

t.test('the record', async (t) => {
  t.same(withRecord({ a: '1' }, { etag, modifiedAt }), {
    a: '1',
    [ETAG_NAME]: etag,
    [MODIFIED_NAME]: '2026-03-04T05:06:07.000Z',
  })
  const full = { a: 'ü'.repeat(1000) }
  t.same(withRecord(full, { etag, modifiedAt }), full, 'is left out where there is no room for it')
  t.equal(withRecord({}, { etag, modifiedAt: NaN })[MODIFIED_NAME], 'unknown')
})

t.test('what is there already', async (t) => {
  const source = { key: 'a', size: 3, etag, modifiedAt }
  const imported = withRecord({}, source)
  const target = { size: 3, etag: 'of-the-target-1', metadata: imported }
  t.equal(stepFor(source, null, false), 'copy')
  t.equal(stepFor(source, target, false), 'keep')
  t.equal(stepFor(source, target, true), 'keep', 'is never copied again for nothing')
  t.equal(
    stepFor({ ...source, modifiedAt: modifiedAt - 800 }, target, false),
    'keep',
    'times count in seconds',
  )
  t.equal(
    stepFor({ ...source, modifiedAt: modifiedAt + 1000 }, target, false),
    'replace',
    'touched at the source',
  )
  t.equal(stepFor({ ...source, etag: 'other' }, target, false), 'replace')
  t.equal(stepFor({ ...source, size: 4 }, target, false), 'replace')
  const foreign = { ...target, metadata: {} }
  t.equal(stepFor(source, foreign, false), 'conflict')
  t.equal(stepFor(source, foreign, true), 'replace')
  t.equal(stepFor(source, { ...foreign, etag }, false), 'keep', 'copied by another tool, with the same MD5')
  t.equal(stepFor(source, { ...foreign, etag, size: 4 }, false), 'conflict')
  const parts = { ...source, etag: `${etag}-2` }
  t.equal(
    stepFor(parts, { ...foreign, etag: parts.etag }, false),
    'conflict',
    'an etag of parts says too little',
  )
})

t.test('saved digests continue as if nothing had been between', async (t) => {
  const claimOf = (algorithm: string): string => createHash(algorithm).update('123456789').digest('base64')
  const claims = { MD5: claimOf('md5'), CRC32C: '4waSgw==', SHA1: claimOf('sha1') }
  const first = await SourceDigests.of(claims)
  first.update(Buffer.from('1234'))
  const second = await SourceDigests.of(claims, JSON.parse(JSON.stringify(first.saved())))
  second.update(Buffer.from('56789'))
  const { crc64nvme, mismatch, verified } = second.end()
  t.same(
    { crc64nvme, verified },
    {
      crc64nvme: Buffer.from('ae8b14860a799888', 'hex').toString('base64'),
      verified: ['CRC32C', 'SHA1', 'MD5'],
    },
  )
  t.equal(mismatch, null)
  await t.rejects(SourceDigests.of(claims, {}), 'a state that is not there is no state')
})
