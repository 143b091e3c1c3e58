/**
 * The headers by which an upload says how its bytes are handed out: stored, given back, copied, bounded. [decisions 17]
 */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { fingerprintOf } from '../../src/operations/objects/fingerprint.ts'
import { commandLevel } from '../../src/state-machine/command-levels.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { ApiAnswer } from './api-world.ts'
import { BucketClient, etagOf } from './bucket-client.ts'
import { SignedClient } from './signed-client.ts'

const SENT = {
  'cache-control': 'max-age=3600, immutable',
  'content-disposition': 'attachment; filename="cat.txt"',
  'content-encoding': 'gzip',
  'content-language': 'de, en',
  expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
} as const
const MEMBERS = {
  cacheControl: SENT['cache-control'],
  contentDisposition: SENT['content-disposition'],
  contentEncoding: SENT['content-encoding'],
  contentLanguage: SENT['content-language'],
  expires: SENT.expires,
} as const
const NAMES = Object.keys(SENT) as (keyof typeof SENT)[]
const PACKED = gzipSync('hello, world')

const saidBy = ({ headers }: ApiAnswer) => Object.fromEntries(NAMES.map((name) => [name, headers[name]]))
const NOTHING = Object.fromEntries(NAMES.map((name) => [name, undefined]))

t.test('an upload keeps them, reads give them back [objects.put.representation]', async (t) => {
  const films = await BucketClient.start(t)
  const stored = await films.put('k', PACKED, SENT)
  t.match(stored, { status: 200, json: MEMBERS })
  t.same(saidBy(stored), NOTHING, 'an answer in JSON is not packed')
  t.same(saidBy(await films.get('k')), SENT)
  t.same(saidBy(await films.head('k')), SENT)
  const part = await films.get('k', { range: 'bytes=0-3' })
  t.equal(part.status, 206)
  t.same(part.bytes, PACKED.subarray(0, 4), 'a range is of the packed bytes')
  t.same(saidBy(part), SENT)
  t.same((await films.get('k')).bytes, PACKED, 'nothing is unpacked')
  const { 'cache-control': cacheControl, expires } = SENT
  const known = await films.get('k', { 'if-none-match': `"${etagOf(stored)}"` })
  t.equal(known.status, 304)
  t.same(saidBy(known), { ...NOTHING, 'cache-control': cacheControl, expires })
  const plain = await films.put('plain')
  t.notOk(Object.keys(MEMBERS).some((name) => name in plain.json))
  t.same(saidBy(await films.get('plain')), NOTHING)
  t.same(saidBy(await films.get('plain')), NOTHING)
  t.equal((await films.put('empty', 'x', { 'cache-control': '' })).status, 200, 'an empty one says nothing')
  t.same(saidBy(await films.get('empty')), NOTHING)
})

t.test('they are UTF-8 without control characters, 2 KiB together [limits.representation]', async (t) => {
  const films = await BucketClient.start(t)
  const utf8 = Buffer.from('attachment; filename="Käse.txt"').toString('latin1')
  // By hand: the client of Node would send this header in Latin-1.
  const head = `PUT /api/v1/buckets/films/objects/u HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${films.token}\r\nContent-Length: 1\r\n`
  const sent = Buffer.from(`${head}Content-Disposition: ${utf8}\r\n\r\nx`, 'latin1')
  t.match(await films.world.raw(sent), /^HTTP\/1\.1 200 /)
  for (const answer of [
    await films.get('u'),
    await films.head('u'),
    await films.get('u', { range: 'bytes=0-0' }),
  ])
    t.equal(answer.headers['content-disposition'], utf8)
  const refused: readonly (readonly [headers: Record<string, string>, status: number, code: string])[] = [
    [{ 'content-disposition': 'attachment; filename="K\u00e4se.txt"' }, 400, 'invalid_request'],
    [{ 'content-encoding': 'gzip;q=1' }, 400, 'invalid_request'],
    [{ 'content-encoding': 'gzip,' }, 400, 'invalid_request'],
    [{ 'content-encoding': 'aws-chunked' }, 501, 'not_implemented'],
    [{ 'content-encoding': 'gzip, AWS-Chunked' }, 501, 'not_implemented'],
    [{ 'cache-control': 'x'.repeat(2048) }, 400, 'invalid_request'],
    [{ 'cache-control': 'x'.repeat(1024), 'content-disposition': 'x'.repeat(1024) }, 400, 'invalid_request'],
  ]
  for (const [headers, status, code] of refused)
    t.match(await films.put('no', 'x', headers), { status, code }, JSON.stringify(headers).slice(0, 60))
  t.equal((await films.get('no')).status, 404)
  const beside = { 'cache-control': 'x'.repeat(2000), 'x-service-meta-a': 'x'.repeat(2000) }
  t.equal((await films.put('k', 'x', beside)).status, 200, 'they do not count as user metadata')
})

t.test(
  'a signed URL keeps and gives them back, what it names itself wins [signed-urls.representation]',
  async (t) => {
    const signed = await SignedClient.start(t)
    const { films } = signed
    const upload = await signed.link({ method: 'PUT', key: 's' })
    t.match(await signed.put(upload, PACKED, SENT), { status: 200, json: MEMBERS })
    t.same(saidBy(await signed.get(await signed.link({ method: 'GET', key: 's' }))), SENT)
    const own = { method: 'GET', key: 's', responseContentDisposition: 'inline' }
    const renamed = await signed.get(await signed.link(own))
    t.same(saidBy(renamed), { ...SENT, 'content-disposition': 'inline' })
    await films.put('bare')
    const bare = await signed.get(await signed.link({ method: 'GET', key: 'bare' }))
    t.equal(bare.headers['cache-control'], 'private, no-cache', 'unless the object says otherwise')
  },
)

t.test('a copy keeps them, or replaces all of them [objects.copy.representation]', async (t) => {
  const films = await BucketClient.start(t)
  await films.put('k', PACKED, SENT)
  t.match(await films.copy('same', { sourceKey: 'k', cacheControl: 'ignored' }), {
    status: 200,
    json: MEMBERS,
  })
  t.same(saidBy(await films.get('same')), SENT)
  const other = { sourceKey: 'k', metadataDirective: 'REPLACE', contentLanguage: 'fr' }
  const replaced = await films.copy('other', other)
  t.equal(replaced.json['contentLanguage'], 'fr')
  t.same(saidBy(await films.get('other')), { ...NOTHING, 'content-language': 'fr' })
  const bad = { sourceKey: 'k', metadataDirective: 'REPLACE', cacheControl: 'a\nb' }
  t.match(await films.copy('bad', bad), { status: 400, code: 'invalid_request' })
})

t.test(
  'a multipart upload takes them at its beginning, in JSON or in headers [multipart.representation]',
  async (t) => {
    const films = await BucketClient.start(t)
    const complete = async (key: string, started: ApiAnswer) => {
      t.equal(started.status, 201)
      const at = `multipart/${String(started.json['uploadId'])}`
      const part = await films.on(`${at}/parts/1`, key, { method: 'PUT', body: PACKED })
      const body = { parts: [{ partNumber: 1, etag: etagOf(part) }] }
      t.match(await films.on(`${at}/complete`, key, { method: 'POST', body }), { status: 200, json: MEMBERS })
      t.same(saidBy(await films.get(key)), SENT)
    }
    await complete('json', await films.on('multipart', 'json', { method: 'POST', body: MEMBERS }))
    await complete('headers', await films.on('multipart', 'headers', { method: 'POST', headers: SENT }))
    const { contentEncoding, contentLanguage } = MEMBERS
    const { 'cache-control': cacheControl, 'content-disposition': disposition, expires } = SENT
    const beside = { 'cache-control': cacheControl, 'content-disposition': disposition, expires }
    const body = { contentEncoding, contentLanguage }
    await complete('both', await films.on('multipart', 'both', { method: 'POST', body, headers: beside }))
    t.match(
      await films.on('multipart', 'x', { method: 'POST', body: MEMBERS, headers: { expires: '0' } }),
      { status: 400, code: 'invalid_request' },
      'not in both',
    )
  },
)

t.test('they belong to what an idempotency key is bound to', async (t) => {
  const films = await BucketClient.start(t)
  const md5 = 'XUFAKrxLKna5cZ2REBfFkg=='
  const headers = { 'idempotency-key': 'one', 'content-md5': md5, 'cache-control': 'no-store' }
  t.equal((await films.put('k', 'hello', headers)).status, 200)
  t.equal((await films.put('k', 'hello', headers)).headers['idempotent-replayed'], 'true')
  for (const other of [{ 'cache-control': 'private' }, { 'cache-control': '' }, { 'content-language': 'de' }])
    t.match(await films.put('k', 'hello', { ...headers, ...other }), {
      status: 409,
      code: 'idempotency_conflict',
    })
  t.equal(
    fingerprintOf({ size: 5, contentTag: 'e', contentType: 'a/b', metadata: { b: '2', a: '1' } }),
    '6ca9759968671df05fe81feeb42d4e864e56091368a27917c61a7a7153e2d231',
    'an upload without them has the fingerprint that it had before',
  )
})

t.test('a command with them needs level 4, one without the level that it had', async (t) => {
  const version = {
    tenantId: 't',
    bucket: 'b',
    key: 'k',
    contentType: 'a/b',
    metadata: {},
    masterKeyId: 'm',
    tags: {},
    retention: null,
    legalHold: false,
    precondition: { ifMatch: null, ifNoneMatch: null },
  }
  const commands: readonly Command[] = [
    { type: 'copyObject', ...version, source: { bucket: 'b', key: 'a', versionId: 'v' } },
    { type: 'createUpload', ...version, initiator: 'a', expiresInMs: 1, checksumAlg: null },
    {
      type: 'putObject',
      ...version,
      size: 0,
      etag: 'e',
      checksums: {},
      body: { kind: 'empty' },
      idempotency: null,
    },
  ]
  for (const command of commands) {
    t.equal(commandLevel(command), 1, command.type)
    const said = { ...command, representation: { expires: '0' } }
    t.equal(commandLevel(said), 4, command.type)
  }
})
