/**
 * The part of a recount for access keys and accounts: compares lists, indexes and counts with the rows that they follow from.
 *
 * Owns: what follows from keys and accounts. Knows nothing of: where rows come from. Rule: as in recount.ts; memory is
 * constant, because everything is compared as sums of hashes.
 */
import { tenantKeys } from '../tenants/keys.ts'
import type { Row } from '../base/view.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { AccessKeyRecord, AccountRecord, TenantAccessRecord } from '../tenants/records.ts'
import type { TextHash } from '../base/text-hash.ts'

export class AccessRecount {
  readonly #hash: TextHash
  /** Hashes that follow from key rows minus those that follow from lists and index. */
  #keys = 0n
  /** Hashes that follow from account rows minus those that follow from index, count and keys. */
  #accounts = 0n

  constructor(hash: TextHash) {
    this.#hash = hash
  }

  /** Takes any row; rows of other kinds are ignored. */
  take(kind: string, key: string, row: Row): void {
    if (kind === 'accessKey') this.#takeKey(row as AccessKeyRecord)
    else if (kind === 'account') this.#takeAccount(key, row as AccountRecord)
    else if (kind === 'tenantAccess') this.#takeAccess(key, row as TenantAccessRecord)
    else if (kind === 'tenantAccessKey') this.#keys -= this.#hash(key)
    else if (kind === 'accountName') {
      this.#accounts -= this.#hash(`${key} ${(row as Pick<AccountRecord, 'accountId'>).accountId}`)
    }
  }

  /** Returns the differences as sentences. */
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
