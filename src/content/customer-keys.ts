/**
 * Keys that clients send with each request, and what is kept instead of them. [docs/adr/0092-keys-of-clients.md]
 *
 * Owns: which keys seal the chunks of such an object. Knows nothing of: headers, rows. Rules: the key of a client is used and never kept; without
 * both it and the secret of the tenant nothing is derived, so neither a disk with the client's key nor one with the master key opens a chunk; a salt
 * of its own makes the chunks of an object unlike those of any other, so none is shared.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../base/refusal.ts'
import type { CustomerSeal } from '../state-machine/bodies/records.ts'
import { TenantKeys } from './tenant-keys.ts'

/** AES-256. */
export const CUSTOMER_KEY_BYTES = 32
const SALT_BYTES = 32

export interface CustomerKeys {
  readonly seal: CustomerSeal
  readonly keys: TenantKeys
}

/** `again`: a text that a repeated upload has too, so that it makes the same chunks; absent: the salt is random. */
export function newCustomerKeys(tenant: TenantKeys, key: KeyObject, again?: string): CustomerKeys {
  const salt =
    again === undefined
      ? randomBytes(SALT_BYTES)
      : createHmac('sha256', tenant.secrets.dedupKey).update(`holdfast/1/customer-salt/${again}`).digest()
  const { keys, proof } = derive(tenant, key, salt)
  return { keys, seal: { salt: salt.toString('base64url'), proof: proof.toString('base64url') } }
}

/** Null: another key made the seal. */
export function openedBy(tenant: TenantKeys, key: KeyObject, seal: CustomerSeal): TenantKeys | null {
  const { keys, proof } = derive(tenant, key, Buffer.from(seal.salt, 'base64url'))
  const kept = Buffer.from(seal.proof, 'base64url')
  return kept.length === proof.length && timingSafeEqual(kept, proof) ? keys : null
}

function derive(
  { secrets }: TenantKeys,
  key: KeyObject,
  salt: Buffer,
): { readonly keys: TenantKeys; readonly proof: Buffer } {
  const bytes = key.export()
  const root = createHmac('sha256', secrets.dedupKey)
    .update('holdfast/1/customer-key/')
    .update(salt)
    .update(bytes)
    .digest()
  bytes.fill(0)
  const rootKey = createSecretKey(root)
  root.fill(0)
  const part = (name: string): Buffer => createHmac('sha256', rootKey).update(name).digest()
  return { keys: TenantKeys.fromBytes(part('data'), part('dedup')), proof: part('proof') }
}

/** Throws Refusal: invalid_request where a key is missing or has nothing to open, access_denied where it is another one. */
export function checkCustomerKey(
  tenant: TenantKeys,
  key: KeyObject | undefined,
  { key: name, customerSeal: seal }: { readonly key: string; readonly customerSeal?: CustomerSeal },
): TenantKeys | null {
  if (seal === undefined) {
    if (key === undefined) return null
    throw new Refusal(
      'invalid_request',
      `"${name}" is not encrypted with a key of a client: ask for it without one`,
    )
  }
  if (key === undefined)
    throw new Refusal(
      'invalid_request',
      `"${name}" is encrypted with a key of its client: send that key with the request, in the headers for it`,
    )
  const keys = openedBy(tenant, key, seal)
  if (keys !== null) return keys
  throw new Refusal('access_denied', `"${name}" is encrypted with another key than the one that was sent`)
}
