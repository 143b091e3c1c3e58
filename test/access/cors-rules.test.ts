/** Which CORS configurations are valid, and the error for each invalid one. */
import t from 'tap'
import { checkCorsRules, CORS_RULES_MAX, type CorsRuleInput } from '../../src/access/cors-rules.ts'

const GOOD: CorsRuleInput = { allowedOrigins: ['https://app.example.com'], allowedMethods: ['GET'] }

function faultOf(change: object): string {
  try {
    checkCorsRules([{ ...GOOD, ...change }])
    return 'accepted'
  } catch (error) {
    t.match(error, { code: 'invalid_request' })
    return error instanceof Error ? error.message.replace(/^[^"]*/, '') : ''
  }
}

t.test('members that are not given stay absent', async (t) => {
  const none = { id: null, allowedHeaders: null, exposeHeaders: null, maxAgeSeconds: null }
  t.strictSame(checkCorsRules([GOOD]), [{ ...GOOD, ...none }])
  const full = { ...GOOD, id: 'web', allowedHeaders: [], exposeHeaders: ['ETag'], maxAgeSeconds: 0 }
  t.strictSame(checkCorsRules([full]), [full])
})

t.test('1 to 100 rules [cors.rules.count]', async (t) => {
  t.equal(checkCorsRules(Array.from({ length: CORS_RULES_MAX }, () => GOOD)).length, 100)
  t.throws(() => checkCorsRules(Array.from({ length: 101 }, () => GOOD)), /"rules" has 101 rules/)
  t.throws(() => checkCorsRules([]), /"rules" is empty/)
})

t.test('an id has 1 to 255 characters and belongs to one rule [cors.rules.id]', async (t) => {
  for (const id of ['a', '😀'.repeat(255), 'two words', '*']) t.equal(faultOf({ id }), 'accepted', id)
  for (const id of ['', 'a'.repeat(256), 'a\nb', '\ud800'])
    t.match(faultOf({ id }), /^"rules\.0\.id" must have 1 to 255 characters/)
  const twice = [
    { ...GOOD, id: 'a' },
    { ...GOOD, id: 'b' },
    { ...GOOD, id: 'a' },
  ]
  t.throws(() => checkCorsRules(twice), /"rules\.2\.id" is "a" like that of an earlier rule/)
  t.doesNotThrow(() => checkCorsRules([GOOD, GOOD]), 'rules without an id do not clash')
})

t.test('an origin has one * at most, a scheme and no path [cors.rules.origins]', async (t) => {
  const good = [
    '*',
    'null',
    'https://app.example.com',
    'http://127.0.0.1:8080',
    'http://[::1]:3000',
    'https://*.example.com',
    'https://*',
    'http://localhost:*',
    '*.example.com',
    '*://app.example.com',
    'chrome-extension://abcdef',
    'HTTPS://App.Example.com',
  ]
  for (const origin of good) t.equal(faultOf({ allowedOrigins: [origin] }), 'accepted', origin)
  t.match(
    faultOf({ allowedOrigins: ['*', 'https://*.*.com'] }),
    /^"rules\.0\.allowedOrigins\.1" is .* one "\*" at most$/,
  )
  const bad = [
    'https://app.example.com/',
    'https://app.example.com/app',
    'https://*/app',
    'https://app.example.com?x',
    'https://me@app.example.com',
    'app.example.com',
    'localhost:3000',
    'https://',
    '://app.example.com/',
    'https://bücher.example',
    'https://a b',
    'https://a\r\nx: y',
  ]
  for (const origin of bad)
    t.match(
      faultOf({ allowedOrigins: [origin] }),
      /^"rules\.0\.allowedOrigins\.0" is .*scheme:\/\/host/,
      origin,
    )
  t.match(faultOf({ allowedOrigins: [''] }), /allowedOrigins\.0" is "": it must have 1 to 255 characters/)
  t.match(faultOf({ allowedOrigins: [`https://${'a'.repeat(255)}`] }), /1 to 255 characters/)
  t.match(faultOf({ allowedOrigins: [] }), /^"rules\.0\.allowedOrigins" is empty/)
})

t.test('only the five methods, in capitals [cors.rules.methods]', async (t) => {
  t.equal(faultOf({ allowedMethods: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] }), 'accepted')
  for (const method of ['get', 'PATCH', 'OPTIONS', '*', 'GET,PUT'])
    t.equal(
      faultOf({ allowedMethods: ['GET', method] }),
      `"rules.0.allowedMethods.1" is "${method}": give one of GET, HEAD, PUT, POST, DELETE`,
    )
  t.match(faultOf({ allowedMethods: [] }), /^"rules\.0\.allowedMethods" is empty/)
})

t.test('a header has one * at most [cors.rules.headers]', async (t) => {
  for (const name of ['*', 'content-type', 'X-Service-*', '*-Id', 'x-*-y'])
    t.equal(faultOf({ allowedHeaders: [name] }), 'accepted', name)
  t.match(faultOf({ allowedHeaders: ['x-*-*'] }), /^"rules\.0\.allowedHeaders\.0" is .*one "\*" at most/)
  for (const name of ['a b', 'a,b', 'a:b', 'é', 'a\n'])
    t.match(faultOf({ allowedHeaders: [name] }), /no name of a header/, name)
  for (const name of ['ETag', 'x-service-version-id', '*'])
    t.equal(faultOf({ exposeHeaders: [name] }), 'accepted', name)
  t.match(faultOf({ exposeHeaders: ['ETag', 'x-service-*'] }), /^"rules\.0\.exposeHeaders\.1" .* in full/)
  t.match(faultOf({ exposeHeaders: ['a b'] }), /no name of a header/)
})

t.test('maxAgeSeconds is a whole number from 0 on [cors.rules.max-age]', async (t) => {
  for (const maxAgeSeconds of [0, 600, 2 ** 31 - 1]) t.equal(faultOf({ maxAgeSeconds }), 'accepted')
  for (const maxAgeSeconds of [-1, 1.5, 2 ** 31, Number.NaN, 1e300])
    t.match(faultOf({ maxAgeSeconds }), /^"rules\.0\.maxAgeSeconds" is .*whole number/)
})
