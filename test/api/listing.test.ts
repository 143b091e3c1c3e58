/**
 * Listing through HTTP: order, pages, prefixes, and tokens that fit one query only.
 */
import t from 'tap'
import { ApiWorld, type ApiAnswer } from './api-world.ts'
import { BucketClient } from './bucket-client.ts'
import { denial, FILMS, PolicyClient } from './policy-client.ts'

const LIST = '/api/v1/buckets/photos/objects'

interface Listed {
  readonly keys: readonly string[]
  readonly prefixes: readonly string[]
}

t.test('listObjects', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const keys = ['a', 'a/1', 'a/2', 'a/x/1', 'a/x/2', 'a/y/1', 'a0', 'b c', 'b+c', 'é', '\u{1F600}', '\uFFFD']
  for (const key of keys) {
    await world.call({ method: 'PUT', path: `${LIST}/${encodeURIComponent(key)}`, token, body: key })
  }
  const inByteOrder = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const list = (query: Record<string, string>): Promise<ApiAnswer> =>
    world.call({ path: `${LIST}?${new URLSearchParams(query).toString()}`, token })
  const walk = async (query: Record<string, string>): Promise<Listed> => {
    const found: { keys: string[]; prefixes: string[] } = { keys: [], prefixes: [] }
    let page = await list(query)
    for (;;) {
      const { keys, prefixes } = read(page)
      found.keys.push(...keys)
      found.prefixes.push(...prefixes)
      if (page.json['isTruncated'] !== true) return found
      page = await list({ ...query, continuationToken: String(page.json['nextContinuationToken']) })
    }
  }

  await t.test(
    'gives keys in UTF-8 byte order, with the attributes of each [listing.objects] [listing.envelope] [listing.order] [listing.next-absent] [listing.max-keys.default]',
    async (t) => {
      const all = await list({})
      t.same(read(all).keys, inByteOrder)
      t.match(all.json, {
        bucket: 'photos',
        prefix: '',
        delimiter: '',
        maxKeys: 1000,
        keyCount: keys.length,
        isTruncated: false,
      })
      t.notOk('nextContinuationToken' in all.json)
      t.match((all.json['objects'] as object[])[0], {
        key: 'a',
        size: 1,
        storageClass: 'STANDARD',
        versionId: 'null',
      })
    },
  )

  await t.test(
    'continues where a page ended, for any page size [listing.pages] [listing.prefix] [listing.delimiter] [listing.start-after]',
    async (t) => {
      for (const maxKeys of ['1', '2', '5', '12']) {
        t.same((await walk({ maxKeys })).keys, inByteOrder, `${maxKeys} a page`)
      }
      const grouped = { keys: ['a/1', 'a/2'], prefixes: ['a/x/', 'a/y/'] }
      for (const maxKeys of ['1', '2', '3', '4']) {
        t.same(await walk({ prefix: 'a/', delimiter: '/', maxKeys }), grouped, `${maxKeys} a page, grouped`)
      }
      const page = await list({ prefix: 'a/', delimiter: '/', maxKeys: '3' })
      t.equal(page.json['keyCount'], 3, 'keys and prefixes count alike')
      t.same((await walk({ prefix: 'a/x', maxKeys: '1' })).keys, ['a/x/1', 'a/x/2'])
      t.same(
        (await walk({ startAfter: 'b+c', maxKeys: '2' })).keys,
        inByteOrder.slice(inByteOrder.indexOf('b+c') + 1),
      )
      t.same((await walk({ prefix: 'zzz' })).keys, [])
      t.same((await walk({ prefix: 'b+' })).keys, ['b+c'], 'a plus sign comes as %2B')
    },
  )

  await t.test(
    'clamps maxKeys and refuses values that are no number [listing.max-keys.clamp] [listing.max-keys.integer] [limits.max-keys]',
    async (t) => {
      for (const [asked, given] of [
        ['0', 1],
        ['-5', 1],
        ['1001', 1000],
        ['999999999', 1000],
        ['9'.repeat(40), 1000],
      ] as const) {
        t.equal((await list({ maxKeys: asked })).json['maxKeys'], given)
      }
      for (const asked of ['', 'x', '1.5', '1e3', ' 5', '0x10', '9'.repeat(41)]) {
        t.match(
          await list({ maxKeys: asked }),
          { status: 400, code: 'invalid_argument' },
          JSON.stringify(asked),
        )
      }
    },
  )

  await t.test(
    'takes a token for the query that returned it and for no other [listing.token.bound] [listing.token.changed] [errors.invalid_continuation_token]',
    async (t) => {
      const query = { prefix: 'a/', maxKeys: '1' }
      const continuationToken = String((await list(query)).json['nextContinuationToken'])
      t.equal(
        (await list({ ...query, continuationToken, maxKeys: '2' })).status,
        200,
        'the size of a page may change',
      )
      await world.call({ method: 'POST', path: '/api/v1/buckets', token, body: { name: 'other' } })
      const elsewhere = `/api/v1/buckets/other/objects?prefix=a/&continuationToken=${continuationToken}`
      const refused = [
        await list({ prefix: 'a', continuationToken }),
        await list({ prefix: 'a/', delimiter: '/', continuationToken }),
        await world.call({ path: elsewhere, token }),
        await world.call({ path: `/api/v1/buckets?continuationToken=${continuationToken}`, token }),
        await list({ ...query, continuationToken: '' }),
        await list({ ...query, continuationToken: 'x'.repeat(5000) }),
        await list({ ...query, continuationToken: `${continuationToken}=` }),
      ]
      for (let at = 0; at < continuationToken.length; at += 1) {
        const other = continuationToken[at] === 'A' ? 'B' : 'A'
        const flipped = continuationToken.slice(0, at) + other + continuationToken.slice(at + 1)
        refused.push(await list({ ...query, continuationToken: flipped }))
      }
      for (const answer of refused) t.match(answer, { status: 400, code: 'invalid_continuation_token' })
    },
  )

  await t.test(
    'refuses ambiguous queries [listing.unknown-query] [listing.no-bucket] [errors.invalid_argument]',
    async (t) => {
      const ask = (query: string): Promise<ApiAnswer> => world.call({ path: `${LIST}?${query}`, token })
      for (const query of [
        'prefix=%ff',
        'prefix=%zz',
        'prefix=a&prefix=b',
        'max-keys=5',
        'Prefix=a',
        'prefix=a&pre%66ix=b',
      ]) {
        t.match(await ask(query), { status: 400, code: 'invalid_argument' }, query)
      }
      t.match((await ask('maxkeys=5')).json['message'], /did you mean "maxKeys"/)
      t.equal((await world.call({ path: '/api/v1/buckets/absent/objects', token })).status, 404)
    },
  )
})

function read(page: ApiAnswer): Listed {
  return {
    keys: (page.json['objects'] as { key: string }[]).map(({ key }) => key),
    prefixes: page.json['commonPrefixes'] as string[],
  }
}

type Described = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>

/** Of the objects of a page, by key. */
function metadataIn({ json }: ApiAnswer): Described {
  const objects = json['objects'] as readonly { key: string; metadata?: Readonly<Record<string, string>> }[]
  return Object.fromEntries(objects.map(({ key, metadata }) => [key, metadata]))
}

t.test('listObjects with include=metadata [listing.metadata]', async (t) => {
  const list = (films: BucketClient, query = ''): Promise<ApiAnswer> =>
    films.ask({ path: `/api/v1/buckets/films/objects?include=metadata${query}` })

  await t.test('has the user metadata of each object, and none unless asked', async (t) => {
    const films = await BucketClient.start(t)
    await films.put('a', 'a', { 'x-service-meta-mtime': '1.5', 'x-service-meta-quote': '"\\' })
    await films.put('b')
    await films.put('c/1', 'c', { 'x-service-meta-name': Buffer.from('Zoë').toString('latin1') })
    t.same(metadataIn(await list(films)), {
      a: { mtime: '1.5', quote: '"\\' },
      b: {},
      'c/1': { name: 'Zoë' },
    })
    t.same(metadataIn(await list(films, '&delimiter=/')), { a: { mtime: '1.5', quote: '"\\' }, b: {} })
    const plain = await films.ask({ path: '/api/v1/buckets/films/objects' })
    t.same(metadataIn(plain), { a: undefined, b: undefined, 'c/1': undefined })
    for (const include of ['', 'tags', 'metadata,tags', 'Metadata'])
      t.match(
        await films.ask({ path: `/api/v1/buckets/films/objects?include=${include}` }),
        { status: 400, code: 'invalid_argument' },
        JSON.stringify(include),
      )
  })

  await t.test('leaves it out where the policy denies reading the object, and lists the key', async (t) => {
    const policies = await PolicyClient.start(t)
    const { films } = policies
    const headers = { 'x-service-meta-mtime': '1' }
    for (const key of ['open', 'secret/1', 'secret/2']) await films.put(key, key, headers)
    await policies.set(denial({ Action: 's3:GetObject', Resource: `${FILMS}/secret/*` }))
    const hidden = { open: { mtime: '1' }, 'secret/1': undefined, 'secret/2': undefined }
    t.same(metadataIn(await list(films)), hidden)
    t.equal((await films.head('secret/1')).status, 403, 'as HEAD refuses it')
    await policies.clear()
    t.same(metadataIn(await list(films, '&prefix=secret/2')), { 'secret/2': { mtime: '1' } })
  })

  await t.test('ends a page that has much metadata early, and continues behind it', async (t) => {
    const films = await BucketClient.start(t)
    const headers = { 'x-service-meta-text': 'x'.repeat(2000) }
    const keys = Array.from({ length: 140 }, (_, n) => `${n}`.padStart(3, '0'))
    await Promise.all(keys.map((key) => films.put(key, '', headers)))
    const first = await list(films)
    const counted = first.json['keyCount'] as number
    // Of 2,004 bytes each.
    t.equal(counted, Math.ceil((256 * 1024) / 2004))
    t.equal(first.json['isTruncated'], true)
    const second = await list(films, `&continuationToken=${String(first.json['nextContinuationToken'])}`)
    t.equal(second.json['isTruncated'], false)
    t.same([...read(first).keys, ...read(second).keys], keys)
    const plain = await films.ask({ path: '/api/v1/buckets/films/objects' })
    t.equal(plain.json['keyCount'], keys.length, 'a page without it has them all')
  })
})
