/**
 * Every form of credential without the right to an operation, and the expected answer to each.
 *
 * Owns: the forms and the expected answers, derived from `requires` of the operations by rules of its own. Knows nothing of `authorize`.
 * Rule: a form that does not apply to an operation gives null, and is no cell of the matrix.
 */
import type { Verb } from '../../src/access/base/principal.ts'
import type { AdminRequirement, KeyRequirement, Requirement } from '../../src/access/rights.ts'
import type { MemoryServices } from '../helpers/memory-services.ts'
import { routeOf } from '../helpers/operations.ts'
import type { Ask } from './api-world.ts'
import { type ExampleId, exampleOf, operationIdOf, operationOf } from './example-story.ts'
import { keyWithToken, type KeyWithToken, revoke, rotate } from './issued-keys.ts'
import { type SignedForm, signedForms, type SignedOperationId } from './signed-forms.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'

export interface Cell {
  readonly form: string
  /** The request with this credential in place of a valid one. */
  readonly as: (ask: Ask) => Ask
  readonly status: number
  readonly code: string
}

type Expected = readonly [status: number, code: string] | null
type KeyNeed = KeyRequirement
type AdminNeed = AdminRequirement

interface Asked<Need> {
  readonly id: ExampleId
  readonly need: Need
  readonly namesBucket: boolean
}

interface Form<Need> {
  readonly form: string
  readonly authorization: string | undefined
  readonly expect: (asked: Asked<Need>) => Expected
}

const VERBS: readonly Verb[] = ['read', 'write', 'delete', 'admin']
const ROLES = ['auditor', 'viewer', 'operator', 'owner'] as const
const GIVE_SECRETS: readonly string[] = ['createTenantKey', 'rotateTenantKey']
const HOUR = 3_600_000
/** Signing is authorized as the operation of the URL. */
const MINTS: Readonly<Record<string, string>> = {
  signURL: 'getObject',
  signUpload: 'putObject',
}
const BY_URL: Readonly<Record<SignedOperationId, true>> = {
  getSigned: true,
  putSigned: true,
  preflightSigned: true,
}
const isByUrl = (id: ExampleId): id is SignedOperationId => Object.hasOwn(BY_URL, id)
const needOf = (id: ExampleId): Requirement => routeOf(MINTS[id] ?? operationIdOf(id)).operation.requires

export function bearing(authorization: string | undefined, ask: Ask): Ask {
  return authorization === undefined ? ask : { ...ask, headers: { ...ask.headers, authorization } }
}

const always = (status: number, code: string) => (): Expected => [status, code]

export class CredentialForms {
  readonly #keyForms: readonly Form<KeyNeed>[]
  readonly #adminForms: readonly Form<AdminNeed>[]
  readonly #signedForms: readonly SignedForm[]
  readonly #memory: MemoryServices
  readonly #denied: KeyWithToken

  /** Makes a credential of every form. The tenant that is asked about is `acme`; it need not exist yet, but its keys do. */
  static async make(memory: MemoryServices): Promise<CredentialForms> {
    for (const tenant of ['acme', 'rival', 'gone']) await memory.tenant(tenant)
    const denied = await keyWithToken(memory)
    return new CredentialForms(memory, denied, {
      forKeys: await keyForms(memory, denied),
      forAdmins: await adminForms(memory),
      byUrl: await signedForms(memory, denied),
    })
  }

  private constructor(
    memory: MemoryServices,
    denied: KeyWithToken,
    forms: {
      readonly forKeys: readonly Form<KeyNeed>[]
      readonly forAdmins: readonly Form<AdminNeed>[]
      readonly byUrl: readonly SignedForm[]
    },
  ) {
    this.#memory = memory
    this.#denied = denied
    this.#keyForms = forms.forKeys
    this.#adminForms = forms.forAdmins
    this.#signedForms = forms.byUrl
  }

  /** Has the bucket `photos`, once it exists, deny everything to a key that is otherwise allowed. */
  async deny(): Promise<void> {
    const bucket = { tenantId: 'acme', name: 'photos' }
    if (this.#memory.services.state.get(bucketKeys.bucket('acme', 'photos')) === undefined) return
    const Principal = { AWS: this.#denied.accessKeyId }
    const Resource = ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*']
    const Statement = [{ Effect: 'Deny', Principal, Action: 's3:*', Resource }]
    const policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await this.#memory.change({ type: 'setBucketPolicy', ...bucket, policy })
  }

  cells(id: ExampleId): readonly Cell[] {
    if (isByUrl(id)) return this.#signedForms.flatMap((form) => signedCellOf(form, id))
    const namesBucket = id in MINTS || operationOf(id).path.includes('{bucket}')
    return this.cellsOf(id, needOf(id), namesBucket)
  }

  /** The same for an operation that is behind no route of the planes. `namesBucket`: its path names the bucket `photos`. */
  cellsOf(id: string, need: Requirement, namesBucket: boolean): readonly Cell[] {
    switch (need.kind) {
      case 'none':
        return []
      case 'accessKey':
        return this.#keyForms.flatMap((form) => cellOf(form, { id, need, namesBucket }))
      case 'adminToken':
        return this.#adminForms.flatMap((form) => cellOf(form, { id, need, namesBucket }))
    }
  }

  /** The least that lets an example on the bucket `photos`, below `2026/`, or on the tenant `acme`, pass; undefined: nothing. */
  async narrowest(id: ExampleId): Promise<string | undefined> {
    const need = needOf(id)
    if (isByUrl(id) || need.kind === 'none') return undefined
    if (need.kind === 'adminToken') {
      const { id: tenant = 'acme' } = need.reach === 'one-tenant' ? (exampleOf(id).params ?? {}) : {}
      return `Bearer ${await this.#memory.adminToken(need.role, need.reach === 'cluster' ? null : tenant)}`
    }
    const prefix = need.reach === 'whole-bucket' ? '' : '2026/'
    // A copy reads its source.
    const verbs =
      id === 'copyObject' || need.verbs.length === 0 ? (['read', ...need.verbs] as const) : need.verbs
    const scopes = verbs.map((verb) => `op=${verb}:bucket=photos:prefix=${prefix}`).join()
    return `Bearer ${await this.#memory.bearer('acme', scopes)}`
  }
}

function signedCellOf({ form, as, expect }: SignedForm, id: SignedOperationId): Cell[] {
  const expected = expect(id)
  if (expected === null) return []
  const [status, code] = expected
  return [{ form, as: (ask) => as(ask, id), status, code }]
}

function cellOf<Need>({ form, authorization, expect }: Form<Need>, asked: Asked<Need>): Cell[] {
  const expected = expect(asked)
  if (expected === null) return []
  const [status, code] = expected
  return [{ form, as: (ask) => bearing(authorization, ask), status, code }]
}

function invalidBearers(good: string, otherKind: string): Form<unknown>[] {
  const basic = `Basic ${Buffer.from('id:secret').toString('base64')}`
  // Only the last character holds spare bits.
  const flipped = good.slice(0, -2) + (good.at(-2) === 'A' ? 'B' : 'A') + good.slice(-1)
  const unauthorized = always(401, 'unauthorized')
  const invalid = always(401, 'token_invalid')
  return [
    { form: 'nothing', authorization: undefined, expect: unauthorized },
    { form: 'Basic', authorization: basic, expect: unauthorized },
    { form: 'a bearer without a token', authorization: 'Bearer', expect: unauthorized },
    { form: 'two tokens', authorization: `Bearer ${good} ${good}`, expect: unauthorized },
    { form: 'garbage', authorization: 'Bearer garbage', expect: invalid },
    { form: 'one character changed', authorization: `Bearer ${flipped}`, expect: invalid },
    { form: 'cut', authorization: `Bearer ${good.slice(0, -1)}`, expect: invalid },
    { form: 'the other kind of token', authorization: `Bearer ${otherKind}`, expect: invalid },
    {
      form: 'the kind of token of signed URLs',
      authorization: `Bearer ${good.replace(/^[a-z]+_/, 'svcurl_')}`,
      expect: invalid,
    },
  ]
}

async function keyForms(
  memory: MemoryServices,
  { token: denied }: KeyWithToken,
): Promise<readonly Form<KeyNeed>[]> {
  const all = VERBS.join()
  const bearer = async (tenant: string, scopes: string) => `Bearer ${await memory.bearer(tenant, scopes)}`
  const admin = await memory.adminToken('owner')
  const good = await memory.bearer('acme', all)
  const disabled = await bearer('gone', all)
  await memory.change({ type: 'disableTenant', tenantId: 'gone', reason: 'test' })
  const forms: Form<KeyNeed>[] = [
    ...invalidBearers(good, admin),
    { form: 'expired', authorization: await expiredBearer(memory), expect: always(401, 'token_expired') },
    { form: 'revoked', authorization: await revokedBearer(memory), expect: always(401, 'key_revoked') },
    { form: 'rotated', authorization: await rotatedBearer(memory), expect: always(401, 'token_invalid') },
    { form: 'a disabled tenant', authorization: disabled, expect: always(401, 'tenant_disabled') },
    {
      form: 'another tenant',
      authorization: await bearer('rival', all),
      expect: ({ namesBucket }) => (namesBucket ? [404, 'not_found'] : null),
    },
    {
      form: 'a key that a policy denies',
      authorization: `Bearer ${denied}`,
      // A batch is answered key by key. [tenants-and-scopes.test.ts]
      expect: ({ id, namesBucket }) =>
        namesBucket && id !== 'batchDeleteObjects' ? [403, 'access_denied'] : null,
    },
  ]
  for (const verb of VERBS) {
    forms.push({
      form: `${verb} alone`,
      authorization: await bearer('acme', verb),
      expect: ({ need: { verbs } }) =>
        verbs.every((needed) => needed === verb) ? null : [403, 'access_denied'],
    })
    forms.push({
      form: `all but ${verb}`,
      authorization: await bearer('acme', VERBS.filter((other) => other !== verb).join()),
      expect: ({ need: { verbs } }) => (verbs.includes(verb) ? [403, 'access_denied'] : null),
    })
  }
  const scoped = (where: string) => bearer('acme', VERBS.map((verb) => `op=${verb}:${where}`).join())
  forms.push({
    form: 'another bucket',
    authorization: await scoped('bucket=photos2:prefix='),
    expect: ({ need }) => (need.reach === 'tenant' ? null : [403, 'access_denied']),
  })
  for (const prefix of ['elsewhere/', '2026/cat.txt/', '2026/CAT'])
    forms.push({
      form: `the prefix ${prefix}`,
      authorization: await scoped(`bucket=photos:prefix=${prefix}`),
      expect: ({ need: { reach } }) =>
        reach === 'key' || reach === 'whole-bucket' ? [403, 'access_denied'] : null,
    })
  return forms
}

async function expiredBearer(memory: MemoryServices): Promise<string> {
  memory.now -= 2 * HOUR
  const token = await memory.bearer('acme', VERBS.join())
  memory.now += 2 * HOUR
  return `Bearer ${token}`
}

async function revokedBearer(memory: MemoryServices): Promise<string> {
  const key = await keyWithToken(memory)
  await revoke(memory, key)
  return `Bearer ${key.token}`
}

async function rotatedBearer(memory: MemoryServices): Promise<string> {
  const key = await keyWithToken(memory)
  await rotate(memory, key)
  return `Bearer ${key.token}`
}

async function adminForms(memory: MemoryServices): Promise<readonly Form<AdminNeed>[]> {
  const good = await memory.adminToken('owner')
  const bearer = async (...about: Parameters<MemoryServices['adminToken']>) =>
    `Bearer ${await memory.adminToken(...about)}`
  const forms: Form<AdminNeed>[] = [
    ...invalidBearers(good, await memory.bearer('acme', VERBS.join())),
    { form: 'expired', authorization: await bearer('owner', null, 1), expect: always(401, 'token_expired') },
    { form: 'revoked', authorization: await revokedAdmin(memory), expect: always(401, 'token_invalid') },
    {
      form: 'an owner of another tenant',
      authorization: await bearer('owner', 'rival'),
      expect: ({ need }) => (need.reach === 'own-tenants' ? null : [403, 'tenant_scope_denied']),
    },
    {
      form: 'an owner of the tenant',
      authorization: await bearer('owner', 'acme'),
      expect: ({ need }) => (need.reach === 'cluster' ? [403, 'tenant_scope_denied'] : null),
    },
  ]
  forms.push({
    form: 'an owner that makes no keys',
    authorization: `Bearer ${await memory.adminToken('owner', null, null, { noKeys: true })}`,
    expect: ({ id }) => (GIVE_SECRETS.includes(id) ? [403, 'access_denied'] : null),
  })
  for (const tenant of [null, 'acme', 'rival'])
    for (const [rank, role] of ROLES.entries())
      forms.push({
        form: `a ${role} of ${tenant ?? 'all tenants'}`,
        authorization: await bearer(role, tenant),
        expect: ({ need }) => (rank < ROLES.indexOf(need.role) ? [403, 'access_denied'] : null),
      })
  return forms
}

async function revokedAdmin(memory: MemoryServices): Promise<string> {
  const token = await memory.adminToken('owner')
  const { tokenId } = memory.services.access.openAdmin(`Bearer ${token}`)({
    address: 'test',
    isSecure: false,
  })
  await memory.change({ type: 'revokeAdminToken', tokenId })
  return `Bearer ${token}`
}
