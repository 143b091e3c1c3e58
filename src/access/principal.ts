/**
 * Who is asking, once it has been proved.
 *
 * Owns: the identity types that operations pass around. Rule: a principal is made only by src/access; it holds no secret.
 */
import type { AccessKeyId, AdminRole, TenantId } from '../state-machine/records.ts'
import type { SignedUrl } from './signed-url.ts'

export type Verb = 'read' | 'write' | 'delete' | 'admin'

/** `bucket` '*' means every bucket; `prefix` '' every key. */
export interface Scope {
  readonly verb: Verb
  readonly bucket: string
  readonly prefix: string
}

export interface AccessKeyPrincipal {
  readonly kind: 'accessKey'
  readonly accessKeyId: AccessKeyId
  readonly tenantId: TenantId
  /** Of the secret that was proved; a rotation makes another. */
  readonly keyVersion: number
  readonly scopes: readonly Scope[]
  /** The URL by which the caller came; null: a bearer token. */
  readonly signedUrl: SignedUrl | null
}

export interface AdminTokenPrincipal {
  readonly kind: 'adminToken'
  readonly tokenId: string
  readonly role: AdminRole
  /** null: all tenants. */
  readonly tenantId: TenantId | null
}

export type Principal = AccessKeyPrincipal | AdminTokenPrincipal
