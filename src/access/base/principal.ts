/**
 * Who is asking, once it has been proved.
 *
 * Owns: the identity types that operations pass around. Rule: a principal is made only by src/access; it holds no secret.
 */
import type { AdminRole } from '../../state-machine/base/origin.ts'
import type { AccessKeyId, TenantId } from '../../state-machine/base/record-ids.ts'
import type { SignedUrl } from './signed-url.ts'

export type Verb = 'read' | 'write' | 'delete' | 'admin'

/** `bucket` '*' means every bucket; `prefix` '' every key. */
export interface Scope {
  readonly verb: Verb
  readonly bucket: string
  readonly prefix: string
}

/** How a request came in: what the edge knows of it. */
export interface Connection {
  /** Of the client: trusted proxies are believed about it. */
  readonly address: string
  readonly isSecure: boolean
  /** Plain, but from this machine or a trusted proxy, so that no other machine has read it. Absent: it is not known to be. */
  readonly isSheltered?: boolean
  /** That the client proved to have, by a CA that the listener trusts. Null or absent: none. */
  readonly certificate?: ClientCertificate | null
}

export interface ClientCertificate {
  /** Digest of the certificate, lower-case hex. */
  readonly sha256: string
  /** Null: its subject has none, or several. */
  readonly commonName: string | null
}

/** Where a request comes from, and when: conditions of bucket policies ask for it. */
export interface Circumstances extends Connection {
  /** Milliseconds since 1970, by the clock of the node that was asked. */
  readonly at: number
}

export interface Session {
  readonly name: string
  /** Of its credential. Milliseconds since 1970. */
  readonly endsAt: number
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
  /** Of the temporary credential that the caller came with. Absent: the key itself. */
  readonly session?: Session
  readonly circumstances: Circumstances
}

export interface AdminTokenPrincipal {
  readonly kind: 'adminToken'
  readonly tokenId: string
  readonly role: AdminRole
  /** It makes and rotates no access keys, whatever its role. */
  readonly noKeys: boolean
  /** null: all tenants. */
  readonly tenantId: TenantId | null
  /** The person who logged in for it. Absent: a token of the command line. */
  readonly user?: { readonly id: string; readonly name: string }
}

export type Principal = AccessKeyPrincipal | AdminTokenPrincipal
