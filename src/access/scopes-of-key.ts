/**
 * The scopes of an access key as its row says them now, parsed once for each row.
 *
 * Rule: what is parsed belongs to the row and not to the name of the key: another row has scopes of its own, and a row that is gone takes
 * them along.
 */
import type { AccessKeyRecord } from '../state-machine/tenants/records.ts'
import type { Scope } from './base/principal.ts'
import { parseScopes } from './scopes.ts'

const PARSED = new WeakMap<AccessKeyRecord, readonly Scope[]>()

/** Throws Refusal invalid_argument. */
export function scopesOf(record: AccessKeyRecord): readonly Scope[] {
  const known = PARSED.get(record)
  if (known !== undefined) return known
  const scopes = parseScopes(record.scopes)
  PARSED.set(record, scopes)
  return scopes
}
