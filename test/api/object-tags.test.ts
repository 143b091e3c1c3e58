/**
 * Tags through HTTP, as JSON and as a header of an upload. [decisions 5]
 */
import t from 'tap'
import { BucketClient, idOf } from './bucket-client.ts'

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, `${n}`]))

t.test('object tags [tags.get] [tags.get.unset] [tags.set] [tags.count]', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const one = idOf(await films.put('k', 'one'))
  const set = (tags: unknown, key = 'k') => films.on('object-tags', key, { method: 'PUT', body: { tags } })
  const read = async (key = 'k') => (await films.on('object-tags', key)).json

  t.same(await read(), { tags: {} }, 'unset')
  const put = await set({ env: 'prod', 'größe 😀': '' })
  t.match(put, { status: 200, json: { tags: { env: 'prod', 'größe 😀': '' } } })
  t.equal(idOf(put), one)
  t.same(await read(), put.json)
  t.match((await films.get('k')).headers, {
    'x-service-tag-count': '2',
    etag: (await films.head('k')).headers.etag,
  })
  t.match(await set({ only: 'this' }), { status: 200 }, 'a set replaces the one before')
  t.same(await read(), { tags: { only: 'this' } })

  await t.test('are of one version [tags.version]', async (t) => {
    const two = idOf(await films.put('k', 'two'))
    t.same(await read(), { tags: {} })
    t.same(await read(`k?versionId=${one}`), { tags: { only: 'this' } })
    await set({ old: 'yes' }, `k?versionId=${one}`)
    t.same(await read(`k?versionId=${two}`), { tags: {} })
    t.same(await read(`k?versionId=${one}`), { tags: { old: 'yes' } })
    t.equal((await films.shown()).length, 2, 'tagging makes no version')
  })

  await t.test('are cleared by DELETE, again and again [tags.delete]', async (t) => {
    for (const key of [`k?versionId=${one}`, `k?versionId=${one}`]) {
      const cleared = await films.on('object-tags', key, { method: 'DELETE' })
      t.equal(cleared.status, 204)
      t.equal(idOf(cleared), one)
    }
    t.same(await read(`k?versionId=${one}`), { tags: {} })
  })

  await t.test(
    'invalid_tag: too many, too long, or not printable [tags.invalid] [tags.duplicate] [limits.tags] [errors.invalid_tag]',
    async (t) => {
      t.equal((await set(many(10))).status, 200)
      t.equal((await set({ ['n'.repeat(128)]: 'v'.repeat(256) })).status, 200)
      t.equal((await set({ ['😀'.repeat(128)]: '' })).status, 200, 'characters, not bytes')
      const before = await read()
      for (const tags of [
        many(11),
        { ['n'.repeat(129)]: '' },
        { n: 'v'.repeat(257) },
        { '': 'v' },
        { n: '\n' },
        { 'a\u0000': '' },
      ])
        t.match(await set(tags), { status: 400, code: 'invalid_tag' }, JSON.stringify(tags).slice(0, 40))
      const raw = (body: string) =>
        films.on('object-tags', 'k', { method: 'PUT', body, headers: { 'content-type': 'application/json' } })
      t.match(await raw('{"tags":{"__proto__":"x"}}'), { status: 400, code: 'invalid_tag' })
      t.match(await raw('{"tags":{"n":"\\ud800"}}'), { status: 400, code: 'invalid_tag' })
      t.match(await raw('{"tags":{"a":"1","a":"2"}}'), { status: 400, code: 'invalid_json' }, 'given twice')
      for (const tags of [null, [], 'a', { n: 1 }, { n: null }, undefined])
        t.match(await set(tags), { status: 400, code: 'invalid_request' }, JSON.stringify(tags))
      t.same(await read(), before)
    },
  )

  await t.test('not_found: an absent version has no tags [tags.no-object]', async (t) => {
    await films.put('gone')
    await films.remove('gone')
    for (const key of ['absent', 'gone', `k?versionId=${'0'.repeat(26)}`])
      for (const ask of [{}, { method: 'PUT', body: { tags: {} } }, { method: 'DELETE' }])
        t.match(await films.on('object-tags', key, ask), { status: 404, code: 'not_found' }, key)
    t.match(await films.as({ name: 'absent' }).on('object-tags', 'k'), { status: 404, code: 'not_found' })
  })
})

t.test('X-Service-Tagging [objects.put.tagging] [tags.duplicate]', async (t) => {
  const films = await BucketClient.start(t)
  const put = (tagging: string) => films.put('k', 'x', { 'x-service-tagging': tagging })
  const table = [
    ['', {}],
    ['a=b', { a: 'b' }],
    ['a=b&c=d', { a: 'b', c: 'd' }],
    ['a=b=c', { a: 'b=c' }],
    ['a+b=%2B', { 'a b': '+' }],
    ['%C3%A9=%F0%9F%98%80', { é: '😀' }],
    [Buffer.from('é=x').toString('latin1'), { é: 'x' }],
    ['a&b=', { a: '', b: '' }],
  ] as const
  for (const [tagging, tags] of table) {
    t.equal((await put(tagging)).status, 200, tagging)
    t.same((await films.on('object-tags', 'k')).json, { tags })
  }
  const wrong = [
    'a=1&a=2',
    '=x',
    '%zz=1',
    'a=%ff',
    'a=%00',
    `${'n'.repeat(129)}=`,
    new URLSearchParams(many(11)).toString(),
  ]
  for (const tagging of wrong)
    t.match(await put(tagging), { status: 400, code: 'invalid_tag' }, tagging.slice(0, 20))
})
