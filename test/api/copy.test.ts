/**
 * Server-side copies through HTTP. [native: Copy request body] [decisions 14]
 */
import t from 'tap'
import { OBJECT_COPY_BYTES_MAX } from '../../src/state-machine/objects/limits.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { BucketClient, etagOf, idOf } from './bucket-client.ts'
import type { View } from '../../src/state-machine/base/view.ts'

const MIB = 1024 * 1024

t.test('copyObject', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const photos = films.as({ name: 'photos' })
  const body = patternBytes(5 * MIB)
  const headers = { 'content-type': 'a/b', 'x-service-meta-camera': 'x100', 'x-service-tagging': 'env=prod' }
  const source = await films.put('source', body, headers)

  await t.test('gives the target the bytes, and copies no chunk [objects.copy]', async (t) => {
    const before = films.world.memory.blobs.written.length
    const copied = await photos.copy('a/b', { sourceBucket: 'films', sourceKey: 'source' })
    t.equal(copied.status, 200)
    t.match(copied.json, {
      bucket: 'photos',
      key: 'a/b',
      size: body.length,
      etag: etagOf(source),
      contentType: 'a/b',
      metadata: { camera: 'x100' },
      tagCount: 1,
      isLatest: true,
      checksums: source.json['checksums'],
    })
    t.equal(copied.headers.etag, source.headers.etag)
    t.equal(films.world.memory.blobs.written.length, before)
    t.ok((await photos.get('a/b')).bytes.equals(body))
    await films.remove(`source?versionId=${idOf(source)}`)
    t.ok((await photos.get('a/b')).bytes.equals(body), 'regardless of the source')
    await films.put('source', body, headers)
  })

  await t.test('copies bodies of every kind', async (t) => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('small')]) {
      await films.put('kind', bytes)
      t.equal((await films.copy('kind-copy', { sourceKey: 'kind' })).status, 200)
      t.ok((await films.get('kind-copy')).bytes.equals(bytes))
    }
  })

  await t.test(
    'metadataDirective: COPY ignores the metadata of the body, REPLACE uses only that [objects.copy.directive] [objects.copy.ignored]',
    async (t) => {
      const given = { sourceKey: 'source', contentType: 'c/d', metadata: { Lens: '35mm' } }
      for (const metadataDirective of ['COPY', 'copy', undefined]) {
        const copied = await films.copy('target', { ...given, metadataDirective })
        t.match(copied.json, { contentType: 'a/b', metadata: { camera: 'x100' } })
      }
      for (const metadataDirective of ['REPLACE', 'replace']) {
        const copied = await films.copy('target', { ...given, metadataDirective })
        t.same([copied.json['contentType'], copied.json['metadata']], ['c/d', { lens: '35mm' }])
        t.equal(copied.json['tagCount'], 1, 'tags come along')
      }
      const bare = await films.copy('target', { sourceKey: 'source', metadataDirective: 'REPLACE' })
      t.same([bare.json['contentType'], bare.json['metadata']], ['application/octet-stream', {}])
      const wrong = [
        { metadataDirective: 'MERGE' },
        { metadataDirective: 'REPLACE', contentType: 'é' },
        { metadataDirective: 'REPLACE', metadata: { 'a b': 'x' } },
        { metadataDirective: 'REPLACE', metadata: { a: '1', A: '2' } },
        { metadataDirective: 'REPLACE', metadata: { a: 'x\r\ny' } },
        { metadataDirective: 'REPLACE', metadata: { a: 'x'.repeat(2048) } },
        { metadataDirective: 'REPLACE', metadata: { a: 1 } },
        { sourceVersion: 'x' },
        { sourceKey: undefined },
      ]
      for (const change of wrong)
        t.match(await films.copy('refused', { sourceKey: 'source', ...change }), {
          status: 400,
          code: 'invalid_request',
        })
      t.equal((await films.get('refused')).status, 404)
    },
  )

  await t.test(
    'a copy to itself without REPLACE is refused, unless it restores an older version [objects.copy.self] [objects.copy.version]',
    async (t) => {
      const one = await films.put('self', 'one')
      t.match(await films.copy('self', { sourceKey: 'self' }), { status: 400, code: 'invalid_request' })
      const two = await films.put('self', 'two')
      const current = { sourceKey: 'self', sourceVersionId: idOf(two) }
      t.match(await films.copy('self', current), { status: 400, code: 'invalid_request' })
      const replaced = await films.copy('self', {
        ...current,
        metadataDirective: 'REPLACE',
        contentType: 'x/y',
      })
      t.match(replaced, { status: 200, json: { contentType: 'x/y', etag: etagOf(two) } })
      const restored = await films.copy('self', { sourceKey: 'self', sourceVersionId: idOf(one) })
      t.match(restored, { status: 200, json: { etag: etagOf(one) } })
      t.equal((await films.get('self')).bytes.toString(), 'one')
      t.equal((await films.shown({ prefix: 'self' })).length, 4)
      await photos.put('self', 'x')
      const unversioned = { sourceBucket: 'photos', sourceKey: 'self', metadataDirective: 'REPLACE' }
      t.equal((await photos.copy('self', unversioned)).status, 200, 'in place, in an unversioned bucket')
      t.equal((await photos.get('self')).bytes.toString(), 'x')
    },
  )

  await t.test('not_found: source, target or version [objects.copy.not-found]', async (t) => {
    await films.put('gone')
    const marker = idOf(await films.remove('gone'))
    const missing = [
      { sourceKey: 'absent' },
      { sourceKey: 'gone' },
      { sourceKey: 'source', sourceVersionId: '0'.repeat(26) },
      { sourceBucket: 'absent', sourceKey: 'source' },
    ]
    for (const from of missing) t.match(await films.copy('t', from), { status: 404, code: 'not_found' })
    t.match(await films.as({ name: 'absent' }).copy('t', { sourceBucket: 'films', sourceKey: 'source' }), {
      status: 404,
    })
    const ofMarker = await films.copy('t', { sourceKey: 'gone', sourceVersionId: marker })
    t.match(ofMarker, { status: 400, code: 'invalid_request', json: { message: /delete marker/ } })
  })

  await t.test(
    'access_denied: read scope on the source and write scope on the target [objects.copy.scope] [objects.copy.tenant]',
    async (t) => {
      const scopes = 'op=read:bucket=films:prefix=in/,op=write:bucket=photos:prefix=out/'
      const token = await films.world.memory.bearer('acme', scopes)
      await films.put('in/a')
      const narrow = photos.as({ token })
      const from = { sourceBucket: 'films', sourceKey: 'in/a' }
      t.equal((await narrow.copy('out/a', from)).status, 200)
      const denied = { status: 403, code: 'access_denied' }
      t.match(await narrow.copy('elsewhere', from), denied)
      t.match(await narrow.copy('out/a', { ...from, sourceKey: 'source' }), denied)
      t.match(
        await narrow.copy('out/a', { ...from, sourceKey: 'absent' }),
        denied,
        'without revealing what exists',
      )
      t.match(await narrow.copy('out/a', { sourceBucket: 'photos', sourceKey: 'out/a' }), denied)
      await films.world.memory.tenant('evil')
      const evil = photos.as({ token: await films.world.memory.bearer('evil') })
      await evil.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'photos' } })
      t.match(
        await evil.copy('k', from),
        { status: 404, code: 'not_found' },
        'the source is looked up in the tenant of the caller',
      )
    },
  )
})

t.test(
  '[decisions 14] preconditions of a copy [objects.copy.if-match] [objects.copy.if-none-match] [objects.copy.if-modified-since] [objects.copy.if-unmodified-since] [objects.copy.combined]',
  async (t) => {
    const films = await BucketClient.start(t, { versioning: 'Enabled' })
    const put = await films.put('source')
    const etag = etagOf(put)
    const stamp = String(put.json['lastModified'])
    const seconds = stamp.replace(/\.\d+Z/, 'Z')
    const shifted = (ms: number): string => new Date(Date.parse(stamp) + ms).toISOString()
    const table = [
      [{ ifMatch: etag }, 200],
      [{ ifMatch: `"${etag}"` }, 200],
      [{ ifMatch: '*' }, 200],
      [{ ifMatch: 'x' }, 412],
      [{ ifNoneMatch: 'x' }, 200],
      [{ ifNoneMatch: etag }, 412],
      [{ ifNoneMatch: `W/"${etag}"` }, 412],
      [{ ifNoneMatch: '*' }, 412],
      [{ ifModifiedSince: shifted(-1) }, 200],
      [{ ifModifiedSince: stamp }, 412],
      [{ ifModifiedSince: seconds }, 412],
      [{ ifUnmodifiedSince: stamp }, 200],
      [{ ifUnmodifiedSince: seconds }, 200],
      [{ ifUnmodifiedSince: shifted(-1000) }, 412],
      [{ ifMatch: etag, ifUnmodifiedSince: shifted(-60_000) }, 200],
      [{ ifMatch: 'x', ifUnmodifiedSince: shifted(60_000) }, 412],
      [{ ifNoneMatch: etag, ifModifiedSince: shifted(-60_000) }, 412],
      [{ ifNoneMatch: 'x', ifModifiedSince: shifted(60_000) }, 200],
      [{ ifMatch: etag, ifNoneMatch: etag }, 412],
    ] as const
    for (const [conditions, status] of table) {
      const answer = await films.copy('target', { sourceKey: 'source', ...conditions })
      t.equal(answer.status, status, JSON.stringify(conditions))
      if (status === 412) t.equal(answer.code, 'precondition_failed')
    }
    for (const name of ['ifModifiedSince', 'ifUnmodifiedSince'])
      t.match(await films.copy('target', { sourceKey: 'source', [name]: 'Tue, 01 Jan 2030 00:00:00 GMT' }), {
        status: 400,
        code: 'invalid_request',
        json: { message: /RFC 3339/ },
      })

    await t.test(
      'requireAbsent and requireMatchEtag are about the target [objects.copy.require-absent] [objects.copy.require-match-etag]',
      async (t) => {
        const copy = (key: string, more: object) => films.copy(key, { sourceKey: 'source', ...more })
        t.equal((await copy('fresh', { requireAbsent: true })).status, 200)
        t.match(await copy('fresh', { requireAbsent: true }), { status: 412, code: 'precondition_failed' })
        t.equal((await copy('fresh', { requireAbsent: false })).status, 200)
        await films.put('fresh', 'other')
        t.match(await copy('fresh', { requireMatchEtag: etag }), { status: 412, code: 'precondition_failed' })
        const other = String((await films.get('fresh')).headers.etag)
        t.equal((await copy('fresh', { requireMatchEtag: other })).status, 200)
        t.match(await copy('absent', { requireMatchEtag: etag }), { status: 412 })
        t.match(
          await copy('fresh', { requireAbsent: true, requireMatchEtag: etag }),
          { status: 412 },
          'never both',
        )
        await films.remove('fresh')
        t.equal((await copy('fresh', { requireAbsent: true })).status, 200, 'a delete marker is no object')
      },
    )
  },
)

t.test('a source that vanished between lookup and commit is looked up once more', async (t) => {
  const films = await BucketClient.start(t)
  await films.put('source', 'one')
  const { memory } = films.world
  const { services } = memory
  const propose = services.propose
  let copies = 0
  /** Another upload of the source comes between the lookup and the commit of each of the next copies. */
  const replaceBefore = (last: number): void => {
    copies = 0
    services.propose = async (command) => {
      if (command.type === 'copyObject' && copies < last) {
        copies += 1
        await films.put('source', `replaced ${copies}`)
      }
      return propose(command)
    }
  }
  replaceBefore(1)
  const { barriers } = memory
  t.equal((await films.copy('target', { sourceKey: 'source' })).status, 200)
  t.equal((await films.get('target')).bytes.toString(), 'replaced 1', 'the present source')
  t.equal(
    memory.barriers - barriers,
    3,
    'copy and get begin with a barrier each, the second look with its own, and a small put alone with none',
  )
  replaceBefore(9)
  t.match(await films.copy('target', { sourceKey: 'source' }), { status: 404, code: 'not_found' })
  t.equal(copies, 2, 'once, not forever')
})

t.test('entity_too_large: more than 5 GiB at once [limits.copy]', async (t) => {
  const films = await BucketClient.start(t)
  await films.put('source')
  const { state } = films.world.memory.services
  const cut = state.cut.bind(state)
  const sized = (size: number): void => {
    state.cut = <T>(read: (view: View) => T): T => {
      const found = cut(read) as ObjectRecord | undefined
      return (found?.kind === 'object' ? ({ ...found, size } satisfies ObjectRecord) : found) as T
    }
  }
  sized(OBJECT_COPY_BYTES_MAX + 1)
  t.match(await films.copy('target', { sourceKey: 'source' }), { status: 413, code: 'entity_too_large' })
  sized(OBJECT_COPY_BYTES_MAX)
  t.equal((await films.copy('target', { sourceKey: 'source' })).status, 200)
})

t.test('the body of a copy names its source [objects.copy.source]', async (t) => {
  const films = await BucketClient.start(t)
  await films.put('source')
  const whole = { sourceBucket: 'films', sourceKey: 'source' }
  for (const missing of ['sourceBucket', 'sourceKey'])
    t.match(
      await films.copy('target', { ...whole, [missing]: undefined }),
      { status: 400, code: 'invalid_request' },
      missing,
    )
  t.equal((await films.get('target')).status, 404)
  t.equal((await films.copy('target', whole)).status, 200)
})
