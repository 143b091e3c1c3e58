/**
 * testAccess: authorize -> the operation is known, and bucket and key are given where it needs them -> tenant and access key exist -> the address is given where
 * rights depend on it -> decide as on a request.
 *
 * Owns: the explanation. Rules: it decides nothing by itself, but calls the functions that decide on requests, in their order: the state of the key,
 * from where it may be used, scopes, bucket policy. It changes nothing, and the key counts as not used. Whether bucket and object exist is not
 * checked, as no right depends on it.
 */
import { authorize, maySometimes, meetingScopes, meets } from '../../access/authorize.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Scope } from '../../access/base/principal.ts'
import type { Target } from '../../access/base/target.ts'
import { bindingRefusal } from '../../access/caller-binding.ts'
import { principalOf, requireLive } from '../../access/live-key.ts'
import { asksForAddress, denialOf } from '../../access/policies/policy-gate.ts'
import { adminToken, type DataRights, type KeyRequirement, type Rights } from '../../access/rights.ts'
import { comparableAddress } from '../../base/network-address.ts'
import { Refusal, refusalOf } from '../../base/refusal.ts'
import { bucketPolicyOf } from '../../state-machine/buckets/bucket-policies.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { getTenantBucketPolicy } from '../bucket-policies/get-tenant-bucket-policy.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { findAccessKey } from './find-access-key.ts'

/** What can decide, in the order of the checks. */
export const ACCESS_DECIDERS = ['tenant', 'key', 'binding', 'scopes', 'bucketPolicy'] as const

type Decider = (typeof ACCESS_DECIDERS)[number]

interface TestAccessInput {
  /** Of the tenant. */
  readonly id: string
  readonly accessKeyId: string
  readonly operation: string
  /** Those of the operation; undefined: the data API has none of this name. */
  readonly rights: Rights | undefined
  readonly bucket: string | undefined
  readonly key: string | undefined
  readonly versionId: string | undefined
  readonly sourceIp: string | undefined
  readonly isSecure: boolean
  /** ms since 1970 */
  readonly now: number
}

export interface DenyingStatement {
  /** Its place in the policy, from 0. */
  readonly index: number
  readonly sid: string | null
  /** As the policy has it; null: the caller may not read policies. */
  readonly document: object | null
}

export interface AccessVerdict {
  /** null: it is allowed. */
  readonly refusal: Refusal | null
  readonly reason: string
  readonly decidedBy: Decider
  /** By which the key may do it, before a policy is asked. */
  readonly scopes: readonly Scope[]
  readonly statement: DenyingStatement | null
}

export const testAccess = adminOperation(
  {
    id: 'testAccess',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: ['invalid_argument'],
    target: tenantTarget,
  },
  async ({ state }, principal, input: TestAccessInput): Promise<AccessVerdict> => {
    const rights = testableRights(input)
    const target = targetOf(input, rights)
    const tenant = findTenant({ state }, input.id)
    const record = findAccessKey({ state }, tenant.id, input.accessKeyId)
    requireAddress({ state }, record, input)
    return verdict({ state, record, rights, target, input, caller: principal })
  },
)

type KeyRights = DataRights & { readonly requires: KeyRequirement }

/** Whether an access key calls the operation by itself, and needs rights for it. */
export function isTestable(rights: Rights): rights is KeyRights {
  if (!('s3Action' in rights) || rights.requires.kind !== 'accessKey') return false
  return rights.coveredByUrl?.isRequired !== true
}

/** Throws Refusal invalid_argument. */
function testableRights({ operation, rights }: TestAccessInput): KeyRights {
  if (rights !== undefined && isTestable(rights)) return rights
  const why =
    rights === undefined
      ? 'is no operation of the data API: give an operationId of its document, such as getObject'
      : 'is an operation that no access key calls by itself'
  throw new Refusal('invalid_argument', `"operation" is "${operation.slice(0, 64)}", which ${why}`)
}

/** As the operation itself makes its target of a request. Throws Refusal invalid_argument. */
function targetOf({ operation, bucket, key, versionId }: TestAccessInput, rights: KeyRights): Target {
  const { s3Action: action, requires } = rights
  if (requires.reach === 'tenant' && action === null) return {}
  if (bucket === undefined) return missing('bucket', operation)
  if (versionId !== undefined && (action === null || action.ofVersion === null))
    throw new Refusal('invalid_argument', `Operation "${operation}" takes no "versionId"`)
  if (requires.reach !== 'key' && action?.on !== 'object') return { bucket }
  // The prefix of a listing: without one it lists everything, and it has no delimiter.
  if (action?.isListing === true) return { bucket, key: key ?? '', delimiter: '' }
  return key === undefined ? missing('key', operation) : { bucket, key, versionId }
}

function missing(name: string, operation: string): never {
  throw new Refusal('invalid_argument', `Operation "${operation}" needs "${name}"`)
}

/** An answer that depends on the address is not given without one. Throws Refusal invalid_argument. */
function requireAddress(
  { state }: Pick<Services, 'state'>,
  { tenantId, boundTo, accessKeyId }: AccessKeyRecord,
  { sourceIp, bucket }: TestAccessInput,
): void {
  if (sourceIp !== undefined) {
    if (comparableAddress(sourceIp) !== undefined) return
    throw new Refusal('invalid_argument', `"sourceIp" is "${sourceIp.slice(0, 64)}", which is not an address`)
  }
  if ((boundTo?.addresses.length ?? 0) > 0)
    throw new Refusal(
      'invalid_argument',
      `Give "sourceIp": access key "${accessKeyId}" is bound to addresses`,
    )
  if (bucket !== undefined && asksForAddress({ tenantId, bucket }, state))
    throw new Refusal('invalid_argument', `Give "sourceIp": the policy of bucket "${bucket}" asks for it`)
}

interface Question {
  readonly state: Services['state']
  readonly record: AccessKeyRecord
  readonly rights: KeyRights
  readonly target: Target
  readonly input: TestAccessInput
  readonly caller: AdminTokenPrincipal
}

function verdict(question: Question): AccessVerdict {
  const { state, record, rights, target, input } = question
  const ended = refusalOf(() => requireLive(state, record, input.now))
  if (ended !== null) return refusedBy(ended.code === 'tenant_disabled' ? 'tenant' : 'key', ended)
  const circumstances = { address: input.sourceIp ?? '', isSecure: input.isSecure, at: input.now }
  const principal = { ...principalOf(record, circumstances), signedUrl: null }
  const elsewhere = bindingRefusal(record.boundTo, circumstances, principal)
  if (elsewhere !== null) return refusedBy('binding', elsewhere)
  const refusal = refusalOf(() => authorize(principal, rights, target, state))
  if (refusal !== null && !meets(principal, rights.requires, target)) return refusedBy('scopes', refusal)
  const scopes = meetingScopes(principal, rights.requires, target)
  if (refusal !== null)
    return { ...refusedBy('bucketPolicy', refusal), scopes, statement: denyingStatement(question, principal) }
  const reason = `Access key '${record.accessKeyId}' has a scope that covers '${rights.id}' here, and no policy denies it`
  return { refusal: null, reason, decidedBy: 'scopes', scopes, statement: null }
}

function refusedBy(decidedBy: Decider, refusal: Refusal): AccessVerdict {
  return { refusal, reason: refusal.message, decidedBy, scopes: [], statement: null }
}

/** Null: the policy denies as a whole. */
function denyingStatement(
  { state, record: { tenantId }, rights: { s3Action }, target, caller }: Question,
  principal: AccessKeyPrincipal,
): DenyingStatement | null {
  const { bucket } = target
  if (s3Action === null || bucket === undefined) return null
  const index = denialOf(principal, s3Action, target, state)?.statement ?? null
  const stored = bucketPolicyOf(state, tenantId, bucket)
  if (index === null || stored === undefined) return null
  const { Statement } = JSON.parse(stored.policy) as { readonly Statement: readonly { Sid?: string }[] }
  const document = Statement[index] ?? {}
  const isShown = maySometimes(caller, getTenantBucketPolicy)
  return { index, sid: document.Sid ?? null, document: isShown ? document : null }
}
