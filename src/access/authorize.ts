/**
 * The one function that decides whether a proven principal may do an operation.
 *
 * Owns: the decision. Knows nothing of: how the principal was proved, whether the target exists.
 * Rules: scopes are decided before stored data is looked at, so that a "no" tells nothing about what exists; only then is the
 * policy of the bucket asked, which can deny and never widen. Every operation calls it first, and one on the data plane cannot
 * without the policies. [native: Authorization 1] [admin: Authentication 4] [decisions 14]
 */
import assert from 'node:assert/strict'
import {
  type AdminOperationId,
  type DataOperationId,
  isDataOperation,
  type OperationId,
} from './base/operation-ids.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Principal, Scope } from './base/principal.ts'
import { refuseBeyondUrl } from './base/signed-url.ts'
import type { Target } from './base/target.ts'
import { type BucketPolicies, isDenied } from './policies/policy-gate.ts'
import { type AdminReach, type Reach, type Requirement, REQUIREMENTS } from './requirements.ts'
import { coversBucket } from './scopes.ts'
import { Refusal } from '../base/refusal.ts'
import type { AdminRole } from '../state-machine/base/origin.ts'

const RANK: Readonly<Record<AdminRole, number>> = { viewer: 1, operator: 2, owner: 3 }

/** Returns when allowed. Throws Refusal unauthorized, access_denied, tenant_scope_denied or signed_url_mismatch. */
export function authorize(principal: Principal | null, operationId: AdminOperationId, target: Target): void

export function authorize(
  principal: Principal | null,
  operationId: DataOperationId,
  target: Target,
  policies: BucketPolicies,
): void

export function authorize(
  principal: Principal | null,
  operationId: OperationId,
  target: Target,
  policies?: BucketPolicies,
): void {
  decide(principal, operationId, target)
  if (principal?.kind !== 'accessKey' || !isDataOperation(operationId)) return
  assert(policies !== undefined, 'the policies are given for every operation of the data plane')
  if (isDenied(principal, operationId, target, policies))
    deny(`The policy of bucket "${target.bucket}" denies '${operationId}' here to '${principal.accessKeyId}'`)
}

/**
 * What can be refused before the body of a request is read: as much of the decision as needs no stored data.
 * It never stands in place of `authorize`, which the operation calls.
 */
export function refuseBeforeBody(principal: Principal, operationId: OperationId, target: Target): void {
  decide(principal, operationId, target)
}

function decide(principal: Principal | null, operationId: OperationId, target: Target): void {
  const requirement: Requirement = REQUIREMENTS[operationId]
  if (requirement.kind === 'none') return
  if (principal === null) throw new Refusal('unauthorized', `Operation '${operationId}' needs a bearer token`)
  if (principal.kind !== requirement.kind) deny(`This kind of token cannot call '${operationId}'`)
  if (requirement.kind === 'accessKey' && principal.kind === 'accessKey') {
    refuseBeyondUrl(principal.signedUrl, operationId, target)
    return decideByScopes(principal, { ...requirement, operationId }, target)
  }
  if (requirement.kind === 'adminToken' && principal.kind === 'adminToken') {
    return decideByRole(principal, { ...requirement, operationId }, target)
  }
  assert.fail('principal and requirement are of the same kind here')
}

/** The buckets that a listing may name to this principal: those that some scope of it reaches. [decisions 14] */
export function canSeeBucket(principal: AccessKeyPrincipal, bucket: string): boolean {
  return principal.scopes.some((scope) => coversBucket(scope, bucket))
}

interface ScopeQuestion {
  readonly operationId: OperationId
  readonly verb: Scope['verb'] | null
  readonly reach: Reach
}

function decideByScopes(principal: AccessKeyPrincipal, question: ScopeQuestion, target: Target): void {
  const { operationId, verb, reach } = question
  const isOwnTenant = target.tenantId === undefined || target.tenantId === principal.tenantId
  assert(isOwnTenant, 'the tenant of a data operation comes from the principal and from nowhere else')
  const allowed = principal.scopes.some(
    (scope) => (verb === null || scope.verb === verb) && reaches(scope, reach, target),
  )
  if (allowed) return
  const wanted = verb === null ? 'scope' : `'${verb}' scope`
  deny(`Access key '${principal.accessKeyId}' has no ${wanted} that covers '${operationId}' here`)
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

interface RoleQuestion {
  readonly operationId: OperationId
  readonly role: AdminRole
  readonly reach: AdminReach
}

function decideByRole(principal: AdminTokenPrincipal, question: RoleQuestion, target: Target): void {
  const { operationId, role, reach } = question
  if (RANK[principal.role] < RANK[role]) deny(`Operation '${operationId}' needs the role '${role}'`)
  if (reach === 'one-tenant') assert(target.tenantId !== undefined, 'an operation on a tenant names it')
  if (principal.tenantId === null || reach === 'own-tenants') return
  if (reach === 'one-tenant' && target.tenantId === principal.tenantId) return
  throw new Refusal('tenant_scope_denied', `Admin token '${principal.tokenId}' is limited to one tenant`)
}

function deny(message: string): never {
  throw new Refusal('access_denied', message)
}
