/**
 * Every form of URL that does not allow the request, and the expected answer to each.
 *
 * Owns: the forms and what is expected of the three operations below /signed. Knows nothing of `authorize`. The URLs are made
 * without signURL, which would refuse most of them: a URL issued by mistake must not open anything either.
 */
import type { SignedMethod, SignedUrlTerms } from '../../src/access/base/signed-url.ts'
import { testTerms } from '../access/signed-url-terms.ts'
import type { MemoryServices } from '../helpers/memory-services.ts'
import type { Ask } from './api-world.ts'
import { EVERY_VERB, keyWithToken, type KeyWithToken, revoke, rotate } from './issued-keys.ts'

export type SignedOperationId = 'getSigned' | 'putSigned' | 'preflightSigned'

type Tokens = Readonly<Record<SignedMethod, string>>
type Refused = readonly [status: number, code: string]

export interface SignedForm {
  readonly form: string
  readonly as: (ask: Ask, id: SignedOperationId) => Ask
  readonly expect: (id: SignedOperationId) => Refused | null
}

const KEY = { GET: '2026/cat.txt', PUT: '2026/dog.txt' } as const
const VERB = { GET: 'read', PUT: 'write' } as const
const OTHER = { GET: 'PUT', PUT: 'GET' } as const
const HOUR = 3_600_000
const INVALID: Refused = [401, 'invalid_signed_url']
const MISMATCH: Refused = [403, 'signed_url_mismatch']
const DENIED: Refused = [403, 'access_denied']
const always = (refused: Refused) => (): Refused => refused

/** The preflight of the examples asks whether a page may read. */
const methodOf = (id: SignedOperationId): SignedMethod => (id === 'putSigned' ? 'PUT' : 'GET')

const bring = (token: string | null, { path, ...ask }: Ask): Ask => {
  const [bare = ''] = path.split('?')
  return { ...ask, path: token === null ? bare : `${bare}?${new URLSearchParams({ token }).toString()}` }
}

function formOf(form: string, tokens: Tokens, refused: Refused): SignedForm {
  return { form, as: (ask, id) => bring(tokens[methodOf(id)], ask), expect: always(refused) }
}

/** `denied`: a key that may do everything, but for what the policy of the bucket says. */
export async function signedForms(
  memory: MemoryServices,
  denied: KeyWithToken,
): Promise<readonly SignedForm[]> {
  const key = await keyWithToken(memory)
  return [
    ...damagedForms(memory, key),
    ...(await endedForms(memory)),
    ...otherTargetForms(memory, key),
    ...(await scopeForms(memory)),
    formOf('a key that a policy denies', mint(memory, denied), DENIED),
  ]
}

function mint(
  memory: MemoryServices,
  { token }: KeyWithToken,
  terms: Partial<SignedUrlTerms> | ((method: SignedMethod) => Partial<SignedUrlTerms>) = {},
): Tokens {
  const { access } = memory.services
  const connection = { address: 'test', isSecure: false }
  const principal = access.openBearer(`Bearer ${token}`)(connection)
  const one = (method: SignedMethod): string => {
    const change = typeof terms === 'function' ? terms(method) : terms
    return access.signUrl(principal, testTerms({ method, key: KEY[method], ...change }), {
      ttlSeconds: 900,
      isHolderHidden: true,
    }).token
  }
  return { GET: one('GET'), PUT: one('PUT') }
}

function damagedForms(memory: MemoryServices, key: KeyWithToken): readonly SignedForm[] {
  const good = mint(memory, key)
  const damaged = (form: string, change: (token: string) => string): SignedForm =>
    formOf(form, { GET: change(good.GET), PUT: change(good.PUT) }, INVALID)
  // The last character alone holds spare bits; the one before does not.
  const flip = (token: string, at: number): string =>
    token.slice(0, at) + (token.at(at) === 'A' ? 'B' : 'A') + token.slice(at + 1 || undefined)
  const bearer = { authorization: `Bearer ${key.token}` }
  return [
    { form: 'no token', as: (ask) => bring(null, ask), expect: always(INVALID) },
    {
      form: 'a bearer token in its header instead',
      as: (ask) => ({ ...bring(null, ask), headers: { ...ask.headers, ...bearer } }),
      expect: always(INVALID),
    },
    damaged('an empty token', () => ''),
    damaged('garbage', () => 'garbage'),
    damaged('one character of the signature changed', (token) => flip(token, -2)),
    damaged('one character of the terms changed', (token) => flip(token, 20)),
    damaged('cut', (token) => token.slice(0, -1)),
    damaged('a bearer token', () => key.token),
    damaged('under the name of bearer tokens', (token) => token.replace('svcurl_', 'svctk_')),
  ]
}

async function endedForms(memory: MemoryServices): Promise<readonly SignedForm[]> {
  const [revoked, rotated] = [await keyWithToken(memory), await keyWithToken(memory)]
  const ofRevoked = mint(memory, revoked)
  await revoke(memory, revoked)
  const ofRotated = mint(memory, rotated)
  await rotate(memory, rotated)
  await memory.tenant('left')
  const ofDisabled = mint(memory, await keyWithToken(memory, { tenantId: 'left' }))
  await memory.change({ type: 'disableTenant', tenantId: 'left', reason: 'test' })
  memory.now -= 2 * HOUR
  const expired = mint(memory, await keyWithToken(memory))
  memory.now += 2 * HOUR
  return [
    formOf('expired', expired, [401, 'signed_url_expired']),
    formOf('of a revoked key', ofRevoked, [401, 'key_revoked']),
    formOf('from before the rotation of its key', ofRotated, INVALID),
    formOf('of a disabled tenant', ofDisabled, [401, 'tenant_disabled']),
  ]
}

function otherTargetForms(memory: MemoryServices, key: KeyWithToken): readonly SignedForm[] {
  const prefix = (keyPrefix: string): Tokens => mint(memory, key, { key: null, keyPrefix })
  return [
    formOf(
      'for the other method',
      mint(memory, key, (method) => ({ method: OTHER[method] })),
      MISMATCH,
    ),
    formOf('for another bucket', mint(memory, key, { bucket: 'photos2' }), MISMATCH),
    formOf('for another key', mint(memory, key, { key: '2026/other.txt' }), MISMATCH),
    formOf('for a key that begins like it', mint(memory, key, { key: '2026/' }), MISMATCH),
    formOf('for another prefix', prefix('elsewhere/'), MISMATCH),
    formOf(
      'for a prefix below it',
      mint(memory, key, (method) => ({ key: null, keyPrefix: `${KEY[method]}/` })),
      MISMATCH,
    ),
    formOf('for the prefix in capitals', prefix('2026/C'), MISMATCH),
  ]
}

async function scopeForms(memory: MemoryServices): Promise<readonly SignedForm[]> {
  const of = async (scopes: string): Promise<Tokens> => mint(memory, await keyWithToken(memory, { scopes }))
  const scoped = (where: string): Promise<Tokens> =>
    of(
      EVERY_VERB.split(',')
        .map((verb) => `op=${verb}:${where}`)
        .join(),
    )
  const without = async (verb: string): Promise<SignedForm> => ({
    ...formOf(`of a key without ${verb}`, await of(others(verb)), DENIED),
    expect: (id) => (VERB[methodOf(id)] === verb ? DENIED : null),
  })
  const ofRival = mint(memory, await keyWithToken(memory, { tenantId: 'rival' }))
  return [
    await without('read'),
    await without('write'),
    formOf('of a key for another bucket', await scoped('bucket=photos2:prefix='), DENIED),
    formOf('of a key for another prefix', await scoped('bucket=photos:prefix=elsewhere/'), DENIED),
    {
      ...formOf('of a key of another tenant', ofRival, [404, 'not_found']),
      // No rule fits, as with a bucket that has none.
      expect: (id) => (id === 'preflightSigned' ? DENIED : [404, 'not_found']),
    },
  ]
}

const others = (verb: string): string =>
  EVERY_VERB.split(',')
    .filter((other) => other !== verb)
    .join()
