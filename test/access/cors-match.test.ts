/** Which CORS rule answers a request, and with what. */
import fc from 'fast-check'
import t from 'tap'
import { matchCors } from '../../src/access/cors-match.ts'
import type { CorsMethod, CorsRule } from '../../src/state-machine/buckets/records.ts'

function rule(
  origins: readonly string[],
  methods: readonly CorsMethod[],
  headers?: readonly string[],
): CorsRule {
  const rest = { id: null, exposeHeaders: null, maxAgeSeconds: null }
  return { allowedOrigins: origins, allowedMethods: methods, allowedHeaders: headers ?? null, ...rest }
}

/** The allowed origin in the answer to a page of `origin` under a rule for `pattern`. */
const allowed = (pattern: string, origin: string): string | undefined =>
  matchCors([rule([pattern], ['GET'])], { origin, method: 'GET', headers: [] })?.allowOrigin

const headersPass = (patterns: readonly string[], headers: readonly string[]): boolean =>
  matchCors([rule(['*'], ['PUT'], patterns)], { origin: 'null', method: 'PUT', headers }) !== null

t.test('an origin matches a pattern, and the answer repeats it as sent [cors.match.origin]', async (t) => {
  const app = 'https://app.example.com'
  t.equal(allowed('*', app), '*')
  t.equal(allowed('*', 'null'), '*')
  t.equal(allowed('null', 'null'), 'null')
  for (const pattern of [app, 'https://*.example.com', 'https://*', '*.example.com', '*://app.example.com'])
    t.equal(allowed(pattern, app), app, pattern)
  t.equal(allowed('HTTPS://App.example.com', app), app, 'hosts are compared without regard to case')
  const otherOrigins = [
    'https://evil.example',
    'https://app.example.com.evil.example',
    'https://app.example.com:8443',
    'http://app.example.com',
    'https://xapp.example.com',
    'https://app-example.com',
    'null',
    '',
  ]
  for (const origin of otherOrigins) t.equal(allowed(app, origin), undefined, origin)
  for (const origin of [
    'https://example.com',
    'https://app.example.com.evil.example',
    'http://a.example.com',
  ])
    t.equal(allowed('https://*.example.com', origin), undefined, origin)
  t.equal(allowed('aba*aba', 'aba'), undefined, 'prefix and suffix of the pattern do not overlap')
  t.equal(allowed('https://a.*', 'https://a.b, https://c.d'), undefined, 'two origins are none')
  t.equal(allowed('*', 'https://a.b https://c.d'), undefined)
})

t.test('a rule matches only its methods, with regard to case', async (t) => {
  const of = (method: string) =>
    matchCors([rule(['*'], ['GET', 'PUT'])], { origin: 'null', method, headers: [] })
  for (const method of ['GET', 'PUT']) t.not(of(method), null)
  for (const method of ['HEAD', 'POST', 'DELETE', 'PATCH', 'put', '']) t.equal(of(method), null, method)
})

t.test('every header must fit, without regard to case [cors.match.headers]', async (t) => {
  t.ok(headersPass([], []))
  t.ok(headersPass(['Content-Type'], ['content-type']))
  t.ok(headersPass(['content-type'], ['CONTENT-TYPE']))
  t.ok(headersPass(['x-service-meta-*', 'content-type'], ['Content-Type', 'x-service-meta-camera']))
  t.ok(headersPass(['*'], ['anything', 'authorization']))
  t.notOk(headersPass([], ['content-type']))
  t.notOk(headersPass(['content-type'], ['content-type', 'x-other']))
  t.notOk(headersPass(['x-service-meta-*'], ['x-service-met']))
})

t.test('the first rule that fits decides [cors.match.first]', async (t) => {
  const first = rule(['https://a.example'], ['GET'])
  const second = { ...rule(['https://a.example', 'https://b.example'], ['GET', 'PUT']), id: 'second' }
  const third = { ...rule(['*'], ['PUT'], ['*']), id: 'third' }
  const ask = (origin: string, method: string, headers: readonly string[] = []) =>
    matchCors([first, second, third], { origin, method, headers })
  t.equal(ask('https://a.example', 'GET')?.rule, first)
  t.equal(ask('https://b.example', 'GET')?.rule, second)
  t.equal(ask('https://a.example', 'PUT')?.rule, second)
  t.strictSame(ask('https://a.example', 'PUT', ['x']), { rule: third, allowOrigin: '*' }, 'for its headers')
  t.equal(ask('https://c.example', 'GET'), null)
  t.equal(matchCors([], { origin: 'https://a.example', method: 'GET', headers: [] }), null)
})

t.test('a pattern matches exactly the texts with its prefix and suffix', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', ':'), maxLength: 5 })
  const patterned = fc.record({ before: text, after: text, origin: text, isMade: fc.boolean() })
  fc.assert(
    fc.property(patterned, ({ before, after, origin: middle, isMade }) => {
      const origin = isMade ? `${before}${middle}${after}` : middle
      fc.pre(origin !== '')
      const isLongEnough = origin.length >= before.length + after.length
      const begins = origin.slice(0, before.length) === before
      const ends = origin.slice(origin.length - after.length) === after
      return (allowed(`${before}*${after}`, origin) !== undefined) === (isLongEnough && begins && ends)
    }),
    { seed: 7, numRuns: 1000 },
  )
})
