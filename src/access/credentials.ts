/**
 * The making of access keys and tenant keys: randomness in, something to show once and something to store out.
 *
 * Owns: the forms of id and secret. Rule: a plain secret leaves only in `secretKey`; what is stored is sealed.
 */
import { randomBytes } from 'node:crypto'
import type { AuditKeysRecord } from '../state-machine/audit/records.ts'
import type { AccessKeyId, HookId } from '../state-machine/base/record-ids.ts'
import type { NewAccessKey, NewHook, NewTenantKeys } from './access.ts'
import type { MasterKey } from './master-key.ts'
import {
  accessKeySecret,
  auditDataKey,
  auditDedupKey,
  hookSecret,
  tenantDataKey,
  tenantDedupKey,
} from './sealing-contexts.ts'

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ID_PREFIX = 'AK'
const ID_RANDOM_CHARS = 18
/** 30 bytes are 40 characters of base64url. */
const SECRET_BYTES = 30
const TENANT_KEY_BYTES = 32
const HOOK_ID_CHARS = 16
/** Standard Webhooks asks for 24 to 64 bytes. */
const HOOK_SECRET_BYTES = 24

export function newAccessKeyId(): AccessKeyId {
  return ID_PREFIX + randomText(ID_RANDOM_CHARS)
}

function randomText(characters: number): string {
  // 32 characters divide 256 evenly, so the remainder favours none of them.
  const chars = Array.from(randomBytes(characters), (byte) => ID_ALPHABET[byte % ID_ALPHABET.length])
  return chars.join('')
}

/** The secret is sealed as its bytes; what is shown is their form of Standard Webhooks. */
export function newHook(masterKey: MasterKey): NewHook {
  const hookId: HookId = randomText(HOOK_ID_CHARS)
  const secret = randomBytes(HOOK_SECRET_BYTES)
  const signingSecret = `whsec_${secret.toString('base64')}`
  return { hookId, signingSecret, sealed: masterKey.seal(secret, hookSecret(hookId)) }
}

export function newSecretFor(accessKeyId: AccessKeyId, masterKey: MasterKey): NewAccessKey {
  const secretKey = randomBytes(SECRET_BYTES).toString('base64url')
  return {
    accessKeyId,
    secretKey,
    sealed: masterKey.seal(Buffer.from(secretKey), accessKeySecret(accessKeyId)),
  }
}

/** `version`: of the data key. */
export function newTenantKeys(tenantId: string, masterKey: MasterKey, version = 1): NewTenantKeys {
  return {
    dataKey: masterKey.seal(randomBytes(TENANT_KEY_BYTES), tenantDataKey(tenantId, version)),
    dedupKey: masterKey.seal(randomBytes(TENANT_KEY_BYTES), tenantDedupKey(tenantId)),
    masterKeyId: masterKey.id,
  }
}

export function newAuditKeys(masterKey: Pick<MasterKey, 'seal'>): AuditKeysRecord {
  return {
    dataKey: masterKey.seal(randomBytes(TENANT_KEY_BYTES), auditDataKey()),
    dedupKey: masterKey.seal(randomBytes(TENANT_KEY_BYTES), auditDedupKey()),
  }
}
