/**
 * Listing through HTTP: order, pages, prefixes, and tokens that fit one query only.
 */
import t from 'tap'
import { ApiWorld, type ApiAnswer } from './api-world.ts'

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
