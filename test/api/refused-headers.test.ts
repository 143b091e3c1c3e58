/**
 * Headers that ask for what is not there: refused by name, whatever they stand on.
 */
import t from 'tap'
import { REFUSED_HEADERS } from '../../src/api/refused-headers.ts'
import { BucketClient } from './bucket-client.ts'

/** One or more for each row of the table. */
const ASKED: Readonly<Record<string, string>> = {
  digest: 'sha-256=AAAA',
  'want-digest': 'sha-256',
  'want-content-digest': 'sha-256=10',
  'want-repr-digest': 'sha-512=3',
  'x-amz-checksum-sha256': 'AAAA',
  'x-amz-server-side-encryption': 'aws:kms',
  'x-amz-acl': 'public-read',
  'x-amz-meta-camera': 'x100',
  'x-http-method-override': 'DELETE',
  'x-http-method': 'DELETE',
  'x-method-override': 'DELETE',
  if: '(["x"])',
  'lock-token': '<urn:x>',
  overwrite: 'F',
  destination: '/api/v1/buckets/films/objects/other',
}

t.test(
  'a header that would be ignored is 501 by name [errors.not_implemented] [objects.put.unsupported]',
  async (t) => {
    const films = await BucketClient.start(t)
    await films.put('k')
    for (const { name } of REFUSED_HEADERS)
      t.ok(
        Object.keys(ASKED).some((asked) => name.test(asked)),
        String(name),
      )
    const link = await films.ask({
      method: 'POST',
      path: '/api/v1/sign-url',
      body: { method: 'GET', bucket: 'films', key: 'k' },
    })
    const signed = String(link.json['url']).replace(/^https?:\/\/[^/]+/, '')
    for (const [name, value] of Object.entries(ASKED)) {
      const headers = { [name]: value }
      const answers = {
        PUT: await films.put('new', 'hello', headers),
        GET: await films.get('k', headers),
        DELETE: await films.remove('k', headers),
        signed: await films.world.call({ path: signed, headers }),
        copy: await films.on('object-copy', 'new', {
          method: 'POST',
          body: { sourceBucket: 'films', sourceKey: 'k' },
          headers,
        }),
      }
      for (const [what, answer] of Object.entries(answers)) {
        t.match(answer, { status: 501, code: 'not_implemented' }, `${what} ${name}`)
        t.match(answer.json['message'], name, 'by its name')
      }
    }
    t.equal((await films.get('new')).status, 404, 'nothing was stored')
    t.equal((await films.get('k')).status, 200, 'nothing was deleted')
  },
)

t.test('a condition on a change that has none is refused, never ignored', async (t) => {
  const films = await BucketClient.start(t)
  const admin = await films.asAdmin()
  const rules = [{ allowedOrigins: ['*'], allowedMethods: ['GET'] }]
  const path = '/api/v1/buckets/films/cors'
  for (const name of ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since']) {
    const headers = { [name]: '*' }
    t.match(await admin.ask({ method: 'PUT', path, body: { rules }, headers }), { status: 501 }, name)
    t.equal((await admin.ask({ path, headers })).status, 404, 'nothing was set, and a read may ask so')
  }
  const own = { 'x-service-bypass-governance': 'true' }
  t.match(await films.remove('k', own), { status: 400, code: 'invalid_request' })
})

t.test('what asks for nothing is let through', async (t) => {
  const films = await BucketClient.start(t)
  const harmless = {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    prefer: 'respond-async',
    'x-amz-cf-id': 'by CloudFront',
    'x-amzn-trace-id': 'Root=1',
    'x-forwarded-for': '192.0.2.1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  }
  t.equal((await films.put('k', 'hello', harmless)).status, 200)
  t.equal((await films.get('k', harmless)).status, 200)
  t.equal((await films.world.call({ path: '/readyz', headers: { 'x-amz-acl': 'x' } })).status, 200, 'a probe')
})
