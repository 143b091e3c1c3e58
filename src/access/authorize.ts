/**
 * The one function that decides whether a proven principal may do an operation.
 *
 * Owns: the decision. Knows nothing of: how the principal was proved, whether the target exists.
 * Rules: scopes are decided before stored data is looked at, so that a refusal does not reveal what exists; only then is the
 * policy of the bucket asked, which can deny and never widen. `src/operations/base/operation.ts` calls it before the body of
 * every operation; on the data plane it does not compile without the policies. A body calls it only where it does a part of its
 * work as another operation. [native: Authorization 1] [admin: Authentication 4] [decisions 14]
 */
import assert from 'node:assert/strict'
import { Refusal } from '../base/refusal.ts'
import { ADMIN_ROLES, type AdminRole } from '../state-machine/base/origin.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Principal, Scope, Verb } from './base/principal.ts'
import { refuseBeyondUrl } from './base/signed-url.ts'
import type { Target } from './base/target.ts'
import type { View } from '../state-machine/base/view.ts'
import { denialOf } from './policies/policy-gate.ts'
import type { AdminRequirement, AdminRights, DataRights, KeyRequirement, Reach, Rights } from './rights.ts'
import { coversBucket } from './scopes.ts'

/** Returns when allowed. Throws Refusal unauthorized, access_denied, tenant_scope_denied or signed_url_mismatch. */
export function authorize(principal: Principal | null, rights: AdminRights, target: Target): void

export function authorize(principal: Principal | null, rights: DataRights, target: Target, state: View): void

export function authorize(principal: Principal | null, rights: Rights, target: Target, state?: View): void {
  decide(principal, rights, target)
  const action = 's3Action' in rights ? rights.s3Action : null
  if (principal?.kind !== 'accessKey' || action === null) return
  assert(state !== undefined, 'the state is given for every operation of the data plane')
  if (denialOf(principal, action, target, state) !== null)
    deny(`The policy of bucket "${target.bucket}" denies '${rights.id}' here to '${principal.accessKeyId}'`)
}

/**
 * What can be refused before the body of a request is read: as much of the decision as needs no stored data.
 * It never replaces `authorize`, which runs before the operation.
 */
export function refuseBeforeBody(principal: Principal, rights: Rights, target: Target): void {
  decide(principal, rights, target)
}

function decide(principal: Principal | null, rights: Rights, target: Target): void {
  const { id, requires } = rights
  if (requires.kind === 'none') return
  if (principal === null) throw new Refusal('unauthorized', `Operation '${id}' needs a bearer token`)
  if (principal.kind !== requires.kind) deny(`This kind of token cannot call '${id}'`)
  if (requires.kind === 'accessKey' && principal.kind === 'accessKey') {
    refuseBeyondUrl(principal.signedUrl, rights, target)
    return decideByScopes(principal, { ...requires, id }, target)
  }
  if (requires.kind === 'adminToken' && principal.kind === 'adminToken') {
    return decideByRole(principal, { ...requires, id }, target)
  }
  assert.fail('principal and requirement are of the same kind here')
}

/** Whether there is a target at which this principal may do an operation of the admin plane; for what an answer shows, not for what is done. */
export function maySometimes(
  principal: AdminTokenPrincipal,
  { requires }: Pick<Rights, 'requires'>,
): boolean {
  switch (requires.kind) {
    case 'none':
      return true
    case 'accessKey':
      return false
    case 'adminToken':
      if (rankOf(principal.role) < rankOf(requires.role)) return false
      if (requires.givesSecret && principal.noKeys) return false
      return principal.tenantId === null || requires.reach !== 'cluster'
  }
}

/** Whether the scopes of this principal meet a requirement at the target; for what an answer shows, not for what is done. */
export function meets(
  { scopes }: AccessKeyPrincipal,
  { verbs, reach }: KeyRequirement,
  target: Target,
): boolean {
  return missingVerb(scopes, { verbs, reach }, target) === null
}

/** Those of its scopes by which the principal meets a requirement at the target; for what an answer shows, not for what is done. */
export function meetingScopes(
  { scopes }: AccessKeyPrincipal,
  { verbs, reach }: KeyRequirement,
  target: Target,
): readonly Scope[] {
  return scopes.filter(
    (scope) => (verbs.length === 0 || verbs.includes(scope.verb)) && reaches(scope, reach, target),
  )
}

/** The buckets that a listing may name to this principal: those that some scope of it reaches. [decisions 14] */
export function canSeeBucket(principal: AccessKeyPrincipal, bucket: string): boolean {
  return principal.scopes.some((scope) => coversBucket(scope, bucket))
}

interface ScopeQuestion extends KeyRequirement {
  readonly id: string
}

function decideByScopes(
  principal: AccessKeyPrincipal,
  { id, verbs, reach }: ScopeQuestion,
  target: Target,
): void {
  const isOwnTenant = target.tenantId === undefined || target.tenantId === principal.tenantId
  assert(isOwnTenant, 'the tenant of a data operation comes from the principal and from nowhere else')
  const missing = missingVerb(principal.scopes, { verbs, reach }, target)
  if (missing === null) return
  const wanted = missing === 'any' ? 'scope' : `'${missing}' scope`
  const limits = limitsOf(principal.scopes, missing)
  deny(`Access key '${principal.accessKeyId}' has no ${wanted} that covers '${id}' here${limits}`)
}

/** A message has this many places of the scopes of its own caller, and this much of each. */
const PLACES_SHOWN = 3
const PLACE_CHARS_SHOWN = 80

/** `: its write scope is limited to photos/in/`; empty if the key has no scope for this verb. */
function limitsOf(scopes: readonly Scope[], verb: Verb | 'any'): string {
  const places = scopes.flatMap((scope) => (scope.verb === verb ? [`${scope.bucket}/${scope.prefix}`] : []))
  if (places.length === 0) return ''
  const shown = places.slice(0, PLACES_SHOWN).map((place) => place.slice(0, PLACE_CHARS_SHOWN))
  const more = places.length > PLACES_SHOWN ? ` and ${places.length - PLACES_SHOWN} more` : ''
  return `: its ${verb} scope is limited to ${shown.join(', ')}${more}`
}

/** The first verb without a scope that reaches the target; `any`: no scope does; null: nothing is missing. */
function missingVerb(
  scopes: readonly Scope[],
  { verbs, reach }: Pick<KeyRequirement, 'verbs' | 'reach'>,
  target: Target,
): Verb | 'any' | null {
  const reaching = scopes.filter((scope) => reaches(scope, reach, target))
  if (verbs.length === 0) return reaching.length > 0 ? null : 'any'
  return verbs.find((verb) => !reaching.some((scope) => scope.verb === verb)) ?? null
}

function reaches(scope: Scope, reach: Reach, target: Target): boolean {
  if (reach === 'tenant') return true
  assert(target.bucket !== undefined, 'an operation on a bucket names it')
  if (!coversBucket(scope, target.bucket)) return false
  switch (reach) {
    case 'bucket':
      return true
    case 'whole-bucket':
      return scope.prefix === ''
    case 'key':
      assert(target.key !== undefined, 'an operation on objects names their key or prefix')
      return target.key.startsWith(scope.prefix)
  }
}

interface RoleQuestion extends AdminRequirement {
  readonly id: string
}

function decideByRole(
  principal: AdminTokenPrincipal,
  { id, role, reach, givesSecret }: RoleQuestion,
  target: Target,
): void {
  if (rankOf(principal.role) < rankOf(role)) deny(`Operation '${id}' needs the role '${role}'`)
  if (givesSecret && principal.noKeys)
    deny(`Admin token '${principal.tokenId}' was made to make no access keys, and '${id}' answers a secret`)
  if (reach === 'one-tenant') assert(target.tenantId !== undefined, 'an operation on a tenant names it')
  if (principal.tenantId === null || reach === 'own-tenants') return
  if (reach === 'one-tenant' && target.tenantId === principal.tenantId) return
  throw new Refusal('tenant_scope_denied', `Admin token '${principal.tokenId}' is limited to one tenant`)
}

/** A role that this version does not know ranks below all. */
function rankOf(role: AdminRole): number {
  return ADMIN_ROLES.indexOf(role)
}

function deny(message: string): never {
  throw new Refusal('access_denied', message)
}
