/**
 * Access keys with the data that tests need and no answer contains: a token, and the id that revokes the key.
 */
import type { MemoryServices } from '../helpers/memory-services.ts'

export const EVERY_VERB = 'read,write,delete,admin'

export interface KeyWithToken {
  readonly accessKeyId: string
  readonly tenantId: string
  /** A bearer token. */
  readonly token: string
}

export async function keyWithToken(
  memory: MemoryServices,
  { tenantId = 'acme', scopes = EVERY_VERB, expiresAt = null as number | null } = {},
): Promise<KeyWithToken> {
  const made = await memory.accessKey(tenantId, scopes, expiresAt)
  const { token } = memory.services.access.exchange({ ...made, clientAddress: 'test' })
  return { accessKeyId: made.accessKeyId, tenantId, token }
}

export function revoke(memory: MemoryServices, { accessKeyId, tenantId }: KeyWithToken): Promise<void> {
  return memory.change({ type: 'revokeAccessKey', accessKeyId, tenantId, reason: 'test' })
}

export function rotate(memory: MemoryServices, { accessKeyId, tenantId }: KeyWithToken): Promise<void> {
  const { sealed: secret } = memory.services.access.newSecret(accessKeyId)
  const key = { accessKeyId, tenantId, secret, scopes: null, expiresAt: null }
  return memory.change({ type: 'rotateAccessKey', ...key })
}
