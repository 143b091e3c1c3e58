/**
 * DeleteObjects: each key by itself, and the whole only with a digest.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { S3World } from './s3-world.ts'

const escaped = (key: string) => key.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const object = (key: string, inner = '') => `<Object><Key>${escaped(key)}</Key>${inner}</Object>`
const md5 = (body: string) => createHash('md5').update(body).digest('base64')

async function remove(s3: S3World, inner: string, headers: Readonly<Record<string, string>> = {}) {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</Delete>`
  return s3.call({
    method: 'POST',
    path: '/photos?delete',
    body,
    headers: { 'content-md5': md5(body), ...headers },
  })
}

/** Name of each result and the texts of its elements. */
function shown(answer: Awaited<ReturnType<typeof remove>>) {
  assert.equal(answer.status, 200, answer.bytes.toString())
  return answer.xml?.children.map(({ name, children }) => [
    name,
    ...children.map((one) => `${one.name}=${one.text}`),
  ])
}

t.test('DeleteObjects', async (t) => {
  const s3 = await S3World.start(t)
  const put = (key: string) =>
    s3.call({ method: 'PUT', path: `/photos/${encodeURIComponent(key)}`, body: 'x' })
  for (const key of ['a&b', 'c', 'd<e']) await put(key)

  t.same(shown(await remove(s3, object('a&b') + object('absent') + object('k'.repeat(1025)))), [
    ['Deleted', 'Key=a&b'],
    ['Deleted', 'Key=absent'],
    [
      'Error',
      `Key=${'k'.repeat(1025)}`,
      'Code=InvalidURI',
      'Message=The object key has 1025 bytes of UTF-8, at most 1024',
    ],
  ])
  t.equal((await s3.call({ path: '/photos/a%26b' })).status, 404)
  const quiet = await remove(s3, `<Quiet>true</Quiet>${object('c')}${object('')}`)
  t.same(shown(quiet), [['Error', 'Key=', 'Code=InvalidURI', 'Message=The object key is empty']])
  t.equal((await s3.call({ path: '/photos/c' })).status, 404)

  await t.test('needs a digest that is right', async (t) => {
    const body = `<Delete>${object('d<e')}</Delete>`
    const ask = { method: 'POST', path: '/photos?delete', body }
    t.match(await s3.call(ask), { status: 400, s3Code: 'InvalidRequest' })
    const wrong = { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }
    t.match(await s3.call({ ...ask, headers: wrong }), { status: 400, s3Code: 'BadDigest' })
    t.equal((await s3.call({ path: '/photos/d%3Ce' })).status, 200, 'nothing is deleted')
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(crc32(body))
    const right = { 'x-amz-sdk-checksum-algorithm': 'CRC32', 'x-amz-checksum-crc32': crc.toString('base64') }
    t.match(await s3.call({ ...ask, headers: right }), { status: 200 })
    t.equal((await s3.call({ path: '/photos/d%3Ce' })).status, 404)
  })

  await t.test('refuses bodies that are no list of 1 to 1,000 objects', async (t) => {
    const table = [
      ['', 400, 'MalformedXML'],
      [object('x').repeat(1001), 400, 'MalformedXML'],
      ['<Object></Object>', 400, 'MalformedXML'],
      [object('x', '<Size>3</Size>'), 501, 'NotImplemented'],
    ] as const
    for (const [inner, status, s3Code] of table) t.match(await remove(s3, inner), { status, s3Code })
    t.match(await remove(s3, object('x').repeat(1000)), { status: 200 })
  })
})

t.test('DeleteObjects with versions', async (t) => {
  const s3 = await S3World.start(t)
  const native = (path: string, method: string, body: object) =>
    s3.world.call({ method, path: `/api/v1/buckets${path}`, token: s3.token, body })
  await native('/photos/versioning', 'PUT', { status: 'Enabled' })
  const put = async (key: string) => s3.call({ method: 'PUT', path: `/photos/${key}`, body: key })
  const [kept, gone] = [await put('a'), await put('a')]
  const id = String(gone.headers['x-amz-version-id'])
  const of = (versionId: string, inner = '') => object('a', `<VersionId>${versionId}</VersionId>${inner}`)

  const marked = shown(await remove(s3, object('a')))
  const markerId = /DeleteMarkerVersionId=(.{26})/.exec(String(marked))?.[1] ?? ''
  t.same(marked, [['Deleted', 'Key=a', 'DeleteMarker=true', `DeleteMarkerVersionId=${markerId}`]])
  t.same(shown(await remove(s3, of(markerId) + of(id) + of(id))), [
    ['Deleted', 'Key=a', `VersionId=${markerId}`, 'DeleteMarker=true', `DeleteMarkerVersionId=${markerId}`],
    ['Deleted', 'Key=a', `VersionId=${id}`],
    ['Deleted', 'Key=a', `VersionId=${id}`],
  ])
  const left = String(kept.headers['x-amz-version-id'])
  const [refused] = shown(await remove(s3, of(left, '<ETag>"other"</ETag>'))) ?? []
  t.same(refused?.slice(0, 4), ['Error', 'Key=a', `VersionId=${left}`, 'Code=PreconditionFailed'])
  t.same(shown(await remove(s3, of(left, `<ETag>${String(kept.headers.etag)}</ETag>`))), [
    ['Deleted', 'Key=a', `VersionId=${left}`],
  ])
})

t.test('DeleteObjects authorizes each key, and a bypass of GOVERNANCE', async (t) => {
  const s3 = await S3World.start(t, {
    scopes: 'op=delete:bucket=photos:prefix=own/,op=write:bucket=photos:prefix=own/',
  })
  const denied = shown(await remove(s3, object('own/x') + object('other/x')))
  t.same(
    denied?.map(([name, key]) => [name, key]),
    [
      ['Deleted', 'Key=own/x'],
      ['Error', 'Key=other/x'],
    ],
  )
  t.ok(String(denied?.[1]).includes('Code=AccessDenied'))
  const bypass = shown(await remove(s3, object('own/x'), { 'x-amz-bypass-governance-retention': 'true' }))
  t.ok(String(bypass?.[0]).includes('Code=AccessDenied'), 'it needs the verb admin')
})
