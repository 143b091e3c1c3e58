/**
 * Every way in which a caller may come without the right to an operation, and what the table of rights makes of each.
 *
 * Owns: the forms and what is expected, derived from REQUIREMENTS by rules of its own. Knows nothing of `authorize`.
 * Rule: a form that has nothing to say about an operation gives null, and is no cell of the matrix.
 */
import type { OperationId } from '../../src/access/operation-ids.ts'
import type { Verb } from '../../src/access/principal.ts'
import { REQUIREMENTS, type Requirement } from '../../src/access/requirements.ts'
import type { MemoryServices } from '../helpers/memory-services.ts'

export interface Cell {
  /** The Authorization header; undefined: none. */
  readonly authorization: string | undefined
  readonly form: string
  readonly status: number
  readonly code: string
}

type Expected = readonly [status: number, code: string] | null
type KeyNeed = Extract<Requirement, { kind: 'accessKey' }>
type AdminNeed = Extract<Requirement, { kind: 'adminToken' }>

export interface Asked<Need> {
  readonly need: Need
  readonly namesBucket: boolean
}

interface Form<Need> {
  readonly form: string
  readonly authorization: string | undefined
  readonly expect: (asked: Asked<Need>) => Expected
}

const VERBS: readonly Verb[] = ['read', 'write', 'delete', 'admin']
const ROLES = ['viewer', 'operator', 'owner'] as const
const HOUR = 3_600_000
const always = (status: number, code: string) => (): Expected => [status, code]

export class CredentialForms {
  readonly #keyForms: readonly Form<KeyNeed>[]
  readonly #adminForms: readonly Form<AdminNeed>[]
  readonly #memory: MemoryServices

  /** Makes a credential of every form. The tenant that is asked about is `acme`; it need not exist yet, but its keys do. */
  static async make(memory: MemoryServices): Promise<CredentialForms> {
    const forms = [await keyForms(memory), await adminForms(memory)] as const
    return new CredentialForms(memory, ...forms)
  }

  private constructor(
    memory: MemoryServices,
    forKeys: readonly Form<KeyNeed>[],
    forAdmins: readonly Form<AdminNeed>[],
  ) {
    this.#memory = memory
    this.#keyForms = forKeys
    this.#adminForms = forAdmins
  }

  cells(operationId: OperationId, { namesBucket }: { readonly namesBucket: boolean }): readonly Cell[] {
    const need: Requirement = REQUIREMENTS[operationId]
    switch (need.kind) {
      case 'none':
        return []
      case 'accessKey':
        return this.#keyForms.flatMap((form) => cellOf(form, { need, namesBucket }))
      case 'adminToken':
        return this.#adminForms.flatMap((form) => cellOf(form, { need, namesBucket }))
    }
  }

  /** The least that lets an operation on the bucket `photos`, below `2026/`, or on the tenant `acme`, pass. */
  async narrowest(operationId: OperationId): Promise<string | undefined> {
    const need: Requirement = REQUIREMENTS[operationId]
    if (need.kind === 'none') return undefined
    if (need.kind === 'adminToken')
      return `Bearer ${await this.#memory.adminToken(need.role, need.reach === 'cluster' ? null : 'acme')}`
    const prefix = need.reach === 'whole-bucket' ? '' : '2026/'
    // A copy reads its source.
    const verbs = operationId === 'copyObject' ? (['read', need.verb] as const) : [need.verb]
    const scopes = verbs.map((verb) => `op=${verb}:bucket=photos:prefix=${prefix}`).join()
    return `Bearer ${await this.#memory.bearer('acme', scopes)}`
  }
}

function cellOf<Need>({ form, authorization, expect }: Form<Need>, asked: Asked<Need>): Cell[] {
  const expected = expect(asked)
  if (expected === null) return []
  const [status, code] = expected
  return [{ form, authorization, status, code }]
}

function strangers(good: string, otherKind: string): Form<unknown>[] {
  const basic = `Basic ${Buffer.from('id:secret').toString('base64')}`
  // The last character alone holds spare bits; the one before does not.
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

async function keyForms(memory: MemoryServices): Promise<readonly Form<KeyNeed>[]> {
  await memory.tenant('acme')
  for (const other of ['rival', 'gone']) await memory.tenant(other)
  const all = VERBS.join()
  const bearer = async (tenant: string, scopes: string) => `Bearer ${await memory.bearer(tenant, scopes)}`
  const admin = await memory.adminToken('owner')
  const good = await memory.bearer('acme', all)
  const disabled = await bearer('gone', all)
  await memory.change({ type: 'shredTenant', tenantId: 'gone', reason: 'test' })
  const forms: Form<KeyNeed>[] = [
    ...strangers(good, admin),
    { form: 'expired', authorization: await expiredBearer(memory), expect: always(401, 'token_expired') },
    { form: 'revoked', authorization: await revokedBearer(memory), expect: always(401, 'key_revoked') },
    { form: 'rotated', authorization: await rotatedBearer(memory), expect: always(401, 'token_invalid') },
    { form: 'a disabled tenant', authorization: disabled, expect: always(401, 'tenant_disabled') },
    {
      form: 'another tenant',
      authorization: await bearer('rival', all),
      expect: ({ namesBucket }) => (namesBucket ? [404, 'not_found'] : null),
    },
  ]
  for (const verb of VERBS) {
    forms.push({
      form: `${verb} alone`,
      authorization: await bearer('acme', verb),
      expect: ({ need }) => (need.verb === verb ? null : [403, 'access_denied']),
    })
    forms.push({
      form: `all but ${verb}`,
      authorization: await bearer('acme', VERBS.filter((other) => other !== verb).join()),
      expect: ({ need }) => (need.verb === verb ? [403, 'access_denied'] : null),
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
  const { key, token } = await keyAndToken(memory)
  await memory.change({ type: 'revokeAccessKey', ...key, reason: 'test' })
  return token
}

async function rotatedBearer(memory: MemoryServices): Promise<string> {
  const { key, token } = await keyAndToken(memory)
  const { sealed } = memory.services.access.newSecret(key.accessKeyId)
  await memory.change({ type: 'rotateAccessKey', ...key, secret: sealed, scopes: null, expiresAt: null })
  return token
}

async function keyAndToken(memory: MemoryServices) {
  const made = await memory.accessKey('acme', VERBS.join())
  const { token } = memory.services.access.exchange({ ...made, clientAddress: 'test' })
  return { key: { accessKeyId: made.accessKeyId, tenantId: 'acme' }, token: `Bearer ${token}` }
}

async function adminForms(memory: MemoryServices): Promise<readonly Form<AdminNeed>[]> {
  const good = await memory.adminToken('owner')
  const bearer = async (...about: Parameters<MemoryServices['adminToken']>) =>
    `Bearer ${await memory.adminToken(...about)}`
  const forms: Form<AdminNeed>[] = [
    ...strangers(good, await memory.bearer('acme', VERBS.join())),
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
  const { tokenId } = memory.services.access.authenticateAdmin(`Bearer ${token}`)
  await memory.change({ type: 'revokeAdminToken', tokenId })
  return `Bearer ${token}`
}
