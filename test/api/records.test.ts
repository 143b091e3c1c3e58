/**
 * Every record of the contract with all of its members and no other, so that an added or removed member is noticed.
 */
import t from 'tap'
import { BucketClient, etagOf, idOf } from './bucket-client.ts'
import { MultipartClient } from './multipart-client.ts'

const UNTIL = '2099-01-02T03:04:05.678Z'
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const membersOf = (record: unknown): readonly string[] =>
  Object.keys(typeof record === 'object' ? (record ?? {}) : {}).sort()

t.test('a bucket [buckets.create.record]', async (t) => {
  const films = await BucketClient.start(t)
  const made = await films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'new' } })
  const { createdAt, ...rest } = made.json
  t.match(createdAt, TIME)
  t.strictSame(rest, {
    name: 'new',
    tenantId: 'acme',
    versioning: 'Unversioned',
    objectLockEnabled: false,
    defaultRetention: null,
    visibility: 'private',
    hasCors: false,
    hasNotifications: false,
  })
})

t.test('an object [objects.put.record] [objects.put.headers]', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const put = await films.put('a/b', 'hello', {
    'content-type': 'text/plain',
    'x-service-meta-camera': 'x100',
    'x-service-tagging': 'env=prod',
    'x-service-retention-mode': 'GOVERNANCE',
    'x-service-retain-until': UNTIL,
    'x-service-legal-hold': 'ON',
  })
  const { lastModified, etag, versionId, checksums, encryption, ...rest } = put.json
  t.match(lastModified, TIME)
  t.match(versionId, /^[0-9A-Z]{26}$/)
  const { CRC64NVME } = checksums as Record<string, string>
  t.same(membersOf(checksums), ['CRC64NVME'])
  t.match(encryption, { status: 'encrypted', algorithm: 'AES256-GCM', keyId: String })
  t.same(membersOf(encryption), ['algorithm', 'keyId', 'status'])
  t.strictSame(rest, {
    bucket: 'films',
    key: 'a/b',
    isLatest: true,
    size: 5,
    contentLength: 5,
    contentType: 'text/plain',
    storageClass: 'STANDARD',
    checksumType: 'FULL_OBJECT',
    compression: { status: 'none' },
    retention: { mode: 'GOVERNANCE', retainUntil: UNTIL },
    legalHold: { status: 'ON' },
    metadata: { camera: 'x100' },
    tagCount: 1,
    partsCount: 1,
  })
  const reported = {
    etag: `"${String(etag)}"`,
    'last-modified': new Date(Date.parse(String(lastModified))).toUTCString(),
    'accept-ranges': 'bytes',
    'x-service-version-id': versionId,
    'x-service-checksum-crc64nvme': CRC64NVME,
    'x-service-checksum-type': 'FULL_OBJECT',
    'x-service-encryption': 'AES256-GCM',
    'x-service-compression': 'none',
    'x-service-storage-class': 'STANDARD',
    'x-service-retention-mode': 'GOVERNANCE',
    'x-service-retain-until': UNTIL,
    'x-service-legal-hold': 'ON',
    'x-service-object-length': '5',
    'x-service-tag-count': '1',
    'x-service-parts-count': '1',
    'x-service-meta-camera': 'x100',
  }
  const ofBody = { 'content-type': 'text/plain', 'content-length': '5' }
  t.match(put.headers, reported)
  for (const read of [await films.get('a/b'), await films.head('a/b')])
    t.match(read.headers, { ...reported, ...ofBody })
})

t.test('an object in a listing [listing.members]', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const put = await films.put('k')
  const [listed] = (await films.list()).json['objects'] as Record<string, unknown>[]
  t.match(listed?.['lastModified'], TIME)
  t.match(listed, { key: 'k', size: 5, etag: etagOf(put), storageClass: 'STANDARD', versionId: idOf(put) })
  t.same(membersOf(listed), ['etag', 'key', 'lastModified', 'size', 'storageClass', 'versionId'])
})

t.test('versions and delete markers in a listing [versions.list.members]', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  await films.put('k')
  await films.remove('k')
  const { json } = await films.versions()
  const [marker, version] = json['versions'] as Record<string, unknown>[]
  const ofAll = ['isDeleteMarker', 'isLatest', 'key', 'lastModified', 'versionId']
  t.match(marker, { key: 'k', isLatest: true, isDeleteMarker: true, lastModified: TIME })
  t.same(membersOf(marker), ofAll)
  t.match(version, { key: 'k', isLatest: false, isDeleteMarker: false, size: 5, storageClass: 'STANDARD' })
  t.same(membersOf(version), [...ofAll, 'etag', 'size', 'storageClass'].sort())
  const envelope = ['bucket', 'commonPrefixes', 'delimiter', 'isTruncated', 'maxKeys', 'prefix', 'versions']
  t.same(membersOf(json), envelope)
})

t.test(
  'uploads and parts [multipart.create] [multipart.part.answer] [multipart.part.no-sums] [multipart.next-absent]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const started = await client.ask('POST', 'k', {})
    t.same(membersOf(started.json), ['bucket', 'createdAt', 'expiresAt', 'key', 'uploadId'])
    const id = String(started.json['uploadId'])
    const part = await client.put({ key: 'k', id }, 1, 'hello')
    t.match(part, { status: 200, json: { partNumber: 1, size: 5, etag: /^[0-9a-f]{32}-1$/ } })
    t.same(membersOf(part.json), ['checksums', 'etag', 'partNumber', 'size'])
    t.same(membersOf(part.json['checksums']), ['CRC64NVME'], 'one is made when none is given')
    const listed = (await client.ask('GET', `${id}/parts/k`)).json
    const ofParts = ['isTruncated', 'key', 'maxParts', 'partNumberMarker', 'parts', 'uploadId']
    t.same(membersOf(listed), ofParts)
    const [first] = listed['parts'] as Record<string, unknown>[]
    const { lastModified, ...rest } = first ?? {}
    t.match(lastModified, TIME)
    t.strictSame(rest, part.json, 'as it was answered')
    const uploads = (await client.ask('GET', '')).json['uploads'] as object[]
    t.same(membersOf(uploads[0]), ['createdAt', 'expiresAt', 'initiator', 'key', 'uploadId'])
  },
)
