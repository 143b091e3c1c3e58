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
const KEYS = { signing: KEY, holder: createSecretKey(Buffer.alloc(32, 7)) }
const OTHERS = { signing: createSecretKey(Buffer.alloc(32, 6)), holder: KEY }
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
  const token = encodeSignedUrl(FULL, KEYS)

  t.test('gives back every claim, and [decisions 1] a null claim is not in the payload', async (t) => {
    t.strictSame(decodeSignedUrl(token, [OTHERS, KEYS]), FULL)
    const bare: SignedUrlClaims = { ...HEAD, ...testTerms() }
    const short = encodeSignedUrl(bare, KEYS)
    t.strictSame(decodeSignedUrl(short, [KEYS]), bare)
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
          if (decodeSignedUrl(changed.toString('latin1'), [KEYS]) !== null) accepted += 1
        }
        const [before, after] = [token.slice(0, at), token.slice(at)]
        if (decodeSignedUrl(before + after.slice(1), [KEYS]) !== null) accepted += 1
        if (decodeSignedUrl(before + after.charAt(0) + after, [KEYS]) !== null) accepted += 1
      }
      t.equal(accepted, 0)
    },
  )

  t.test('covers every member by the MAC: a changed member with the old MAC is refused', async (t) => {
    const mac = token.slice(token.indexOf('.'))
    for (const name of Object.keys(FULL)) {
      const changed = Buffer.from(JSON.stringify({ ...FULL, [name]: 'x' })).toString('base64url')
      t.equal(decodeSignedUrl(`svcurl_${changed}${mac}`, [KEYS]), null, name)
    }
  })

  t.test(
    'refuses a signed payload that it does not understand: a constraint of a later version',
    async (t) => {
      t.strictSame(
        decodeSignedUrl(signed(JSON.stringify(FULL)), [KEYS]),
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
          decodeSignedUrl(signed(JSON.stringify({ ...FULL, ...change })), [KEYS]),
          null,
          JSON.stringify(change),
        )
      for (const name of Object.keys(HEAD))
        t.equal(decodeSignedUrl(signed(JSON.stringify(without(name))), [KEYS]), null, `no ${name}`)
      for (const payload of ['null', '[]', '"x"', '1', '{}', '{"__proto__":{}}'])
        t.equal(decodeSignedUrl(signed(payload), [KEYS]), null, payload)
    },
  )

  t.test('refuses every other kind and form [signed-urls.token.kind]', async (t) => {
    const tail = token.slice('svcurl_'.length)
    const claims = { v: 1, typ: 'api', ak: 'AKTEST', kv: 3, tid: 'acme', iat: 1, exp: 9e9, jti: 'j' } as const
    const bearer = encodeToken(claims, KEY)
    const others = [bearer, bearer.replace('svctk_', 'svcurl_'), `svctk_${tail}`, `SVCURL_${tail}`, tail]
    others.push(` ${token}`, `${token} `, `${token}\n`, `${token}=`, token.replace('.', '..'), '', 'svcurl_.')
    others.push(encodeSignedUrl(FULL, { ...KEYS, signing: createSecretKey(Buffer.alloc(32, 4)) }))
    others.push(encodeSignedUrl({ ...FULL, reason: 'x'.repeat(8192) }, KEYS))
    for (const other of others)
      t.equal(decodeSignedUrl(other, [KEYS]), null, JSON.stringify(other.slice(0, 40)))
  })

  t.test('never throws and never accepts, for any text', async () => {
    const property = fc.property(fc.string(), fc.string(), (a, b) => {
      return decodeSignedUrl(a, [KEYS]) === null && decodeSignedUrl(`svcurl_${a}.${b}`, [KEYS]) === null
    })
    fc.assert(property, { numRuns: 500, seed: 8 })
  })
})

t.test('[record 40] a token of version 2', async (t) => {
  const hidden: SignedUrlClaims = { ...FULL, v: 2 }
  const token = encodeSignedUrl(hidden, KEYS)
  const payload = Buffer.from(token.slice('svcurl_'.length).split('.')[0] ?? '', 'base64url').toString()

  t.test('names neither access key nor tenant, and gives both back to its maker', async (t) => {
    for (const text of ['AKTEST', 'acme', '"kv"', '"ak"', '"tid"']) t.notOk(payload.includes(text), text)
    t.strictSame(decodeSignedUrl(token, [OTHERS, KEYS]), hidden)
  })

  t.test('does not show that two are of one key', async (t) => {
    const holderOf = (text: string): unknown =>
      (
        JSON.parse(Buffer.from(text.slice(7).split('.')[0] ?? '', 'base64url').toString()) as {
          holder: unknown
        }
      ).holder
    t.not(holderOf(token), holderOf(encodeSignedUrl(hidden, KEYS)))
  })

  t.test('opens only under the key of its maker, and only whole', async (t) => {
    t.equal(decodeSignedUrl(token, [{ ...KEYS, holder: KEY }]), null)
    const claims = JSON.parse(payload) as object
    for (const change of [
      { holder: '' },
      { holder: 'AAAA' },
      { holder: 5 },
      { ak: 'AKOTHER' },
      { tid: 'evil' },
      { kv: 1 },
    ])
      t.equal(
        decodeSignedUrl(signed(JSON.stringify({ ...claims, ...change })), [KEYS]),
        null,
        JSON.stringify(change),
      )
    t.equal(decodeSignedUrl(signed(JSON.stringify({ ...claims, v: 1 })), [KEYS]), null)
    t.strictSame(decodeSignedUrl(signed(payload), [KEYS]), hidden, 'unchanged it is accepted')
  })
})
