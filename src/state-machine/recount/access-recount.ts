/**
 * The part of a recount that is about access keys and accounts: lists, indexes and counts beside their rows.
 *
 * Owns: what follows from keys and accounts. Knows nothing of: where rows come from. Rule: as of recount.ts; memory does not
 * grow, because everything is compared as sums of hashes.
 */
import { tenantKeys } from '../tenants/keys.ts'
import type { Row } from '../base/view.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { AccessKeyRecord, AccountRecord, TenantAccessRecord } from '../tenants/records.ts'
import type { TextHash } from '../base/text-hash.ts'

export class AccessRecount {
  readonly #hash: TextHash
  /** Hashes of what key rows say less those of what lists and index say. */
  #keys = 0n
  /** Hashes of what account rows say less those of what index, count and keys say. */
  #accounts = 0n

  constructor(hash: TextHash) {
    this.#hash = hash
  }

  /** Any row; those of other kinds are ignored. */
  take(kind: string, key: string, row: Row): void {
    if (kind === 'accessKey') this.#takeKey(row as AccessKeyRecord)
    else if (kind === 'account') this.#takeAccount(key, row as AccountRecord)
    else if (kind === 'tenantAccess') this.#takeAccess(key, row as TenantAccessRecord)
    else if (kind === 'tenantAccessKey') this.#keys -= this.#hash(key)
    else if (kind === 'accountName') {
      this.#accounts -= this.#hash(`${key} ${(row as Pick<AccountRecord, 'accountId'>).accountId}`)
    }
  }

  /** What is wrong, in sentences. */
  finish(): readonly string[] {
    const found: string[] = []
    if (this.#keys !== 0n) found.push('access keys and the lists of their tenants differ')
    if (this.#accounts !== 0n) found.push('accounts and their names, their number or their keys differ')
    return found
  }

  #takeKey({ accessKeyId, tenantId, accountId, status }: AccessKeyRecord): void {
    const index = tenantKeys.tenantAccessKey(tenantId, accessKeyId)
    this.#keys += this.#hash(index) + this.#hash(`${status} ${index}`)
    if (status === 'active' && accountId !== null)
      this.#accounts -= this.#hash(`key of ${tenantKeys.account(tenantId, accountId)}`)
  }

  #takeAccount(key: string, { accountId, tenantId, name, keyCount }: AccountRecord): void {
    this.#accounts += this.#hash(`${tenantKeys.accountName(tenantId, name)} ${accountId}`)
    this.#accounts += this.#hash(`account of ${tenantId}`) + this.#hash(`key of ${key}`) * BigInt(keyCount)
  }

  #takeAccess(key: string, { accountCount, activeKeys, revokedKeys }: TenantAccessRecord): void {
    const [, tenantId = ''] = key.split('\u0000')
    this.#accounts -= this.#hash(`account of ${tenantId}`) * BigInt(accountCount)
    this.#takeList('active', tenantId, activeKeys)
    this.#takeList('revoked', tenantId, revokedKeys)
  }

  #takeList(status: AccessKeyRecord['status'], tenantId: TenantId, ids: readonly string[]): void {
    for (const id of ids) this.#keys -= this.#hash(`${status} ${tenantKeys.tenantAccessKey(tenantId, id)}`)
  }
}
