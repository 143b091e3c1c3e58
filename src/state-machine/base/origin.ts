/**
 * The request behind a command, as the edge received it.
 *
 * Owns: the facts about the request that a command carries, so that the entry of a change contains all that its audit row needs.
 * Knows nothing of: how the actor was authenticated. Rule: no secret, no token, no query string.
 */
import type { AccessKeyId, TenantId } from './record-ids.ts'

export interface Actor {
  readonly type: 'accessKey' | 'adminToken' | 'signedUrl' | 'system' | 'anonymous'
  /** Access key id, id of the admin token or of the signed URL; null when no actor was authenticated. */
  readonly id: string | null
  readonly role: AdminRole | null
  /** For a signed URL: the access key that signed it. */
  readonly accessKeyId?: AccessKeyId
  /** Of a temporary credential: the name of its session. Of an admin token: the name of the person who logged in for it. */
  readonly session?: string
}

export interface Origin {
  readonly requestId: string
  readonly api: 'native' | 's3' | 'admin' | 'internal'
  /** The operationId. */
  readonly operation: string
  readonly method: string
  /** Undecoded, without the query string. */
  readonly path: string
  readonly actor: Actor
  readonly tenantId: TenantId | null
  readonly bucket: string | null
  readonly key: string | null
  readonly versionId: string | null
  /** The reason that the caller gave. */
  readonly reason: string | null
  readonly sourceIp: string | null
  readonly userAgent: string | null
  /** Bytes of the body that had arrived when the change was proposed. */
  readonly bytesIn: number
  /** Time from the first byte of the request to the proposal. ms */
  readonly elapsedMs: number
  /** The status of the response if the command succeeds. */
  readonly successStatus: number
  /** The node that received the request. */
  readonly nodeId: string
}

/** For a request that came through the data directory and not over HTTP: no actor was authenticated, and it concerns no tenant. */
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

/** From the least to the most: each may do what those before it may. */
export const ADMIN_ROLES = ['auditor', 'viewer', 'operator', 'owner'] as const

export type AdminRole = (typeof ADMIN_ROLES)[number]
