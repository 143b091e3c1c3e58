/**
 * The making of access keys and tenant keys: randomness in, something to show once and something to store out.
 *
 * Owns: the forms of id and secret. Rule: a plain secret leaves in `secretKey` alone; what is stored is sealed.
 */
import { randomBytes } from 'node:crypto'
import type { AccessKeyId } from '../state-machine/records.ts'
import type { NewAccessKey, NewTenantKeys } from './access.ts'
import type { MasterKey } from './master-key.ts'
import { accessKeySecret, tenantDataKey, tenantDedupKey } from './sealing-contexts.ts'

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ID_PREFIX = 'AK'
const ID_RANDOM_CHARS = 18
/** 30 bytes are 40 characters of base64url. */
const SECRET_BYTES = 30
const TENANT_KEY_BYTES = 32

export function newAccessKeyId(): AccessKeyId {
  // 32 characters divide 256 evenly, so the remainder favours none of them.
  const chars = Array.from(randomBytes(ID_RANDOM_CHARS), (byte) => ID_ALPHABET[byte % ID_ALPHABET.length])
  return ID_PREFIX + chars.join('')
}

export function newSecretFor(accessKeyId: AccessKeyId, masterKey: MasterKey): NewAccessKey {
  const secretKey = randomBytes(SECRET_BYTES).toString('base64url')
  return {
    accessKeyId,
    secretKey,
    sealed: masterKey.seal(Buffer.from(secretKey), accessKeySecret(accessKeyId)),
  }
}

export function newTenantKeys(tenantId: string, masterKey: MasterKey): NewTenantKeys {
  return {
    dataKey: masterKey.seal(randomBytes(TENANT_KEY_BYTES), tenantDataKey(tenantId)),
    dedupKey: masterKey.seal(randomBytes(TENANT_KEY_BYTES), tenantDedupKey(tenantId)),
    masterKeyId: masterKey.id,
  }
}
