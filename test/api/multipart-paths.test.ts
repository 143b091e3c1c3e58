/**
 * Upload ids and object keys in a path, distinguished only by form. [decisions 16]
 */
import t from 'tap'
import { MultipartClient, UPLOADS } from './multipart-client.ts'

const ID = 'mpu_01JD0000000000000000000000'
const KEYS = [
  'x/complete/y',
  'complete/y',
  'complete',
  'x/parts/1/y',
  'parts/1/y',
  'mpu_short/complete/y',
  `${ID}0/complete/y`,
  `${ID.slice(0, -1)}-/complete/y`,
  `x${ID}/complete/y`,
  `${ID.toUpperCase()}/complete/y`,
  ID,
  `${ID}/`,
  `${ID}/complete`,
  `${ID}/completed/y`,
  `${ID}/parts/1/y`,
  `/${ID}/complete/y`,
  'a//b',
  '../a',
  './complete/../y',
  'a b?c#d&e=f%+',
  'é/\u{1F600}',
]

const pathOf = (key: string): string => key.split('/').map(encodeURIComponent).join('/')

t.test(
  '[decisions 16] a key that looks like another path can be created, filled, completed and read [multipart.paths]',
  async (t) => {
    const client = await MultipartClient.start(t)
    for (const key of KEYS) {
      const started = await client.ask('POST', pathOf(key), {})
      t.match(started, { status: 201, json: { key } }, key)
      const upload = { key: pathOf(key), id: String(started.json['uploadId']) }
      const part = await client.part(upload, 1, key)
      const listed = await client.ask('GET', `${upload.id}/parts/${upload.key}`)
      t.match(listed.json, { key, parts: [part] }, key)
      t.match(await client.complete(upload, [part]), { status: 200, json: { key } }, key)
      t.equal((await client.get(pathOf(key))).bytes.toString(), key)
      t.equal((await client.abort(upload)).status, 204)
    }
  },
)

t.test('a key in the form of a completion is written with its first letter encoded', async (t) => {
  const client = await MultipartClient.start(t)
  const key = `${ID}/complete/y`
  t.match(await client.ask('POST', key, { parts: [] }), { status: 404, code: 'not_found' }, 'a completion')
  t.match(await client.ask('POST', `%6D${key.slice(1)}`, {}), { status: 201, json: { key } })
})

t.test('an upload is found under its own key and bucket only', async (t) => {
  const client = await MultipartClient.start(t)
  const { world, token } = client
  const id = await client.begin('k')
  const notFound = { status: 404, code: 'not_found' }
  for (const other of [
    id.replace('mpu_', 'mpu-'),
    id.toLowerCase(),
    `${id}0`,
    ID,
    'nope',
    '%00',
    'a%2Fb',
    '%ff',
  ]) {
    t.match(await client.put({ key: 'k', id: other }, 1, 'x'), { status: /400|404/ }, other)
    t.match(await client.ask('GET', `${other}/parts/k`), { status: /400|404/ }, other)
  }
  t.match(await client.put({ key: 'other', id }, 1, 'x'), notFound)
  t.match(await client.ask('GET', `${id}/parts/other`), notFound)
  t.match(await client.complete({ key: 'other', id }, [{ partNumber: 1, etag: 'x' }]), notFound)
  t.equal((await client.abort({ key: 'other', id })).status, 204)
  const elsewhere = UPLOADS.replace('photos', 'absent')
  for (const [method, rest] of [
    ['POST', '/k'],
    ['GET', ''],
    ['GET', `/${id}/parts/k`],
    ['PUT', `/${id}/parts/1/k`],
    ['DELETE', `/${id}/k`],
  ] as const) {
    const sized = method === 'PUT' ? { body: 'x' } : {}
    t.match(await world.call({ method, path: `${elsewhere}${rest}`, token, ...sized }), notFound, method)
  }
  await world.memory.tenant('rival')
  const rival = await world.memory.bearer('rival')
  t.match(await world.call({ path: `${UPLOADS}/${id}/parts/k`, token: rival }), notFound)
  t.equal((await client.ask('GET', `${id}/parts/k`)).status, 200, 'nothing of this touched it')
})

t.test('paths that lead nowhere', async (t) => {
  const client = await MultipartClient.start(t)
  t.match(await client.ask('PATCH', 'k'), { status: 405, headers: { allow: 'POST' } })
  t.match(await client.ask('DELETE', ''), { status: 405 })
  t.match(await client.ask('POST', '', {}), { status: 405 })
  t.match(await client.ask('POST', '%00', {}), { status: 400, code: 'invalid_key' })
  t.match(await client.ask('PUT', `${ID}/parts/1/`, 'x'), { status: 400, code: 'invalid_key' })
  t.match(await client.ask('PUT', `${ID}/parts/1/%zz`, 'x'), { status: 400, code: 'invalid_key' })
  t.match(await client.ask('PUT', `${ID}/parts/1`, 'x'), { status: /404|405/ })
})

t.test('[decisions 14] scopes hold for uploads as for objects [multipart.scope]', async (t) => {
  const client = await MultipartClient.start(t)
  const { world } = client
  const id = await client.begin('in/k')
  const as = async (scopes: string, method: string, rest: string, body?: string | object) => {
    const token = await world.memory.bearer('acme', scopes)
    const sent = body === undefined ? {} : { body }
    return (await world.call({ method, path: `${UPLOADS}${rest}`, token, ...sent })).status
  }
  const inOnly = 'op=write:bucket=photos:prefix=in/,op=read:bucket=photos:prefix=in/'
  t.equal(await as('read', 'POST', '/in/k', {}), 403)
  t.equal(await as('read', 'POST', '/in/k', { unknown: 1 }), 403, 'and no field is explained to it')
  t.equal(await as('read', 'PUT', `/${id}/parts/1/in/k`, 'x'), 403)
  t.equal(await as('delete', 'DELETE', `/${id}/in/k`), 403, 'giving up is writing')
  t.equal(await as('read', 'POST', `/${id}/complete/in/k`, { parts: [] }), 403)
  t.equal(await as('write', 'GET', `/${id}/parts/in/k`), 403)
  t.equal(await as(inOnly, 'POST', '/out/k', {}), 403)
  t.equal(await as(inOnly, 'GET', ''), 403, 'the prefix must be that of the scope')
  t.equal(await as(inOnly, 'GET', '?prefix=in/'), 200)
  t.equal(await as(inOnly, 'PUT', `/${id}/parts/1/in/k`, 'x'), 200)
  t.equal(await as(inOnly, 'DELETE', `/${id}/in/k`), 204)
})

t.test(
  'listMultipartUploads continues where a page ended [multipart.list] [multipart.list.pages] [multipart.next-absent]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const started: { readonly key: string; readonly uploadId: string }[] = []
    for (const key of ['a', 'b', 'b', 'b', 'b/1', 'c'])
      started.push({ key, uploadId: await client.begin(key) })
    const walk = async (query: Record<string, string>): Promise<object[]> => {
      const found: object[] = []
      for (let from: Record<string, string> = {}; ; ) {
        const page = await client.ask('GET', `?${new URLSearchParams({ ...query, ...from }).toString()}`)
        t.equal(page.status, 200)
        const uploads = page.json['uploads'] as { key: string; uploadId: string }[]
        found.push(...uploads.map(({ key, uploadId }) => ({ key, uploadId })))
        if (page.json['isTruncated'] !== true) {
          t.notOk('nextKeyMarker' in page.json)
          return found
        }
        const { nextKeyMarker, nextUploadIdMarker } = page.json
        from = { keyMarker: String(nextKeyMarker), uploadIdMarker: String(nextUploadIdMarker) }
      }
    }
    for (const maxUploads of ['1', '2', '5', '6', '1000'])
      t.strictSame(await walk({ maxUploads }), started, `${maxUploads} a page`)
    t.strictSame(await walk({ prefix: 'b', maxUploads: '2' }), started.slice(1, 5))
    t.strictSame(
      await walk({ keyMarker: 'b' }),
      started.slice(4),
      'without an id, all of a key are passed over',
    )
    const [first] = (await client.ask('GET', '?maxUploads=1')).json['uploads'] as object[]
    t.match(first, { key: 'a', initiator: /^AK/, createdAt: /Z$/, expiresAt: /Z$/ })
    t.match(await client.ask('GET', '?max-uploads=1'), { status: 400, code: 'invalid_argument' })
  },
)

t.test('listParts continues where a page ended [multipart.parts.pages]', async (t) => {
  const client = await MultipartClient.start(t)
  const upload = { key: 'k', id: await client.begin('k') }
  const numbers = [1, 2, 9, 10, 256, 4096, 9999, 10_000]
  for (const number of numbers) await client.part(upload, number, `part ${number}`)
  for (const maxParts of ['1', '3', '8']) {
    const found: number[] = []
    for (let marker = '0'; ; ) {
      const page = await client.ask(
        'GET',
        `${upload.id}/parts/k?maxParts=${maxParts}&partNumberMarker=${marker}`,
      )
      found.push(...(page.json['parts'] as { partNumber: number }[]).map(({ partNumber }) => partNumber))
      if (page.json['isTruncated'] !== true) break
      marker = String(page.json['nextPartNumberMarker'])
    }
    t.strictSame(found, numbers, `${maxParts} a page`)
  }
  for (const marker of ['10000', '65536', '99999999999999'])
    t.match((await client.ask('GET', `${upload.id}/parts/k?partNumberMarker=${marker}`)).json, {
      parts: { length: 0 },
      isTruncated: false,
    })
  t.match(await client.ask('GET', `${upload.id}/parts/k?partNumberMarker=-5&maxParts=0`), {
    json: { maxParts: 1, partNumberMarker: 0, isTruncated: true },
  })
})
