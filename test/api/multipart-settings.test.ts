/**
 * Settings given when an upload is created apply to the object; settings in the wrong place are refused. [decisions 6]
 */
import t from 'tap'
import { ApiWorld } from './api-world.ts'
import { MultipartClient } from './multipart-client.ts'

const UNTIL = '2099-01-31T12:00:00.000Z'

async function lockedBucket(t: Parameters<typeof ApiWorld.start>[0]): Promise<MultipartClient> {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')
  const token = await world.memory.bearer('acme')
  const body = { name: 'photos', objectLockEnabled: true }
  await world.call({ method: 'POST', path: '/api/v1/buckets', token, body })
  return new MultipartClient({ world, token })
}

t.test('settings of the object come in the body or in headers [multipart.create.settings]', async (t) => {
  const client = await lockedBucket(t)
  const inBody = {
    contentType: 'video/mp4',
    metadata: { Camera: 'x100' },
    tags: { env: 'prod' },
    retention: { mode: 'GOVERNANCE', retainUntil: UNTIL },
    legalHold: { status: 'ON' },
    checksumAlg: 'crc32c',
  }
  const inHeaders = {
    'content-type': 'video/mp4',
    'x-service-meta-camera': 'x100',
    'x-service-tagging': 'env=prod',
    'x-service-retention-mode': 'GOVERNANCE',
    'x-service-retain-until': UNTIL,
    'x-service-legal-hold': 'ON',
    'x-service-checksum-algorithm': 'CRC32C',
  }
  for (const [key, body, headers] of [
    ['body', inBody, {}],
    ['headers', undefined, inHeaders],
  ] as const) {
    const started = await client.ask('POST', key, body, headers)
    t.equal(started.status, 201, started.bytes.toString())
    const upload = { key, id: String(started.json['uploadId']) }
    const part = await client.part(upload, 1, 'the whole')
    const done = await client.complete(upload, [part])
    t.match(done.json, {
      versionId: /^[0-9A-Z]{26}$/,
      isLatest: true,
      contentType: 'video/mp4',
      metadata: { camera: 'x100' },
      tagCount: 1,
      retention: { mode: 'GOVERNANCE', retainUntil: UNTIL },
      legalHold: { status: 'ON' },
      checksums: { CRC32C: String, CRC64NVME: String },
    })
    t.equal(done.headers['x-service-version-id'], done.json['versionId'])
  }
  const plain = await client.ask('POST', 'plain', {})
  const upload = { key: 'plain', id: String(plain.json['uploadId']) }
  const done = await client.complete(upload, [await client.part(upload, 1, 'x')])
  t.match(done.json, { contentType: 'application/octet-stream', tagCount: 0, retention: null })
})

t.test('invalid settings are refused at creation [multipart.create.twice-said]', async (t) => {
  const client = await lockedBucket(t)
  const refused = async (expected: object, body: object | undefined, headers = {}): Promise<void> => {
    const answer = await client.ask('POST', 'k', body, headers)
    t.match({ status: answer.status, code: answer.code }, expected, answer.bytes.toString())
  }
  const invalid = { status: 400, code: 'invalid_request' }
  await refused(invalid, { tags: { a: 'b' } }, { 'x-service-tagging': 'a=b' })
  await refused(invalid, { metadata: { a: 'b' } }, { 'x-service-meta-a': 'b' })
  await refused(invalid, { legalHold: { status: 'ON' } }, { 'x-service-legal-hold': 'ON' })
  await refused(invalid, { checksumAlg: 'CRC32' }, { 'x-service-checksum-algorithm': 'CRC32' })
  await refused(invalid, { retention: { mode: 'GOVERNANCE', retainUntil: 'tomorrow' } })
  await refused(invalid, { retention: { mode: 'GOVERNANCE', retainUntil: '2001-01-01T00:00:00Z' } })
  await refused(invalid, { retention: { mode: 'OTHER', retainUntil: UNTIL } })
  await refused(invalid, { metadata: { a: 'x'.repeat(2048) } })
  await refused(invalid, { contentType: 'a\nb' })
  await refused(invalid, { storageClass: 'STANDARD' })
  await refused({ status: 400, code: 'invalid_tag' }, { tags: { '': 'b' } })
  await refused({ status: 400, code: 'checksum_unsupported' }, { checksumAlg: 'MD5' })
  await refused(invalid, {}, { 'x-service-checksum-crc32': 'AAAAAA==' })
  await refused(invalid, {}, { 'if-none-match': '*' })
  await refused(invalid, {}, { 'x-service-legal-holds': 'ON' })
  t.same((await client.ask('GET', '')).json['uploads'], [], 'no upload was created')

  const unlocked = await MultipartClient.start(t)
  const hold = await unlocked.ask('POST', 'k', { legalHold: { status: 'ON' } })
  t.match(hold, { status: 400, code: 'object_lock_not_enabled' })
})

t.test(
  '[native: Upload rules 4] conditions are decided at the completion [multipart.complete.conditions]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const upload = { key: 'k', id: await client.begin('k') }
    const parts = [await client.part(upload, 1, 'parts')]
    const path = '/api/v1/buckets/photos/objects/k'
    const put = await client.world.call({ method: 'PUT', path, token: client.token, body: 'first' })
    const failed = { status: 412, code: 'precondition_failed' }
    t.match(await client.complete(upload, parts, { 'if-none-match': '*' }), failed)
    t.match(await client.complete(upload, parts, { 'if-match': '"other-1"' }), failed)
    t.match(await client.complete(upload, parts, { 'x-service-meta-a': 'b' }), { status: 400 })
    t.equal((await client.complete(upload, parts, { 'if-match': `${put.headers.etag}` })).status, 200)
    t.equal((await client.get('k')).bytes.toString(), 'parts')
  },
)
