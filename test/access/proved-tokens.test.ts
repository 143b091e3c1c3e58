/** Tokens that are verified once: what is kept, for how long, and that nothing else is answered from it. */
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { PROVED_TOKENS_MAX, ProvedTokens } from '../../src/access/proved-tokens.ts'
import { scopesOf } from '../../src/access/scopes-of-key.ts'
import { encodeTemporary } from '../../src/access/temporary-token.ts'
import { encodeToken } from '../../src/access/token.ts'
import type { AccessKeyRecord } from '../../src/state-machine/tenants/records.ts'

const CLAIMS = { v: 1, ak: 'AK1', kv: 1, tid: 'acme', iat: 1, exp: 2, jti: 'j' } as const
const keyOf = (...ids: readonly string[]): MasterKey =>
  MasterKey.of(ids.map((id) => ({ id, secret: Buffer.alloc(32, id) })))

t.test('a token is verified once, and each change of it is another one', (t) => {
  const masterKey = keyOf('mk-a')
  const proved = new ProvedTokens(masterKey)
  const token = encodeToken({ ...CLAIMS, typ: 'api' }, masterKey.signingKey('native-api-token'))
  const first = proved.claimsOf(token)
  t.match(first, { ak: 'AK1', typ: 'api' })
  t.equal(proved.claimsOf(token), first, 'the same claims, not verified again')
  for (let at = 0; at < token.length; at++) {
    const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
    t.equal(proved.claimsOf(changed), null)
  }
  t.equal(proved.size, 1, 'nothing else is kept')
  const temporary = { ...CLAIMS, typ: 'tmp', scp: 'read', sn: 'session' } as const
  const other = encodeTemporary(temporary, masterKey.signingKey('temporary-token'))
  t.match(proved.claimsOf(other), { typ: 'tmp', sn: 'session' })
  t.end()
})

t.test('nothing kept counts when the keys that may have signed are others', (t) => {
  const masterKey = keyOf('mk-b', 'mk-a')
  const proved = new ProvedTokens(masterKey)
  const signing = keyOf('mk-a').signingKey('native-api-token')
  const token = encodeToken({ ...CLAIMS, typ: 'api' }, signing)
  const first = proved.claimsOf(token)
  t.match(first, { ak: 'AK1' })
  const [fingerprint = ''] = keyOf('mk-a').fingerprints
  const before = masterKey.verifyingKeys('native-api-token')
  t.equal(masterKey.verifyingKeys('native-api-token'), before)
  t.equal(masterKey.use(fingerprint), true)
  t.not(masterKey.verifyingKeys('native-api-token'), before)
  const again = proved.claimsOf(token)
  t.not(again, first, 'verified again')
  t.same(again, first)
  t.end()
})

t.test('there are not more than may be, by count and by characters', (t) => {
  const masterKey = keyOf('mk-a')
  const proved = new ProvedTokens(masterKey)
  const key = masterKey.signingKey('native-api-token')
  for (let n = 0; n < 2 * PROVED_TOKENS_MAX + 10; n++)
    proved.claimsOf(encodeToken({ ...CLAIMS, typ: 'api', jti: `${n}` }, key))
  t.ok(proved.size <= 2 * PROVED_TOKENS_MAX)
  const large = new ProvedTokens(masterKey)
  const temporary = { ...CLAIMS, typ: 'tmp', scp: 'x'.repeat(10_000), sn: 'session' } as const
  for (let n = 0; n < 500; n++) {
    const token = encodeTemporary({ ...temporary, jti: `${n}` }, masterKey.signingKey('temporary-token'))
    t.ok(large.claimsOf(token))
  }
  t.ok(large.size < 400)
  t.end()
})

t.test('scopes are parsed once for a row, and another row of the same key has its own', (t) => {
  const row = { accessKeyId: 'AK1', scopes: 'read' } as AccessKeyRecord
  t.equal(scopesOf(row), scopesOf(row))
  t.same(scopesOf({ ...row, scopes: 'write' }), [{ verb: 'write', bucket: '*', prefix: '' }])
  t.throws(() => scopesOf({ ...row, scopes: 'fly' }))
  t.end()
})
