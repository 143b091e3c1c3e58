/**
 * Records an admin token by its hash. Reached only through filesystem access: the local socket of a running node,
 * or a pending record in the data directory of a stopped one. No JSON route mints. [admin: Authentication 2] [decisions 1]
 *
 * Rule: the token itself never comes here; the program that mints it keeps it and sends the hash.
 */
import { Refusal } from '../../base/refusal.ts'
import { ADMIN_ROLES, type AdminRole } from '../../state-machine/base/origin.ts'
import { BOUND_ADDRESSES_MAX, BOUND_CERTIFICATES_MAX, readBinding } from '../../access/caller-binding.ts'
import type { AdminTokenRecord, CallerBinding } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { adminTokenByHash } from '../../state-machine/tenants/admin-tokens.ts'

export interface NewAdminTokenInput {
  readonly tokenId: string
  readonly name: string
  readonly role: AdminRole
  readonly tenantId: string | null
  /** Milliseconds since 1970; null never expires. */
  readonly expiresAt: number | null
  /** Lower-case hex of SHA-256 over the token. */
  readonly sha256: string
  /** It makes and rotates no access keys. Absent: the role decides. */
  readonly noKeys?: true
  /** Absent: usable from everywhere. */
  readonly boundTo?: CallerBinding
}

const ROLES: readonly string[] = ADMIN_ROLES

/** Checks data that came from a file or a socket. Throws Refusal `invalid_request`. */
export function parseNewAdminToken(value: unknown): NewAdminTokenInput {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Partial<NewAdminTokenInput>
  const { tokenId, name, role, tenantId = null, expiresAt = null, sha256, noKeys, boundTo } = given
  const wrong = (field: string): Refusal =>
    new Refusal(
      'invalid_request',
      `Cannot create an admin token: the field '${field}' is missing or malformed`,
    )
  if (typeof tokenId !== 'string' || !/^adm_[0-9a-f]{16}$/.test(tokenId)) throw wrong('tokenId')
  if (typeof name !== 'string' || name.length < 1 || name.length > 128) throw wrong('name')
  if (typeof role !== 'string' || !ROLES.includes(role)) throw wrong('role')
  if (tenantId !== null && typeof tenantId !== 'string') throw wrong('tenantId')
  if (expiresAt !== null && !Number.isSafeInteger(expiresAt)) throw wrong('expiresAt')
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw wrong('sha256')
  if (noKeys !== undefined && noKeys !== true) throw wrong('noKeys')
  const binding = boundTo === undefined ? undefined : bindingOf(boundTo)
  if (binding === null) throw wrong('boundTo')
  const restrictions = {
    ...(noKeys === undefined ? {} : { noKeys }),
    ...(binding === undefined ? {} : { boundTo: binding }),
  }
  return { tokenId, name, role, tenantId, expiresAt, sha256, ...restrictions }
}

/** Null: malformed. Throws Refusal invalid_argument for an entry that names nothing. */
function bindingOf(value: unknown): CallerBinding | undefined | null {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const { addresses, certificates } = given
  if (!isTexts(addresses, BOUND_ADDRESSES_MAX) || !isTexts(certificates, BOUND_CERTIFICATES_MAX)) return null
  return readBinding({ addresses, certificates })
}

function isTexts(value: unknown, countMax: number): value is readonly string[] {
  return Array.isArray(value) && value.length <= countMax && value.every((item) => typeof item === 'string')
}

export async function createAdminToken(
  services: Services,
  input: NewAdminTokenInput,
): Promise<AdminTokenRecord> {
  await services.cluster.readBarrier()
  if (input.tenantId !== null) findTenant(services, input.tenantId)
  // The same record twice is the same token: a pending record may be proposed again after a crash.
  const known = adminTokenByHash(services.state, input.sha256)
  if (known?.tokenId === input.tokenId) return known
  return settle(await services.propose({ type: 'createAdminToken', ...input }))
}
