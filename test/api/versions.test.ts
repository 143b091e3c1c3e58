/**
 * Versions of objects through HTTP: put, get and delete in each state of a bucket. [native: Versioning 3]
 */
import t from 'tap'
import { BucketClient, etagOf, idOf } from './bucket-client.ts'
import type { View } from '../../src/state-machine/base/view.ts'

t.test('a bucket without versions [versions.unversioned] [versions.select.null]', async (t) => {
  const films = await BucketClient.start(t)
  const put = await films.put('k', 'one')
  t.match(put.json, { versionId: 'null', isLatest: true })
  t.notOk('x-service-version-id' in put.headers, 'names none in headers')
  for (const answer of [await films.get('k'), await films.head('k'), await films.get('k?versionId=null')]) {
    t.equal(answer.status, 200)
    t.notOk('x-service-version-id' in answer.headers)
  }
  t.same(await films.shown(), ['k@null*'])
  const gone = await films.remove('k?versionId=null')
  t.equal(gone.status, 204)
  t.notOk('x-service-version-id' in gone.headers || 'x-service-delete-marker' in gone.headers)
  t.same(await films.shown(), [])
})

t.test('a bucket that keeps versions', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const [one, two] = [await films.put('k', 'one'), await films.put('k', 'two')]
  const [first, second] = [idOf(one), idOf(two)]
  t.match(first, /^[0-9A-Z]{26}$/)
  t.equal(two.json['versionId'], second)
  t.same(await films.shown(), [`k@${second}*`, `k@${first}`])

  await t.test('gives the newest, or the requested one [versions.enabled] [versions.select]', async (t) => {
    t.equal((await films.get('k')).bytes.toString(), 'two')
    t.equal(idOf(await films.get('k')), second)
    const old = await films.get(`k?versionId=${first}`)
    t.equal(old.bytes.toString(), 'one')
    t.equal(idOf(old), first)
    t.equal(old.headers.etag, `"${etagOf(one)}"`)
    t.equal(idOf(await films.head(`k?versionId=${first}`)), first)
    t.equal(
      idOf(await films.get(`k?versionId=${first}`, { 'if-none-match': etagOf(one) })),
      first,
      'a 304 too',
    )
    const listed = (await films.list()).json['objects'] as { versionId: string }[]
    t.same(
      listed.map(({ versionId }) => versionId),
      [second],
    )
  })

  await t.test('knows no other [versions.select.unknown] [versions.select.empty]', async (t) => {
    const strange = [
      'null',
      first.toLowerCase(),
      `${first}x`,
      `${first}%20`,
      `${first}-`,
      '01J',
      '%00',
      'Z'.repeat(26),
      'x'.repeat(300),
      '..',
    ]
    for (const id of strange) {
      t.match(await films.get(`k?versionId=${id}`), { status: 404, code: 'not_found' }, id)
      const removed = await films.remove(`k?versionId=${id}`)
      t.equal(removed.status, 204, 'deleting it is no error')
      t.notOk('x-service-version-id' in removed.headers)
    }
    t.match(await films.get('k?versionId='), { status: 400, code: 'invalid_argument' })
    t.match(await films.get(`k?versionid=${first}`), { json: { message: /did you mean "versionId"/ } })
    t.match(await films.get(`other?versionId=${first}`), { status: 404 }, 'it is a version of its key only')
    t.equal((await films.shown()).length, 2)
  })

  const marked = await films.remove('k')
  const marker = idOf(marked)
  await t.test(
    'DELETE hides all versions behind a delete marker [versions.marker.created] [versions.marker.get] [listing.no-markers]',
    async (t) => {
      t.match(marked, { status: 204, headers: { 'x-service-delete-marker': 'true' } })
      t.same(await films.shown(), [`k-${marker}*`, `k@${second}`, `k@${first}`])
      for (const answer of [await films.get('k'), await films.head('k')]) {
        t.match(answer, {
          status: 404,
          headers: { 'x-service-delete-marker': 'true', 'x-service-version-id': marker },
        })
      }
      t.equal((await films.get('k')).code, 'not_found')
      t.equal((await films.get(`k?versionId=${second}`)).bytes.toString(), 'two', 'which are still there')
      t.same((await films.list()).json['keyCount'], 0)
      const absent = await films.get('never')
      t.equal(absent.status, 404)
      t.notOk('x-service-delete-marker' in absent.headers, 'a key that never was has no delete marker')
    },
  )

  await t.test(
    'method_not_allowed: a delete marker by its id has nothing to read [versions.marker.by-id]',
    async (t) => {
      for (const route of ['objects', 'object-tags', 'object-retention', 'object-legal-hold']) {
        const answer = await films.on(route, `k?versionId=${marker}`)
        t.match(answer, {
          status: 405,
          code: 'method_not_allowed',
          headers: { allow: 'DELETE', 'x-service-delete-marker': 'true', 'x-service-version-id': marker },
        })
      }
      t.equal((await films.head(`k?versionId=${marker}`)).status, 405)
    },
  )

  await t.test('DELETE of the marker brings the object back [versions.marker.removed]', async (t) => {
    const removed = await films.remove(`k?versionId=${marker}`)
    t.match(removed, {
      status: 204,
      headers: { 'x-service-version-id': marker, 'x-service-delete-marker': 'true' },
    })
    t.equal((await films.get('k')).bytes.toString(), 'two')
  })

  await t.test(
    'DELETE of a version removes that one for good [versions.removed] [versions.select]',
    async (t) => {
      const removed = await films.remove(`k?versionId=${second}`)
      t.equal(idOf(removed), second)
      t.notOk('x-service-delete-marker' in removed.headers)
      t.same(await films.shown(), [`k@${first}*`])
      t.equal((await films.get('k')).bytes.toString(), 'one', 'the one before is the newest again')
      t.equal((await films.remove(`k?versionId=${second}`)).status, 204, 'again is no error')
    },
  )
})

t.test(
  'a suspended bucket has one null version of a key, and keeps earlier versions [versions.suspended] [versions.select.null]',
  async (t) => {
    const films = await BucketClient.start(t)
    await films.put('k', 'unversioned')
    await films.versioning('Enabled')
    t.equal(idOf(await films.get('k')), 'null', 'older than versioning')
    const kept = idOf(await films.put('k', 'kept'))
    t.same(await films.shown(), [`k@${kept}*`, 'k@null'])
    await films.versioning('Suspended')
    const put = await films.put('k', 'suspended')
    t.equal(idOf(put), 'null')
    t.same(await films.shown(), ['k@null*', `k@${kept}`], 'the null version was replaced')
    t.equal((await films.get('k?versionId=null')).bytes.toString(), 'suspended')
    const marked = await films.remove('k')
    t.match(marked, { headers: { 'x-service-version-id': 'null', 'x-service-delete-marker': 'true' } })
    t.same(await films.shown(), ['k-null*', `k@${kept}`])
    t.equal((await films.get('k?versionId=null')).status, 405)
    await films.remove('k?versionId=null')
    t.equal((await films.get('k')).bytes.toString(), 'kept')
  },
)

t.test('a version that moves between rows during a lookup is found', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const one = idOf(await films.put('k', 'one'))
  const { state } = films.world.memory.services
  const cut = state.cut.bind(state)
  let looks = 0
  // The newer version went between the look at the object row and the look at the version row.
  state.cut = <T>(read: (view: View) => T): T => {
    looks += 1
    return looks === 1 ? (undefined as T) : cut(read)
  }
  t.equal((await films.get(`k?versionId=${one}`)).status, 200)
  state.cut = <T>(): T => undefined as T
  t.match(
    await films.remove(`k?versionId=${one}`),
    { headers: { 'x-service-version-id': one } },
    'a delete asks the commit',
  )
  state.cut = cut
  t.equal((await films.get(`k?versionId=${one}`)).status, 404)
  const batch = await films.batchDelete({ objects: [{ key: 'k', versionId: idOf(await films.put('k')) }] })
  t.match(batch.json, { deletedCount: 1 })
  t.same(await films.shown(), [])
})

t.test('the headers of a version [objects.put.locks] [objects.put.tagging]', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const retainUntil = '2099-01-02T03:04:05.678Z'
  const put = await films.put('k', 'one', {
    'content-type': 'text/plain',
    'x-service-meta-camera': 'x100',
    'x-service-tagging': 'env=prod&team=a+b%26c&empty=&flag',
    'x-service-retention-mode': 'GOVERNANCE',
    'x-service-retain-until': '2099-01-02T04:04:05.678+01:00',
    'x-service-legal-hold': 'ON',
  })
  t.match(put.json, {
    bucket: 'films',
    key: 'k',
    versionId: idOf(put),
    isLatest: true,
    size: 3,
    contentLength: 3,
    contentType: 'text/plain',
    storageClass: 'STANDARD',
    checksumType: 'FULL_OBJECT',
    encryption: { status: 'encrypted', algorithm: 'AES256-GCM' },
    retention: { mode: 'GOVERNANCE', retainUntil },
    legalHold: { status: 'ON' },
    metadata: { camera: 'x100' },
    tagCount: 4,
    partsCount: 1,
  })
  for (const answer of [put, await films.get('k'), await films.head('k')]) {
    t.match(answer.headers, {
      'x-service-version-id': idOf(put),
      'x-service-retention-mode': 'GOVERNANCE',
      'x-service-retain-until': retainUntil,
      'x-service-legal-hold': 'ON',
      'x-service-tag-count': '4',
      'x-service-parts-count': '1',
      'x-service-object-length': '3',
      'x-service-encryption': 'AES256-GCM',
      'x-service-storage-class': 'STANDARD',
      'x-service-checksum-type': 'FULL_OBJECT',
    })
  }
  const tags = await films.on('object-tags', 'k')
  t.same(tags.json, { tags: { env: 'prod', team: 'a b&c', empty: '', flag: '' } })
  const plain = await films.put('plain')
  t.match(plain.json, { retention: null, legalHold: { status: 'OFF' }, tagCount: 0 })
  t.equal(plain.headers['x-service-legal-hold'], 'OFF')
  t.notOk('x-service-retention-mode' in plain.headers)
  await films.as({ name: 'photos' }).put('k')
  t.notOk(
    'x-service-legal-hold' in (await films.as({ name: 'photos' }).get('k')).headers,
    'without object lock',
  )
})

t.test('a DELETE of an absent object is no error, in a bucket that is [objects.delete.absent]', async (t) => {
  const films = await BucketClient.start(t)
  for (const key of ['absent', 'absent?versionId=null']) t.equal((await films.remove(key)).status, 204, key)
  t.match(await films.as({ name: 'absent' }).remove('absent'), { status: 404, code: 'not_found' })
})
