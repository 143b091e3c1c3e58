/**
 * Checksums of objects that are assembled: over all bytes or over those of the parts, as the upload was created for, and what a completion claims.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { BodyDigests, KEPT_ALGORITHMS, parseClaims } from '../../src/content/checksums.ts'
import { checkChecksumType, defaultChecksumType } from '../../src/operations/multipart/checksum-type.ts'
import type { ChecksumAlgorithm, PartRecord } from '../../src/state-machine/bodies/records.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { large, S3UploadWorld } from './s3-upload-world.ts'

const digestOf = (algorithm: ChecksumAlgorithm, bytes: Uint8Array): string => {
  const digests = new BodyDigests(new Map(), [algorithm])
  digests.update(bytes)
  return digests.verified()[algorithm] ?? ''
}
const raw = (base64: string): Buffer => Buffer.from(base64, 'base64')
const claimOf = (algorithm: ChecksumAlgorithm, base64: string) => parseClaims([[algorithm, base64]])
const named = (parts: readonly PartRecord[]) => parts.map(({ partNumber, etag }) => ({ partNumber, etag }))

const BODIES = [large(1), large(2), patternBytes(5, 3)]
const WHOLE = Buffer.concat(BODIES)

function compositeOf(algorithm: ChecksumAlgorithm): string {
  const digests = Buffer.concat(BODIES.map((body) => raw(digestOf(algorithm, body))))
  return digestOf(algorithm, digests)
}

async function uploaded(world: S3UploadWorld, more: Parameters<S3UploadWorld['create']>[1]) {
  const upload = await world.create('film', more)
  const parts: PartRecord[] = []
  for (const [n, bytes] of BODIES.entries()) parts.push(await world.part(upload, n + 1, bytes))
  return { upload, parts, named: named(parts) }
}

t.test('the types that S3 has, and which it takes by default', async (t) => {
  t.strictSame(KEPT_ALGORITHMS.map(defaultChecksumType), [
    'COMPOSITE',
    'COMPOSITE',
    'FULL_OBJECT',
    'COMPOSITE',
    'COMPOSITE',
  ])
  for (const algorithm of ['CRC32', 'CRC32C'] as const)
    for (const type of ['COMPOSITE', 'FULL_OBJECT'] as const) checkChecksumType(algorithm, type)
  const world = await S3UploadWorld.start(t)
  for (const [checksumAlg, checksumType] of [
    ['SHA1', 'FULL_OBJECT'],
    ['SHA256', 'FULL_OBJECT'],
    ['CRC64NVME', 'COMPOSITE'],
    [null, 'COMPOSITE'],
  ] as const)
    await t.rejects(world.create('k', { checksumAlg, checksumType }), { code: 'invalid_request' })
  t.match(await world.create('k', { checksumAlg: 'CRC32', checksumType: 'FULL_OBJECT' }), {
    checksumType: 'FULL_OBJECT',
  })
  t.notOk('checksumType' in (await world.create('k', { checksumAlg: 'CRC32' })))
})

t.test('an upload for composite checksums', async (t) => {
  const world = await S3UploadWorld.start(t)
  for (const checksumAlg of ['CRC32', 'SHA256'] as const) {
    const { upload, parts, named } = await uploaded(world, { checksumAlg, checksumType: 'COMPOSITE' })
    const digest = compositeOf(checksumAlg)
    const right = { claimed: claimOf(checksumAlg, digest) }
    const refused = (more: Parameters<S3UploadWorld['complete']>[2], expected: { readonly code: string }) =>
      t.rejects(world.complete(upload, named, more), expected)
    const full = { claimed: claimOf(checksumAlg, digestOf(checksumAlg, WHOLE)) }
    await refused({ ...full, checksumType: null }, { code: 'checksum_mismatch' })
    await refused({ ...full, checksumType: 'COMPOSITE' }, { code: 'checksum_mismatch' })
    await refused({ ...right, checksumType: 'FULL_OBJECT' }, { code: 'invalid_request' })
    await refused(
      { claimed: claimOf('CRC32C', 'AAAAAA=='), checksumType: null },
      { code: 'checksum_unsupported' },
    )
    await refused({ expectedSize: WHOLE.length - 1 }, { code: 'invalid_request' })
    const claims = { ...right, checksumType: 'COMPOSITE', expectedSize: WHOLE.length } as const
    const { object } = await world.complete(upload, named, claims)
    const composite = { algorithm: checksumAlg, checksum: `${digest}-3` }
    t.strictSame(object.composite, composite)
    t.equal(object.checksums.CRC64NVME, digestOf('CRC64NVME', WHOLE), 'and one over all bytes beside it')

    const again = await world.complete(upload, named, { ...right, checksumType: null })
    t.strictSame(again.object, object, 'a repeat is verified against what was answered')
    await refused({ ...full, checksumType: null }, { code: 'checksum_mismatch' })

    const head = await world.films.head('film')
    t.match(head.headers, {
      'x-service-checksum-type': 'FULL_OBJECT',
      'x-service-composite-checksum': `${checksumAlg}=${digest}-3`,
    })
    const copied = await world.films.copy('copy', { sourceKey: 'film' })
    t.match(copied, { status: 200, json: { checksumType: 'FULL_OBJECT', compositeChecksum: composite } })
    t.equal(parts.length, 3)
  }
  const single = await world.films.put('film', 'x')
  t.notOk('compositeChecksum' in single.json)
  t.equal(single.headers['x-service-composite-checksum'], undefined)
})

t.test('an upload for checksums over all bytes, or for none', async (t) => {
  const world = await S3UploadWorld.start(t)
  for (const more of [
    { checksumAlg: 'CRC32', checksumType: 'FULL_OBJECT' },
    { checksumAlg: 'CRC32' },
  ] as const) {
    const { upload, named } = await uploaded(world, more)
    const wrong = { claimed: claimOf('CRC32', compositeOf('CRC32')) }
    await t.rejects(world.complete(upload, named, { ...wrong, checksumType: null }), {
      code: 'checksum_mismatch',
    })
    await t.rejects(world.complete(upload, named, { ...wrong, checksumType: 'COMPOSITE' }), {
      code: 'invalid_request',
    })
    const claimed = claimOf('CRC32', digestOf('CRC32', WHOLE))
    const { object } = await world.complete(upload, named, { claimed, checksumType: 'FULL_OBJECT' })
    t.equal(object.checksums.CRC32, digestOf('CRC32', WHOLE))
    t.notOk('composite' in object)
  }
})

t.test('a completion may claim a checksum of each part [S3 CompletedPart]', async (t) => {
  const world = await S3UploadWorld.start(t)
  const { upload, named } = await uploaded(world, { checksumAlg: 'SHA256', checksumType: 'COMPOSITE' })
  const claiming = (algorithm: ChecksumAlgorithm, bodies: readonly Uint8Array[]) =>
    named.map((part, n) => ({
      ...part,
      claimed: claimOf(algorithm, digestOf(algorithm, bodies[n] ?? Buffer.alloc(0))),
    }))
  const swapped = [BODIES[0], BODIES[2], BODIES[1]].map((body) => body ?? Buffer.alloc(0))
  await t.rejects(world.complete(upload, claiming('SHA256', swapped)), {
    code: 'invalid_part',
    message: /Part 2 has the SHA256 checksum/,
  })
  await t.rejects(world.complete(upload, claiming('SHA1', BODIES)), {
    code: 'invalid_part',
    message: /Part 1 has no SHA1 checksum/,
  })
  const { object } = await world.complete(upload, claiming('SHA256', BODIES))
  const sha = createHash('sha256')
  for (const body of BODIES) sha.update(createHash('sha256').update(body).digest())
  t.equal(object.composite?.checksum, `${sha.digest('base64')}-3`)
})
