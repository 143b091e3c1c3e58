/**
 * The one function that decides whether a proven principal may do an operation.
 *
 * Owns: the decision. Knows nothing of: how the principal was proved, whether the target exists.
 * Rule: it looks at the principal, the table and the target, never at stored data, so that a "no" tells nothing about
 * what exists. Every operation calls it first. [native: Authorization 1] [admin: Authentication 4]
 */
import assert from 'node:assert/strict'
import { Refusal } from '../refusal.ts'
import type { AdminRole } from '../state-machine/records.ts'
import type { OperationId } from './operation-ids.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Principal, Scope } from './principal.ts'
import { REQUIREMENTS, type AdminReach, type Reach, type Requirement } from './requirements.ts'
import { coversBucket } from './scopes.ts'
import { refuseBeyondUrl } from './signed-url.ts'

/** What the operation aims at; the members that its row in REQUIREMENTS speaks of must be there. */
export interface Target {
  /** In the data plane it can only be the principal's own; the admin plane names the one it aims at. */
  readonly tenantId?: string | null
  readonly bucket?: string
  /** An object key; for a listing the prefix asked for, '' for everything. */
  readonly key?: string
}

const RANK: Readonly<Record<AdminRole, number>> = { viewer: 1, operator: 2, owner: 3 }

/** Returns when allowed. Throws Refusal unauthorized, access_denied, tenant_scope_denied or signed_url_mismatch. */
export function authorize(principal: Principal | null, operationId: OperationId, target: Target): void {
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
