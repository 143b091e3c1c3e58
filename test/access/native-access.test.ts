/**
 * NativeAccess over a few rows: which credentials give a token, what ends it, what is refused and with which code.
 */
import t from 'tap'
import { newAdminToken } from '../../src/access/admin-token.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { LastUsed } from '../../src/access/last-used.ts'
import { NativeAccess } from '../../src/access/native-access.ts'
import { encodeToken } from '../../src/access/token.ts'
import type {
  AccessKeyRecord,
  AdminTokenRecord,
  TenantRecord,
} from '../../src/state-machine/tenants/records.ts'
import { TEST_LIMITS, testMasterKey, testTenant } from '../helpers/content-world.ts'
import { type RowKey, SEPARATOR } from '../../src/state-machine/base/row-key.ts'

const HOUR_MS = 3_600_000
const START = 1_795_000_000_500
const HERE = { address: '192.0.2.1', isSecure: false }

/** One tenant with one key, and a clock. */
function office(changes: Partial<AccessKeyRecord> = {}) {
  const clock = { ms: START }
  const tenants = new Map<string, TenantRecord>([['acme', testTenant()]])
  const keys = new Map<string, AccessKeyRecord>()
  const tokens = new Map<string, AdminTokenRecord>()
  const looked: string[] = []
  const rowOf = (key: RowKey): object | undefined => {
    const [kind, id = ''] = key.split(SEPARATOR)
    if (kind === 'tenant') return tenants.get(id)
    if (kind === 'adminTokenHash') return tokens.has(id) ? { tokenId: tokens.get(id)?.tokenId } : undefined
    if (kind === 'adminToken') return [...tokens.values()].find(({ tokenId }) => tokenId === id)
    looked.push(id)
    return keys.get(id)
  }
  const uses = new LastUsed()
  const access = new NativeAccess({
    masterKey: testMasterKey,
    config: {
      limits: TEST_LIMITS,
      security: {
        masterKeyFile: '',
        keyProvider: { kind: 'file' },
        masterKeyWaitMs: 0,
        masterKeyCheckEveryMs: 0,
        nativeApiTokenTtlMs: HOUR_MS,
        maxPresignTtlMs: HOUR_MS,
        maxTemporaryTtlMs: HOUR_MS,
        maxRetentionMs: HOUR_MS,
        s3Region: 'us-east-1',
        secondApproval: [],
      },
    },
    state: { get: <R extends object>(key: RowKey<R>) => rowOf(key) as R | undefined },
    uses,
    now: () => clock.ms,
  })
  const { accessKeyId, secretKey, sealed } = access.newAccessKey()
  const never = { expiresAt: null, rotatedAt: null, revokedAt: null, revokedReason: null, lastUsedAt: null }
  const dates = { createdAt: 0, ...never }
  const about = { accountId: null, name: null, scopes: 'read', status: 'active', version: 1 } as const
  const record: AccessKeyRecord = {
    accessKeyId,
    tenantId: 'acme',
    secret: sealed,
    ...about,
    ...dates,
    ...changes,
  }
  keys.set(accessKeyId, record)
  const change = (more: Partial<AccessKeyRecord>) => keys.set(accessKeyId, { ...record, ...more })
  const login = (secret = secretKey, id = accessKeyId, clientAddress = '10.0.0.1') =>
    access.exchange({ accessKeyId: id, secretKey: secret, clientAddress })
  return { access, clock, tenants, keys, tokens, uses, looked, record, change, login, accessKeyId, secretKey }
}

t.test('newAccessKey has the documented form and seals the secret', async (t) => {
  const { access } = office()
  const made = Array.from({ length: 200 }, () => access.newAccessKey())
  for (const { accessKeyId, secretKey, sealed } of made) {
    if (!/^AK[A-Z2-7]{18}$/.test(accessKeyId)) t.fail(accessKeyId)
    if (!/^[A-Za-z0-9_-]{40}$/.test(secretKey)) t.fail('form of the secret')
    if (Buffer.from(sealed).includes(secretKey)) t.fail('sealed')
  }
  t.equal(new Set(made.map((key) => key.accessKeyId)).size, 200)
  const [one] = made
  if (one === undefined) return
  const fresh = access.newSecret(one.accessKeyId)
  t.equal(fresh.accessKeyId, one.accessKeyId)
  t.not(fresh.secretKey, one.secretKey)
})

t.test('exchange', async (t) => {
  t.test('grants a token that proves the key, its tenant and its scopes', async (t) => {
    const { access, login, accessKeyId } = office({ scopes: 'op=read:bucket=photos:prefix=in/' })
    const grant = login()
    t.match(grant, { accessKeyId, tenantId: 'acme', expiresInSeconds: 3600, expiresAt: 1_795_003_600_000 })
    t.strictSame(access.openBearer(`Bearer ${grant.token}`)(HERE), {
      kind: 'accessKey',
      accessKeyId,
      tenantId: 'acme',
      keyVersion: 1,
      signedUrl: null,
      scopes: [{ verb: 'read', bucket: 'photos', prefix: 'in/' }],
      circumstances: { ...HERE, at: START },
    })
    t.not(login().token, grant.token)
  })

  t.test('never grants beyond the expiry of the key [tokens.never-outlives]', async (t) => {
    const { login } = office({ expiresAt: START + 60_000 })
    t.equal(login().expiresInSeconds, 60)
  })

  t.test('refuses with invalid_credentials, the same for a wrong secret and an unknown id', async (t) => {
    const { login, secretKey } = office()
    const wrong = [
      '',
      'x',
      secretKey.slice(0, -1),
      `${secretKey}x`,
      secretKey.toLowerCase().toUpperCase(),
      'y'.repeat(100_000),
    ]
    for (const secret of wrong) t.throws(() => login(secret), { code: 'invalid_credentials' })
    const messages = [
      () => login('x'),
      () => login(secretKey, 'AKUNKNOWN'),
      () => login('x', 'AKNOBODY'),
    ].map((call) => {
      try {
        call()
      } catch (error) {
        return error instanceof Error ? error.message : ''
      }
      return 'allowed'
    })
    t.equal(new Set(messages).size, 1)
  })

  t.test('looks up no text that cannot be a key id', async (t) => {
    const { login, looked } = office()
    for (const id of ['', 'a', 'AK\u0000', 'AK/../x', `AK${'A'.repeat(100)}`, 'ÀK']) {
      t.throws(() => login('x', id, `address of ${id}`), { code: 'invalid_credentials' })
    }
    t.strictSame(looked, [])
  })

  t.test('answers key_revoked or tenant_disabled only to a caller that knows the secret', async (t) => {
    const { change, login, tenants } = office()
    change({ status: 'revoked', revokedAt: START })
    t.throws(() => login('x'), { code: 'invalid_credentials' })
    t.throws(() => login(), { code: 'key_revoked' })
    change({ expiresAt: START })
    t.throws(() => login(), { code: 'key_revoked' })
    tenants.set('acme', { ...testTenant(), status: 'disabled' })
    t.throws(() => login('x'), { code: 'invalid_credentials' })
    t.throws(() => login(), { code: 'tenant_disabled' })
  })

  t.test(
    'refuses with rate_limited after the burst for one key, from any address, and states when to retry',
    async (t) => {
      const { clock, login } = office()
      for (let count = 0; count < TEST_LIMITS.tokenMintBurst; count += 1)
        login(undefined, undefined, `10.0.0.${count}`)
      t.throws(() => login(undefined, undefined, '10.9.9.9'), {
        code: 'rate_limited',
        extras: { retryAfterSeconds: 2, headers: { ratelimit: '"default";r=0;t=2' } },
      })
      clock.ms += 2000
      t.ok(login())
    },
  )

  t.test('never refuses the right secret for failures, of other addresses or of its own', async (t) => {
    const { clock, login, secretKey } = office()
    for (const address of ['10.0.0.1', '10.0.0.2'])
      for (let count = 0; count < 3 * TEST_LIMITS.tokenMintBurst; count += 1)
        t.throws(() => login('x', undefined, address))
    t.throws(() => login('x', undefined, '10.0.0.2'), { code: 'rate_limited' })
    for (let count = 0; count < TEST_LIMITS.tokenMintBurst; count += 1)
      t.ok(login(secretKey, undefined, '10.0.0.1'))
    t.throws(() => login(secretKey), { code: 'rate_limited' }, 'what its holder does is limited')
    clock.ms += 2000
    t.ok(login())
  })

  t.test('counts failures by key and address', async (t) => {
    const { login } = office()
    for (let count = 0; count < TEST_LIMITS.tokenMintBurst; count += 1)
      t.throws(() => login('x'), { code: 'invalid_credentials' })
    t.throws(() => login('x'), { code: 'rate_limited' })
    t.throws(() => login('x', undefined, '10.0.0.2'), { code: 'invalid_credentials' })
    t.throws(() => login('x', 'AKUNKNOWN'), { code: 'invalid_credentials' })
  })

  t.test('answers a known and an unknown id alike in every state of the limiter', async (t) => {
    const { access, accessKeyId, clock, login, secretKey } = office()
    const answerTo = (id: string, secret: string, clientAddress: string): unknown => {
      try {
        return access.exchange({ accessKeyId: id, secretKey: secret, clientAddress })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        const { code, message, extras } = error
        return { code, message, extras }
      }
    }
    const alike = (state: string): unknown => {
      const known = answerTo(accessKeyId, 'x', '10.0.0.7')
      t.strictSame(answerTo('AKUNKNOWN', 'x', '10.0.0.7'), known, state)
      return known
    }
    // What other ids have used up must not show which kind this one is.
    for (let count = 0; count <= TEST_LIMITS.tokenMintBurst; count += 1) answerTo('AKABSENT', 'x', '10.0.0.7')
    alike('after failures of other ids')
    // From full to empty, and through each second of filling up again.
    for (let count = 0; count <= TEST_LIMITS.tokenMintBurst + 1; count += 1) alike(`after ${count} failures`)
    t.match(alike('empty'), { code: 'rate_limited' })
    for (let second = 0; second < 25; second += 1) {
      clock.ms += 1000
      alike(`after ${second} seconds`)
    }
    // The key's own exchanges change nothing of it.
    for (let count = 0; count <= TEST_LIMITS.tokenMintBurst; count += 1) {
      alike(`with ${count} exchanges`)
      try {
        login(secretKey)
      } catch {
        // Used up: the next state.
      }
    }
  })
})

t.test('openBearer', async (t) => {
  t.test('refuses with unauthorized a request without a bearer token', async (t) => {
    const { access } = office()
    for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic QUs6eA==', 'Bearer a b', 'svctk_x.y']) {
      t.throws(() => access.openBearer(header)(HERE), { code: 'unauthorized' }, String(header))
    }
  })

  t.test('takes the scheme in any case', async (t) => {
    const { access, login } = office()
    const { token } = login()
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) t.ok(access.openBearer(`${scheme} ${token}`)(HERE))
  })

  t.test(
    'refuses with token_expired from the second it expires [tokens.expired] [errors.token_expired]',
    async (t) => {
      const { access, clock, login } = office()
      const { token, expiresAt } = login()
      clock.ms = expiresAt - 1
      t.ok(access.openBearer(`Bearer ${token}`)(HERE))
      clock.ms = expiresAt
      t.throws(() => access.openBearer(`Bearer ${token}`)(HERE), { code: 'token_expired' })
    },
  )

  t.test(
    'checks the key and the tenant again at every request [tokens.recheck.version] [tokens.recheck.scopes]',
    async (t) => {
      const { access, change, keys, login, tenants, accessKeyId } = office()
      const header = `Bearer ${login().token}`
      const endings: [what: string, end: () => void, code: string][] = [
        ['revoked', () => change({ status: 'revoked' }), 'key_revoked'],
        ['expired', () => change({ expiresAt: START }), 'key_revoked'],
        ['rotated', () => change({ version: 2 }), 'token_invalid'],
        ['moved to another tenant', () => change({ tenantId: 'rival' }), 'token_invalid'],
        ['gone', () => keys.delete(accessKeyId), 'token_invalid'],
        [
          'tenant disabled',
          () => tenants.set('acme', { ...testTenant(), status: 'disabled' }),
          'tenant_disabled',
        ],
        ['tenant gone', () => tenants.delete('acme'), 'tenant_disabled'],
      ]
      for (const [what, end, code] of endings) {
        tenants.set('acme', testTenant())
        change({})
        t.ok(access.openBearer(header)(HERE), `before: ${what}`)
        end()
        t.throws(() => access.openBearer(header)(HERE), { code }, what)
      }
      tenants.set('acme', testTenant())
      change({ scopes: 'write' })
      t.strictSame(access.openBearer(header)(HERE).scopes, [{ verb: 'write', bucket: '*', prefix: '' }])
    },
  )

  t.test(
    'refuses with token_invalid other kinds of tokens, and tokens signed for another purpose',
    async (t) => {
      const { access, login, accessKeyId } = office()
      const { token } = login()
      const claims = {
        v: 1,
        typ: 'api',
        ak: accessKeyId,
        kv: 1,
        tid: 'acme',
        iat: 1,
        exp: 9e9,
        jti: 'x',
      } as const
      const others = [newAdminToken().token, token.replace('svctk_', 'svcurl_'), `${token}x`]
      others.push(encodeToken(claims, testMasterKey.signingKey('signed-url')))
      for (const other of others)
        t.throws(() => access.openBearer(`Bearer ${other}`)(HERE), { code: 'token_invalid' })
      t.ok(
        access.openBearer(`Bearer ${encodeToken(claims, testMasterKey.signingKey('native-api-token'))}`)(
          HERE,
        ),
      )
    },
  )
})

t.test('openAdmin', async (t) => {
  function tokenOffice(changes: Partial<AdminTokenRecord> = {}) {
    const world = office()
    const { token, tokenId, sha256 } = newAdminToken()
    const dates = { createdAt: 0, expiresAt: null, revokedAt: null, lastUsedAt: null }
    world.tokens.set(sha256, {
      tokenId,
      name: 'ops',
      role: 'operator',
      tenantId: null,
      sha256,
      ...dates,
      ...changes,
    })
    return { ...world, token, tokenId, admin: () => world.access.openAdmin(`Bearer ${token}`)(HERE) }
  }

  t.test('proves role and tenant', async (t) => {
    const { admin, tokenId } = tokenOffice({ tenantId: 'acme' })
    t.strictSame(admin(), { kind: 'adminToken', tokenId, role: 'operator', noKeys: false, tenantId: 'acme' })
  })

  t.test('refuses with 401 codes a token that is missing, unknown, revoked or expired', async (t) => {
    const { access, login } = tokenOffice()
    t.throws(() => access.openAdmin(undefined)(HERE), { code: 'unauthorized' })
    t.throws(() => access.openAdmin(`Bearer ${newAdminToken().token}`)(HERE), {
      code: 'token_invalid',
    })
    t.throws(() => access.openAdmin(`Bearer ${login().token}`)(HERE), { code: 'token_invalid' })
    t.throws(() => tokenOffice({ revokedAt: START }).admin(), { code: 'token_invalid' })
    t.throws(() => tokenOffice({ expiresAt: START }).admin(), { code: 'token_expired' })
    t.ok(tokenOffice({ expiresAt: START + 1 }).admin())
  })

  t.test('refuses a token with any one byte changed', async (t) => {
    const { access, token } = tokenOffice()
    for (let at = 0; at < token.length; at += 1) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      t.throws(() => access.openAdmin(`Bearer ${changed}`)(HERE), { code: 'token_invalid' })
    }
  })

  t.test('refuses with rate_limited above the limit of the token', async (t) => {
    const { admin, clock } = tokenOffice()
    for (let count = 0; count < TEST_LIMITS.adminRequestsBurst; count += 1) admin()
    t.throws(admin, { code: 'rate_limited', extras: { retryAfterSeconds: 1 } })
    clock.ms += 100
    t.ok(admin())
  })
})

t.test('no refusal ever quotes a secret or a token', async (t) => {
  const { access, change, login, secretKey } = office()
  const { token } = login()
  change({ status: 'revoked' })
  const calls: (() => unknown)[] = [
    () => login(),
    () => login(`${secretKey}x`),
    () => login(secretKey, 'AKX'),
  ]
  calls.push(
    () => access.openBearer(`Bearer ${token}`)(HERE),
    () => access.openBearer(token)(HERE),
  )
  for (const call of calls) {
    try {
      call()
      t.fail('refused')
    } catch (error) {
      const text = error instanceof Error ? `${error.message}${error.stack}${JSON.stringify(error)}` : ''
      t.notOk(text.includes(secretKey) || text.includes(token.slice(6)))
    }
  }
})
