/**
 * Where a change comes from: the request behind a command, as the edge saw it.
 *
 * Owns: the facts that a command carries along, so that what is told of a change is in the entry of the change.
 * Knows nothing of: how the actor was proved. Rule: no secret, no token, no query string.
 */
import type { AccessKeyId, TenantId } from './record-ids.ts'

export interface Actor {
  readonly type: 'accessKey' | 'adminToken' | 'signedUrl' | 'system' | 'anonymous'
  /** Access key id, id of the admin token or of the signed URL; null where nobody was proved. */
  readonly id: string | null
  readonly role: AdminRole | null
  /** Of a signed URL: the key that made it. */
  readonly accessKeyId?: AccessKeyId
}

export interface Origin {
  readonly requestId: string
  readonly api: 'native' | 'admin' | 'internal'
  /** The operationId. */
  readonly operation: string
  readonly method: string
  /** Undecoded, without its query. */
  readonly path: string
  readonly actor: Actor
  readonly tenantId: TenantId | null
  readonly bucket: string | null
  readonly key: string | null
  readonly versionId: string | null
  /** Why, in the words of the caller. */
  readonly reason: string | null
  readonly sourceIp: string | null
  readonly userAgent: string | null
  /** Of the body, as far as it had arrived when the change was proposed. */
  readonly bytesIn: number
  /** From the first byte of the request to the proposal. ms */
  readonly elapsedMs: number
  /** The status of the answer when all goes well. */
  readonly successStatus: number
  /** The node that was asked. */
  readonly nodeId: string
}

/** Of what is asked with access to the data directory and not over HTTP: nobody was proved, and it aims at no tenant. */
export const SYSTEM_ORIGIN = {
  api: 'internal',
  actor: { type: 'system', id: null, role: null },
  tenantId: null,
  bucket: null,
  key: null,
  versionId: null,
  reason: null,
  sourceIp: null,
  userAgent: null,
  bytesIn: 0,
} as const satisfies Partial<Origin>

export type AdminRole = 'viewer' | 'operator' | 'owner'
