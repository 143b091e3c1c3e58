/**
 * The token of a signed URL: one spelling, no forgery, read as a whole or refused.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { decodeSignedUrl, encodeSignedUrl, type SignedUrlClaims } from '../../src/access/signed-url-token.ts'
import { encodeToken } from '../../src/access/token.ts'
import { testTerms } from './signed-url-terms.ts'

const KEY = createSecretKey(Buffer.alloc(32, 5))
const HEAD = {
  v: 1,
  typ: 'url',
  ak: 'AKTEST',
  kv: 3,
  tid: 'acme',
  jti: 'j',
  expiresAt: 1_795_000_000_123,
} as const
const FULL: SignedUrlClaims = {
  ...HEAD,
  ...testTerms({
    method: 'PUT',
    key: 'ä/b',
    contentType: 'image/jpeg',
    contentLengthMax: 10,
    checksumAlg: 'SHA256',
    checksumVal: 'x=',
    idempotencyKey: 'i',
    responseContentType: 'a/b',
    responseContentDisposition: 'inline',
    reason: 'why',
  }),
}

/** A token with a right MAC around any payload text. */
function signed(payload: string, key = KEY): string {
  const encoded = Buffer.from(payload).toString('base64url')
  return `svcurl_${encoded}.${createHmac('sha256', key).update(encoded).digest('base64url')}`
}
const without = (name: string): object =>
  Object.fromEntries(Object.entries(FULL).filter(([key]) => key !== name))

t.test('decodeSignedUrl', async (t) => {
  const token = encodeSignedUrl(FULL, KEY)

  t.test('gives back every claim, and [decisions 1] a null claim is not in the payload', async (t) => {
    t.strictSame(decodeSignedUrl(token, [createSecretKey(Buffer.alloc(32, 6)), KEY]), FULL)
    const bare: SignedUrlClaims = { ...HEAD, ...testTerms() }
    const short = encodeSignedUrl(bare, KEY)
    t.strictSame(decodeSignedUrl(short, [KEY]), bare)
    t.equal(short, signed(JSON.stringify({ ...HEAD, method: 'GET', bucket: 'photos', key: 'in/1' })))
  })

  t.test(
    'refuses a token with any one bit of any byte turned, any byte dropped or doubled [signed-urls.token.changed] [signed-urls.token.constraints]',
    async (t) => {
      const bytes = Buffer.from(token, 'latin1')
      let accepted = 0
      for (let at = 0; at < bytes.length; at += 1) {
        for (let bit = 0; bit < 8; bit += 1) {
          const changed = Buffer.from(bytes)
          changed[at] = (changed[at] ?? 0) ^ (1 << bit)
          if (decodeSignedUrl(changed.toString('latin1'), [KEY]) !== null) accepted += 1
        }
        const [before, after] = [token.slice(0, at), token.slice(at)]
        if (decodeSignedUrl(before + after.slice(1), [KEY]) !== null) accepted += 1
        if (decodeSignedUrl(before + after.charAt(0) + after, [KEY]) !== null) accepted += 1
      }
      t.equal(accepted, 0)
    },
  )

  t.test('covers every member by the MAC: a changed member with the old MAC is refused', async (t) => {
    const mac = token.slice(token.indexOf('.'))
    for (const name of Object.keys(FULL)) {
      const changed = Buffer.from(JSON.stringify({ ...FULL, [name]: 'x' })).toString('base64url')
      t.equal(decodeSignedUrl(`svcurl_${changed}${mac}`, [KEY]), null, name)
    }
  })

  t.test(
    'refuses a signed payload that it does not understand: a constraint of a later version',
    async (t) => {
      t.strictSame(
        decodeSignedUrl(signed(JSON.stringify(FULL)), [KEY]),
        FULL,
        'without that constraint it is accepted',
      )
      const changes: object[] = [
        { notBefore: 5 },
        { v: 2 },
        { typ: 'api' },
        { ak: 7 },
        { kv: '3' },
        { kv: 1.5 },
      ]
      changes.push({ tid: null }, { expiresAt: -1 }, { expiresAt: 1e300 }, { jti: {} }, { method: 'DELETE' })
      changes.push({ bucket: null }, { key: 5 }, { keyPrefix: 'both' }, { key: undefined }, { reason: [] })
      changes.push(
        { contentLengthMax: '10' },
        { contentLengthMax: 1.5 },
        { contentType: 5 },
        { checksumAlg: 1 },
      )
      for (const change of changes)
        t.equal(
          decodeSignedUrl(signed(JSON.stringify({ ...FULL, ...change })), [KEY]),
          null,
          JSON.stringify(change),
        )
      for (const name of Object.keys(HEAD))
        t.equal(decodeSignedUrl(signed(JSON.stringify(without(name))), [KEY]), null, `no ${name}`)
      for (const payload of ['null', '[]', '"x"', '1', '{}', '{"__proto__":{}}'])
        t.equal(decodeSignedUrl(signed(payload), [KEY]), null, payload)
    },
  )

  t.test('refuses every other kind and form [signed-urls.token.kind]', async (t) => {
    const tail = token.slice('svcurl_'.length)
    const claims = { v: 1, typ: 'api', ak: 'AKTEST', kv: 3, tid: 'acme', iat: 1, exp: 9e9, jti: 'j' } as const
    const bearer = encodeToken(claims, KEY)
    const others = [bearer, bearer.replace('svctk_', 'svcurl_'), `svctk_${tail}`, `SVCURL_${tail}`, tail]
    others.push(` ${token}`, `${token} `, `${token}\n`, `${token}=`, token.replace('.', '..'), '', 'svcurl_.')
    others.push(encodeSignedUrl(FULL, createSecretKey(Buffer.alloc(32, 4))))
    others.push(encodeSignedUrl({ ...FULL, reason: 'x'.repeat(8192) }, KEY))
    for (const other of others)
      t.equal(decodeSignedUrl(other, [KEY]), null, JSON.stringify(other.slice(0, 40)))
  })

  t.test('never throws and never accepts, for any text', async () => {
    const property = fc.property(fc.string(), fc.string(), (a, b) => {
      return decodeSignedUrl(a, [KEY]) === null && decodeSignedUrl(`svcurl_${a}.${b}`, [KEY]) === null
    })
    fc.assert(property, { numRuns: 500, seed: 8 })
  })
})
