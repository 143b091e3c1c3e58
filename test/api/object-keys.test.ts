/**
 * Object keys: stored, listed and found exactly as sent, byte for byte.
 *
 * Real sockets, because clients and test injectors tidy up paths before they send them.
 */
import fc from 'fast-check'
import t from 'tap'
import { decodeObjectKey, originForm, parseQuery, restOfPath } from '../../src/api/request-target.ts'
import { ApiWorld } from './api-world.ts'
import { BucketClient, idOf } from './bucket-client.ts'
import { CORPUS, NO_KEYS } from './key-corpus.ts'

const OBJECTS = '/api/v1/buckets/photos/objects/'

t.test('keys round-trip byte for byte [objects.key] [limits.key] [errors.invalid_key]', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const keys = new Map<string, string>()
  for (const [raw, key] of CORPUS) {
    const body = `${keys.size}`
    const put = await world.call({ method: 'PUT', path: `${OBJECTS}${raw}`, token, body })
    t.equal(put.status, 200, `PUT ${raw.slice(0, 60)}`)
    t.equal(put.json['key'], key, 'is stored under the very key')
    keys.set(key, body)
  }
  for (const [raw, key] of CORPUS) {
    const got = await world.call({ path: `${OBJECTS}${raw}`, token })
    t.equal(got.bytes.toString(), keys.get(key), `GET ${raw.slice(0, 60)} finds its own body`)
  }
  const listed = await world.call({ path: `/api/v1/buckets/photos/objects`, token })
  const inByteOrder = [...keys.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  t.same(
    (listed.json['objects'] as { key: string }[]).map(({ key }) => key),
    inByteOrder,
  )

  for (const raw of NO_KEYS) {
    const path = `${OBJECTS}${raw}`
    for (const method of ['PUT', 'GET', 'HEAD', 'DELETE']) {
      const ask = { method, path, token, ...(method === 'PUT' ? { body: 'x' } : {}) }
      const refused = await world.call(ask)
      t.equal(refused.status, 400, `${method} ${raw.slice(0, 40)}`)
      if (method !== 'HEAD') t.equal(refused.code, 'invalid_key')
    }
    t.match(await world.call({ path }), { status: 401 }, 'an unauthenticated client learns nothing about it')
  }
  const after = await world.call({ path: `/api/v1/buckets/photos/objects`, token })
  t.equal(after.json['keyCount'], keys.size, 'nothing refused was stored')
})

t.test('keys round-trip byte for byte through every other route', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  await films.put('source', 'x')
  const names = new Map(CORPUS.map(([raw, key]) => [key, raw]))
  for (const [key, raw] of names) {
    const label = raw.slice(0, 60)
    const copied = await films.copy(raw, { sourceKey: 'source' })
    t.match(copied, { status: 200, json: { key } }, `COPY to ${label}`)
    const back = await films.copy('back', { sourceKey: key })
    t.equal(back.status, 200, `COPY from ${label}`)
    const tags = { n: `${names.size}` }
    t.match(
      await films.on('object-tags', raw, { method: 'PUT', body: { tags } }),
      { status: 200 },
      `TAGS ${label}`,
    )
    t.same((await films.on('object-tags', raw)).json, { tags })
    t.equal((await films.on('object-legal-hold', raw)).status, 200)
    t.equal((await films.on('object-retention', raw)).code, 'not_found', 'there is none, of this very object')
    const head = await films.head(raw)
    t.match(head, { status: 200, headers: { 'x-service-tag-count': '1' } }, `HEAD ${label}`)
    const versionId = idOf(copied)
    t.equal((await films.get(`${raw}?versionId=${versionId}`)).status, 200, 'with a query behind it')
  }
  const kept = new Map(names).set('source', '').set('back', '')
  const inByteOrder = [...kept.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const versions = (await films.versions()).json['versions'] as { key: string; isLatest: boolean }[]
  t.same(
    versions.filter(({ isLatest }) => isLatest).map(({ key }) => key),
    inByteOrder,
    'VERSIONS',
  )
  const objects = [...names.keys()].map((key) => ({ key }))
  const deleted = await films.batchDelete({ objects })
  t.match(deleted.json, { deletedCount: names.size, errorCount: 0 }, 'BATCH DELETE')
  t.same(
    (deleted.json['results'] as { key: string }[]).map(({ key }) => key),
    [...names.keys()],
  )
  t.equal((await films.list()).json['keyCount'], 2)

  for (const raw of NO_KEYS) {
    const asks = [
      films.copy(raw, { sourceKey: 'source' }),
      films.on('object-tags', raw),
      films.on('object-tags', raw, { method: 'PUT', body: { tags: {} } }),
      films.on('object-tags', raw, { method: 'DELETE' }),
      films.on('object-retention', raw),
      films.on('object-legal-hold', raw, { method: 'PUT', body: { status: 'ON' } }),
    ]
    for (const answer of await Promise.all(asks))
      t.match(answer, { status: 400, code: 'invalid_key' }, raw.slice(0, 40))
  }
  for (const key of ['', 'a\u0000b', '\ud800', 'k'.repeat(1025)])
    t.match(
      await films.copy('t', { sourceKey: key }),
      { status: 400, code: 'invalid_key' },
      JSON.stringify(key.slice(0, 9)),
    )
})

t.test('the bucket is one decoded segment and never a path', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  await world.call({ method: 'PUT', path: `${OBJECTS}k`, token, body: 'x' })
  t.equal((await world.call({ path: '/api/v1/buckets/ph%6Ftos/objects/k', token })).status, 200)
  t.equal((await world.send({ path: '/api/v1/b%75ckets/photos/objects/k', token })).status, 200)
  for (const bucket of ['..', '%2e%2e', 'photos%2Fx', 'photos%00', '', 'PHOTOS', 'photos%2f..%2fphotos']) {
    const answer = await world.call({ path: `/api/v1/buckets/${bucket}/objects/k`, token })
    t.match(answer, { status: 404, code: 'not_found' }, JSON.stringify(bucket))
  }
})

t.test('request targets in absolute form lose the authority and nothing else', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const ask = (target: string): Promise<string> =>
    world.raw(
      `PUT ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`,
    )
  t.match(await ask(`http://x:1/api/v1/buckets/photos/objects/a/../b`), /"key":"a\/\.\.\/b"/)
  t.match(await ask(`${OBJECTS}\u00e9`), /^HTTP\/1\.1 400 /, 'a target that was not encoded is no request')
})

t.test('decodeObjectKey', async (t) => {
  t.test('gives back any text that was percent-encoded, with any characters left unencoded', async () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.boolean(), (key, everything) => {
        const bytes = [...Buffer.from(key)]
        const raw = everything
          ? bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
          : encodeURIComponent(key)
        return decodeObjectKey(raw) === key
      }),
    )
  })
  t.test('never decodes twice', async () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        return decodeObjectKey(encodeURIComponent(encodeURIComponent(text))) === encodeURIComponent(text)
      }),
    )
  })
})

t.test('request targets', async (t) => {
  t.equal(originForm('HTTP://host:80/a/../b?c'), '/a/../b?c')
  t.equal(originForm('http://host'), '/')
  t.equal(originForm('http://host?x'), '/?x')
  t.equal(originForm('/http://host/x'), '/http://host/x')
  t.equal(originForm('*'), '*')
  t.equal(restOfPath('/a/b/c//d?e/f', 2), 'c//d')
  t.equal(restOfPath('/a/b/', 2), '')
  t.same(parseQuery('/x?a=1&b=&c&d=e%3Df=g&&h=+%2B'), { a: '1', b: '', c: '', d: 'e=f=g', h: ' +' })
  t.throws(() => parseQuery('/x?a=1&%61=2'), { code: 'invalid_argument' })
  t.throws(() => parseQuery('/x?a=%ff'), { code: 'invalid_argument' })
})
