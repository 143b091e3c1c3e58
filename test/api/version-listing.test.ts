/**
 * listObjectVersions through HTTP: order, pages, prefixes, markers. [decisions 4]
 */
import t from 'tap'
import { BucketClient, idOf } from './bucket-client.ts'

t.test('listObjectVersions', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const made: string[] = []
  for (const key of ['a', 'a/1', 'a/2', 'a/x/1', 'b', '\u{1F600}', '\uFFFD']) {
    const raw = encodeURIComponent(key)
    const older = `${key}@${idOf(await films.put(raw, 'one'))}`
    const newest =
      key === 'b'
        ? `${key}-${idOf(await films.remove(raw))}*`
        : `${key}@${idOf(await films.put(raw, 'two'))}*`
    made.push(newest, older)
  }
  const walk = async (query: Record<string, string>): Promise<{ shown: string[]; prefixes: string[] }> => {
    const found: { shown: string[]; prefixes: string[] } = { shown: [], prefixes: [] }
    let markers: Record<string, string> = {}
    for (;;) {
      const asked = { ...query, ...markers }
      const { json } = await films.versions(asked)
      found.shown.push(...(await films.shown(asked)))
      found.prefixes.push(...(json['commonPrefixes'] as string[]))
      if (json['isTruncated'] !== true) return found
      const { nextKeyMarker, nextVersionIdMarker } = json as Record<string, string | undefined>
      markers = {
        keyMarker: nextKeyMarker ?? '',
        ...(nextVersionIdMarker === undefined ? {} : { versionIdMarker: nextVersionIdMarker }),
      }
    }
  }

  await t.test(
    'gives keys in UTF-8 byte order, of a key the newest first [versions.list] [versions.list.order] [versions.list.next-absent]',
    async (t) => {
      const inByteOrder = made.toSorted((a, b) =>
        Buffer.compare(Buffer.from(a.split(/[@-]/)[0] ?? ''), Buffer.from(b.split(/[@-]/)[0] ?? '')),
      )
      t.same(await films.shown(), inByteOrder)
      const { json } = await films.versions()
      t.match(json, { bucket: 'films', prefix: '', delimiter: '', maxKeys: 1000, isTruncated: false })
      t.notOk('nextKeyMarker' in json || 'nextVersionIdMarker' in json)
      const versions = json['versions'] as Record<string, unknown>[]
      t.match(versions[0], { key: 'a', isLatest: true, size: 3, storageClass: 'STANDARD', etag: /-1$/ })
      const marker = versions.find(({ isDeleteMarker }) => isDeleteMarker === true)
      t.same(Object.keys(marker ?? {}).sort(), [
        'isDeleteMarker',
        'isLatest',
        'key',
        'lastModified',
        'versionId',
      ])
    },
  )

  await t.test(
    'continues where a page ended, for any page size [versions.list.prefix] [versions.list.markers] [versions.list.key-marker]',
    async (t) => {
      const all = await films.shown()
      for (const maxKeys of ['1', '2', '3', '7', '14']) t.same((await walk({ maxKeys })).shown, all, maxKeys)
      const grouped = { shown: all.slice(2, 6), prefixes: ['a/x/'] }
      for (const maxKeys of ['1', '2', '4', '5'])
        t.same(await walk({ prefix: 'a/', delimiter: '/', maxKeys }), grouped, `${maxKeys} grouped`)
      t.same(await films.shown({ keyMarker: 'a/x/1' }), all.slice(8), 'behind a key')
      t.same(await films.shown({ prefix: 'zzz' }), [])
    },
  )

  await t.test(
    'refuses ambiguous queries [versions.list.marker-alone] [versions.list.max-keys]',
    async (t) => {
      const [, older = ''] = made
      const versionIdMarker = older.split('@')[1] ?? ''
      t.match(await films.versions({ versionIdMarker }), { status: 400, code: 'invalid_argument' })
      t.match(await films.versions({ maxKeys: 'x' }), { status: 400, code: 'invalid_argument' })
      t.match(await films.versions({ continuationToken: 'x' }), { status: 400, code: 'invalid_argument' })
      for (const [asked, given] of [
        ['0', 1],
        ['1001', 1000],
      ] as const)
        t.equal((await films.versions({ maxKeys: asked })).json['maxKeys'], given)
      t.match(await films.as({ name: 'absent' }).versions(), { status: 404, code: 'not_found' })
    },
  )

  await t.test('stays inside of the scope of the key [versions.list.scope]', async (t) => {
    const token = await films.world.memory.bearer('acme', 'op=read:bucket=films:prefix=a/')
    const narrow = films.as({ token })
    t.match(await narrow.versions(), { status: 403, code: 'access_denied' })
    t.match(await narrow.versions({ prefix: 'a' }), { status: 403, code: 'access_denied' })
    t.equal((await narrow.shown({ prefix: 'a/' })).length, 6)
    t.equal((await narrow.shown({ prefix: 'a/', keyMarker: '!' })).length, 6, 'a marker reaches no further')
  })
})
