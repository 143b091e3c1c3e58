/**
 * The bearer token: one spelling, no forgery, no other kind of token in its place.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { adminTokenHash, looksLikeAdminToken, newAdminToken } from '../../src/access/admin-token.ts'
import { decodeToken, encodeToken, type TokenClaims } from '../../src/access/token.ts'

const KEY = createSecretKey(Buffer.alloc(32, 3))
const CLAIMS: TokenClaims = {
  v: 1,
  typ: 'api',
  ak: 'AKTEST',
  kv: 3,
  tid: 'acme',
  iat: 100,
  exp: 3700,
  jti: 'abc',
}

/** A token with a right MAC around any payload text. */
function signed(payload: string | Buffer, key = KEY): string {
  const encoded = Buffer.from(payload).toString('base64url')
  return `svctk_${encoded}.${createHmac('sha256', key).update(encoded).digest('base64url')}`
}

t.test('decodeToken', async (t) => {
  const token = encodeToken(CLAIMS, KEY)

  t.test(
    'gives back the claims, and [decisions 1] has the documented form [tokens.form] [tokens.payload]',
    async (t) => {
      t.strictSame(decodeToken(token, [KEY]), CLAIMS)
      t.equal(token, signed(JSON.stringify(CLAIMS)))
    },
  )

  t.test(
    'refuses a token with any one byte changed to any other, dropped, or doubled [tokens.one-spelling]',
    async (t) => {
      const bytes = Buffer.from(token, 'latin1')
      let accepted = 0
      for (let at = 0; at < bytes.length; at += 1) {
        for (let value = 0; value < 256; value += 1) {
          if (value === bytes[at]) continue
          const changed = Buffer.from(bytes)
          changed[at] = value
          if (decodeToken(changed.toString('latin1'), [KEY]) !== null) accepted += 1
        }
        const [before, after] = [token.slice(0, at), token.slice(at)]
        if (decodeToken(before + after.slice(1), [KEY]) !== null) accepted += 1
        if (decodeToken(before + after.charAt(0) + after, [KEY]) !== null) accepted += 1
      }
      t.equal(accepted, 0)
    },
  )

  t.test('refuses a token of another key, and a signed text that is no API token', async (t) => {
    t.equal(decodeToken(encodeToken(CLAIMS, createSecretKey(Buffer.alloc(32, 4))), [KEY]), null)
    const changes: object[] = [
      { v: 2 },
      { typ: 'url' },
      { typ: undefined },
      { ak: 7 },
      { kv: '3' },
      { kv: 1.5 },
    ]
    changes.push({ tid: null }, { exp: -1 }, { exp: 1e300 }, { iat: null }, { jti: {} })
    for (const change of changes) {
      t.equal(
        decodeToken(signed(JSON.stringify({ ...CLAIMS, ...change })), [KEY]),
        null,
        JSON.stringify(change),
      )
    }
    for (const payload of ['null', '[]', '"x"', '1', '', '{', '{"v":1'])
      t.equal(decodeToken(signed(payload), [KEY]), null, payload)
    const claims = Buffer.from(JSON.stringify({ ...CLAIMS, jti: 'ab#' }))
    for (const byte of [0xff, 0xfe, 0x80]) {
      const noUtf8 = claims.map((one) => (one === 0x23 ? byte : one))
      t.equal(decodeToken(signed(Buffer.from(noUtf8)), [KEY]), null, `a byte ${byte} in the payload`)
    }
    t.equal(decodeToken(signed(Buffer.from([0xff, 0xfe])), [KEY]), null)
  })

  t.test('refuses every other kind and form', async (t) => {
    const tail = token.slice('svctk_'.length)
    const others = [
      `svcurl_${tail}`,
      `svcadm_${tail}`,
      `SVCTK_${tail}`,
      tail,
      ` ${token}`,
      `${token} `,
      `${token}\n`,
    ]
    others.push(
      `${token}=`,
      token.replace('.', '..'),
      `${token}.${tail}`,
      '',
      'svctk_',
      'svctk_.',
      newAdminToken().token,
    )
    others.push(signed(JSON.stringify({ ...CLAIMS, jti: 'x'.repeat(1000) })))
    for (const other of others) t.equal(decodeToken(other, [KEY]), null, JSON.stringify(other.slice(0, 40)))
  })

  t.test('never throws and never accepts, for any text', async () => {
    const property = fc.property(fc.string(), fc.string(), (a, b) => {
      return decodeToken(a, [KEY]) === null && decodeToken(`svctk_${a}.${b}`, [KEY]) === null
    })
    fc.assert(property, { numRuns: 500, seed: 7 })
  })
})

t.test('newAdminToken', async (t) => {
  const { token, tokenId, sha256 } = newAdminToken()
  t.match(token, /^svcadm_[A-Za-z0-9_-]{43}$/)
  t.match(tokenId, /^adm_[0-9a-f]{16}$/)
  t.equal(sha256, adminTokenHash(token))
  t.notOk(token.includes(tokenId.slice(4)))
  t.ok(looksLikeAdminToken(token))
  for (const other of [`${token}x`, token.slice(1), ` ${token}`, `svctk_${token.slice(7)}`]) {
    t.notOk(looksLikeAdminToken(other))
  }
})
