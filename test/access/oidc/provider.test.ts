/**
 * The authorization code flow against a provider on loopback: what a good one says is believed, and of a hostile one nothing.
 */
import t, { type Test } from 'tap'
import { BoundedFetch } from '../../../src/access/oidc/bounded-fetch.ts'
import { OidcProvider } from '../../../src/access/oidc/provider.ts'
import { type Algorithm, CLIENT, OidcServer } from '../../helpers/oidc-server.ts'

const REDIRECT = 'http://127.0.0.1:1/console/log-in/callback'
const SOON_MS = 1000
const LATE_MS = 60_000

interface World {
  readonly server: OidcServer
  readonly provider: OidcProvider
  /** Moves its clock. ms */
  skewMs: number
}

async function start(t: Test, algorithm: Algorithm = 'ES256', exchangeMsMax = LATE_MS): Promise<World> {
  const server = await OidcServer.start(t, algorithm)
  const fetching = new BoundedFetch(null, exchangeMsMax)
  t.teardown(() => fetching.close())
  const world = { server, skewMs: 0 }
  const provider = new OidcProvider({
    settings: { issuer: server.issuer, clientId: CLIENT.id, scopes: ['openid'], groupsClaim: 'groups' },
    redirectUri: REDIRECT,
    secret: async () => CLIENT.secret,
    fetching,
    now: () => Date.now() + world.skewMs,
  })
  return Object.assign(world, { provider })
}

/** What the browser brings back. */
async function answerOf(location: string): Promise<URLSearchParams> {
  const { status, headers } = await fetch(location, { redirect: 'manual' })
  t.equal(status, 303)
  return new URL(headers.get('location') ?? '').searchParams
}

async function logIn({ provider }: World) {
  const { location, pending } = await provider.begin()
  return provider.finish(await answerOf(location), pending)
}

t.test('a good provider', async (t) => {
  for (const algorithm of ['RS256', 'ES256', 'EdDSA'] as const)
    await t.test(`is believed when it signs with ${algorithm}`, async (t) => {
      const world = await start(t, algorithm)
      t.match(await logIn(world), { sub: 'u-alice', groups: ['storage-admins'] })
    })

  await t.test('may exchange its key at any time, and the one before counts no more', async (t) => {
    const world = await start(t, 'RS256')
    await logIn(world)
    world.server.exchangeKey()
    t.match(await logIn(world), { sub: 'u-alice' })
    world.server.exchangeKey('ES256')
    t.match(await logIn(world), { sub: 'u-alice' })
  })

  await t.test('may take the secret in the body, and say groups by userinfo alone', async (t) => {
    const world = await start(t)
    const { server } = world
    server.twistDocument = (document) => ({
      ...document,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    })
    server.person = { sub: 'u-bob' }
    server.userInfo = { groups: ['acme-ops'], sub: 'u-bob' }
    t.match(await logIn(world), { sub: 'u-bob', groups: ['acme-ops'] })
    server.userInfo = { groups: ['storage-admins'], sub: 'u-alice' }
    await t.rejects(logIn(world), /cannot be trusted/, 'userinfo of another person')
  })

  await t.test('may have a clock that is off by less than a minute', async (t) => {
    const world = await start(t)
    for (const skewMs of [-50_000, 50_000, 340_000]) {
      world.skewMs = skewMs
      t.match(await logIn(world), { sub: 'u-alice' })
    }
    world.skewMs = -70_000
    await t.rejects(logIn(world), /from the future/)
    world.skewMs = 370_000
    await t.rejects(logIn(world), /expiration is past/)
  })

  await t.test('is asked for its metadata and keys once for several log-ins', async (t) => {
    const world = await start(t)
    await Promise.all([logIn(world), logIn(world)])
    await logIn(world)
    const count = (path: string): number => world.server.asked.filter((one) => one === path).length
    t.equal(count('/.well-known/openid-configuration'), 1)
    t.ok(count('/keys') <= 2)
  })
})

t.test('a hostile ID token is refused:', async (t) => {
  const seconds = (): number => Math.floor(Date.now() / 1000)
  const claims: Readonly<Record<string, [RegExp, (server: OidcServer) => void]>> = {
    'another nonce': [/nonce/, (server) => (server.twistClaims = (own) => ({ ...own, nonce: 'n' }))],
    'no nonce': [/nonce/, (server) => (server.twistClaims = ({ nonce: _nonce, ...own }) => own)],
    'another audience': [/aud/, (server) => (server.twistClaims = (own) => ({ ...own, aud: 'other' }))],
    'several audiences and none that is authorized': [
      /aud/,
      (server) => (server.twistClaims = (own) => ({ ...own, aud: [CLIENT.id, 'other'] })),
    ],
    'made for another client': [
      /azp/,
      (server) => (server.twistClaims = (own) => ({ ...own, azp: 'other' })),
    ],
    'another issuer': [
      /iss/,
      (server) => (server.twistClaims = (own) => ({ ...own, iss: 'https://evil.example' })),
    ],
    expired: [/exp/, (server) => (server.twistClaims = (own) => ({ ...own, exp: seconds() - 120 }))],
    'not valid yet': [/nbf/, (server) => (server.twistClaims = (own) => ({ ...own, nbf: seconds() + 120 }))],
    'from the future': [
      /iat/,
      (server) => (server.twistClaims = (own) => ({ ...own, iat: seconds() + 120 })),
    ],
    'without a subject': [/sub/, (server) => (server.twistClaims = ({ sub: _sub, ...own }) => own)],
    'alg none': [/alg/, (server) => (server.twistHeader = (own) => ({ ...own, alg: 'none' }))],
    'alg HS256, with the public key as secret': [
      /alg/,
      (server) => (server.twistHeader = (own) => ({ ...own, alg: 'HS256' })),
    ],
    'alg RS384, which is not among those that count': [
      /alg/,
      (server) => (server.twistHeader = (own) => ({ ...own, alg: 'RS384' })),
    ],
    'an unknown critical header': [
      /crit/,
      (server) => (server.twistHeader = (own) => ({ ...own, crit: ['x'], x: 1 })),
    ],
    'a key that is not published': [/signature/, (server) => (server.isForged = true)],
    'an unknown key id': [/key/, (server) => (server.twistHeader = (own) => ({ ...own, kid: 'other' }))],
  }
  for (const [what, [why, twist]] of Object.entries(claims))
    await t.test(what, async (t) => {
      const world = await start(t)
      twist(world.server)
      await t.rejects(logIn(world), { name: 'ProviderFault', message: why })
    })
})

t.test('a hostile way back is refused:', async (t) => {
  const world = await start(t)
  const { provider } = world
  const wayBack = async () => {
    const { location, pending } = await provider.begin()
    return { query: await answerOf(location), pending }
  }

  await t.test('another state, or none', async (t) => {
    const { query, pending } = await wayBack()
    query.set('state', 'other')
    await t.rejects(provider.finish(query, pending), /state/)
    query.delete('state')
    await t.rejects(provider.finish(query, pending), /state/)
  })

  await t.test('another issuer, or none where the provider promises one (mix-up)', async (t) => {
    const { query, pending } = await wayBack()
    query.set('iss', 'https://evil.example')
    await t.rejects(provider.finish(query, pending), /iss/)
    query.delete('iss')
    await t.rejects(provider.finish(query, pending), /iss/)
  })

  await t.test('a code that was used, and one of another browser', async (t) => {
    const { query, pending } = await wayBack()
    await provider.finish(new URLSearchParams(query), pending)
    await t.rejects(provider.finish(query, pending), /invalid_grant/)
    const other = await wayBack()
    const mine = await wayBack()
    other.query.set('state', mine.pending.state)
    await t.rejects(provider.finish(other.query, mine.pending), /invalid_grant/, 'PKCE')
  })

  await t.test('an error of the provider, without what it wrote', async (t) => {
    const { pending } = await wayBack()
    const query = new URLSearchParams({
      error: 'access_denied\u0007',
      error_description: 'SECRET',
      state: pending.state,
      iss: world.server.issuer,
    })
    const fault = await provider.finish(query, pending).catch((error: unknown) => error as Error)
    t.match(fault, { name: 'ProviderFault', message: /'access_denied\?'/ })
    t.notMatch(String((fault as Error).stack), /SECRET/)
  })
})

t.test('a provider that cannot be used is a fault, and used again once it can:', async (t) => {
  const DISCOVERY = '/.well-known/openid-configuration'

  await t.test('answers that are huge, slow, redirected, no JSON', async (t) => {
    type Hostile = OidcServer['inPlaceOf'][string]
    const huge: Hostile = (response) => void response.end(Buffer.alloc(600_000, ' '))
    const elsewhere = { location: 'http://127.0.0.1:1/' }
    const cases: readonly [RegExp, string, Hostile][] = [
      [/more than 524288 bytes/, DISCOVERY, huge],
      [/more than 524288 bytes/, '/keys', huge],
      [/no answer in time/, DISCOVERY, () => undefined],
      [/no answer in time/, '/token', (response) => void response.writeHead(200).write('{')],
      [/status/, DISCOVERY, (response) => void response.writeHead(302, elsewhere).end()],
      [/cannot be used/, DISCOVERY, (response) => void response.end('<html>')],
    ]
    for (const [why, path, hostile] of cases) {
      const world = await start(t, 'ES256', why.source.includes('time') ? SOON_MS : LATE_MS)
      world.server.inPlaceOf = { [path]: hostile }
      await t.rejects(logIn(world), { name: 'ProviderFault', message: why }, `${path} ${why}`)
      world.server.inPlaceOf = {}
      t.match(await logIn(world), { sub: 'u-alice' })
    }
  })

  await t.test(
    'another issuer in its document; endpoints in plain text elsewhere; no usable algorithm',
    async (t) => {
      const cases: readonly [RegExp, Readonly<Record<string, unknown>>][] = [
        [/issuer/, { issuer: 'https://evil.example' }],
        [/not https/, { authorization_endpoint: 'http://id.example/authorize' }],
        [/not https/, { token_endpoint: 'http://id.example/token' }],
        [/not https/, { jwks_uri: 'http://169.254.169.254/keys' }],
        [/signs with none/, { id_token_signing_alg_values_supported: ['HS256', 'none', 'RS512'] }],
        [/authorization endpoint/, { authorization_endpoint: undefined }],
      ]
      for (const [why, changed] of cases) {
        const world = await start(t)
        world.server.twistDocument = (document) => ({ ...document, ...changed })
        await t.rejects(logIn(world), { name: 'ProviderFault', message: why }, JSON.stringify(changed))
      }
    },
  )

  await t.test('it does not listen; the client secret is wrong', async (t) => {
    const world = await start(t)
    const fetching = new BoundedFetch(null)
    t.teardown(() => fetching.close())
    const settings = { clientId: CLIENT.id, scopes: ['openid'], groupsClaim: 'groups' }
    const parts = { redirectUri: REDIRECT, fetching, now: () => Date.now() }
    const absent = new OidcProvider({
      ...parts,
      settings: { ...settings, issuer: 'http://127.0.0.1:1' },
      secret: async () => null,
    })
    await t.rejects(absent.begin(), { name: 'ProviderFault', message: /did not answer/ })
    const wrong = new OidcProvider({
      ...parts,
      settings: { ...settings, issuer: world.server.issuer },
      secret: async () => 'wrong',
    })
    await t.rejects(logIn({ ...world, provider: wrong }), /invalid_client/)
  })
})
