/**
 * copyObject with what only S3 can ask for: other tags, and locks of the copy.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { BodyGoneError } from '../../src/content/read-content.ts'
import { copyObject } from '../../src/operations/objects/copy-object.ts'
import { BucketClient, idOf } from '../api/bucket-client.ts'
import { denial, PolicyClient } from '../api/policy-client.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { principalOf, UNCONDITIONAL } from './copy-world.ts'

const FROM = { bucket: 'films', key: 'source', versionId: undefined }
const COPY = {
  bucket: 'films',
  key: 'copy',
  source: FROM,
  conditions: UNCONDITIONAL,
  reading: { inTurns: (pieces: AsyncIterable<Uint8Array>) => pieces, signal: new AbortController().signal },
  replacement: null,
  tags: null,
  retention: null,
  legalHold: false,
  precondition: { ifMatch: null, ifNoneMatch: null },
} as const
const DAY_MS = 86_400_000

t.test('copyObject gives the copy tags and locks of its own', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const { services, now } = films.world.memory
  const principal = await principalOf(films)
  const source = await films.put('source', 'x', { 'x-service-tagging': 'env=prod' })

  const copied = await copyObject(services, principal, COPY)
  t.match(
    copied,
    { object: { tags: { env: 'prod' }, retention: null, legalHold: false } },
    'by default the tags',
  )
  t.match(copied.source, { bucket: { name: 'films' }, object: { versionId: idOf(source) } })
  const retention = { mode: 'GOVERNANCE', until: now + DAY_MS } as const
  const own = { tags: { kind: 'copy' }, retention, legalHold: true }
  t.match(await copyObject(services, principal, { ...COPY, ...own }), { object: own })
  const { object } = await copyObject(services, principal, { ...COPY, tags: {} })
  t.same(object.tags, {}, 'none, where none are asked for')

  await t.test('onto itself when something of it changes', async (t) => {
    const itself = { ...COPY, key: 'source' }
    await t.rejects(copyObject(services, principal, itself), { code: 'invalid_request' })
    for (const change of [{ tags: {} }, { retention }, { legalHold: true }])
      t.match(await copyObject(services, principal, { ...itself, ...change, source: { ...FROM } }), {
        object: change,
      })
  })

  await t.test('refuses what a new version may not have', async (t) => {
    const tooLate = { mode: 'COMPLIANCE', until: now + 40_000 * DAY_MS } as const
    await t.rejects(copyObject(services, principal, { ...COPY, retention: tooLate }), {
      code: 'invalid_request',
    })
    const elsewhere = { ...COPY, bucket: 'photos', legalHold: true }
    await t.rejects(copyObject(services, principal, elsewhere), { code: 'object_lock_not_enabled' })
  })
})

t.test('copyObject authorizes what it reads and sets, each as its own operation', async (t) => {
  const policies = await PolicyClient.start(t, { objectLockEnabled: true })
  const { films } = policies
  const { services, now } = films.world.memory
  const principal = await principalOf(films)
  await films.put('source', 'x', { 'x-service-tagging': 'env=prod' })
  const retention = { mode: 'GOVERNANCE', until: now + DAY_MS } as const
  const table = [
    ['s3:GetObjectTagging', {}, { tags: {} }],
    ['s3:PutObjectTagging', { tags: { a: 'b' } }, { tags: {} }],
    ['s3:PutObjectRetention', { retention }, {}],
    ['s3:PutObjectLegalHold', { legalHold: true }, {}],
  ] as const
  for (const [Action, denied, allowed] of table) {
    await policies.set(denial({ Action, Resource: 'arn:aws:s3:::films/*' }))
    await t.rejects(
      copyObject(services, principal, { ...COPY, ...denied }),
      { code: 'access_denied' },
      Action,
    )
    t.ok(await copyObject(services, principal, { ...COPY, ...allowed }), Action)
  }
  const Condition = { NumericGreaterThan: { 's3:object-lock-remaining-retention-days': '0' } }
  await policies.set(denial({ Action: 's3:PutObject', Resource: 'arn:aws:s3:::films/*', Condition }))
  await t.rejects(
    copyObject(services, principal, { ...COPY, retention }),
    { code: 'access_denied' },
    'a retention that comes along is part of what is authorized',
  )
  t.ok(await copyObject(services, principal, COPY))
})

t.test('copyObject reads the source for a digest that it does not have', async (t) => {
  const films = await BucketClient.start(t)
  const { memory } = films.world
  const { services } = memory
  const principal = await principalOf(films)
  const bytes = patternBytes(5 * 1024 * 1024, 3)
  await films.put('source', bytes)
  const sha256 = createHash('sha256').update(bytes).digest('base64')
  let looks = 0
  const inTurns = (pieces: AsyncIterable<Uint8Array>) => {
    looks += 1
    return pieces
  }
  const wanted = { algorithm: 'SHA256', inTurns, signal: new AbortController().signal } as const
  const { object, source } = await copyObject(services, principal, { ...COPY, digest: wanted })
  t.same(object.checksums, { ...source.object.checksums, SHA256: sha256 })
  const kept = { ...wanted, algorithm: 'CRC64NVME' } as const
  const again = await copyObject(services, principal, { ...COPY, key: 'source', digest: kept })
  t.same(again.object.checksums, source.object.checksums, 'a copy onto itself, for its digest')
  t.equal(looks, 1, 'one that is kept is not made again')

  const gone = new Error('The client went away')
  const ended = { ...wanted, signal: AbortSignal.abort(gone) }
  await t.rejects(copyObject(services, principal, { ...COPY, digest: ended }), gone)
  let tries = 0
  const replacedOnce = async function* (pieces: AsyncIterable<Uint8Array>) {
    tries += 1
    if (tries === 1) {
      await films.put('source', 'new')
      throw new BodyGoneError('It was replaced')
    }
    yield* pieces
  }
  const raced = await copyObject(services, principal, {
    ...COPY,
    digest: { ...wanted, inTurns: replacedOnce },
  })
  t.match(raced, {
    object: { size: 3, checksums: { SHA256: createHash('sha256').update('new').digest('base64') } },
  })

  memory.featureLevel = 3
  await t.rejects(copyObject(services, principal, { ...COPY, digest: wanted }), {
    code: 'precondition_failed',
  })
  t.ok(await copyObject(services, principal, COPY), 'older members know a copy without')
})
