/**
 * The two rows that identify the state: the machine's record, and the checksum over all rows. docs/formats/row.md
 *
 * Owns: how they are stored together and what makes them agree. Knows nothing of: what the record says.
 * Rules: they are written in one atomic batch with the rows that they cover, and are never counted as rows themselves; the
 * checksum row names its record, so that a stale row of the two is never combined with the other.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { StateDamagedError } from '../../../cluster/index.ts'
import { openRow, sealRow } from './row-codec.ts'
import { RowSum, SUM_BYTES } from './row-sum.ts'
import type { BatchOperation } from './separated-rows.ts'
import { type Database, type DatabaseSnapshot, MACHINE_RECORD_KEY, STATE_CHECKSUM_KEY } from './state-rows.ts'

export type { BatchOperation }

const DIGEST_BYTES = 32
const NO_RECORD = new Uint8Array()

export interface StateSeal {
  /** Null: nothing was ever applied. */
  readonly record: Uint8Array | null
  readonly sum: RowSum
}

export function sealOperations({ record, sum }: StateSeal): readonly BatchOperation[] {
  const payload = Buffer.concat([sum.bytes(), recordDigest(record)])
  const checksum = {
    type: 'put',
    key: STATE_CHECKSUM_KEY,
    value: sealRow(STATE_CHECKSUM_KEY, payload),
  } as const
  if (record === null) return [checksum]
  return [checksum, { type: 'put', key: MACHINE_RECORD_KEY, value: sealRow(MACHINE_RECORD_KEY, record) }]
}

/** Null where neither row is. Throws StateDamagedError. */
export function readSeal(db: Database, snapshot?: DatabaseSnapshot): StateSeal | null {
  const options = snapshot === undefined ? {} : { snapshot }
  const checksum = db.getSync(STATE_CHECKSUM_KEY, options)
  const stored = db.getSync(MACHINE_RECORD_KEY, options)
  if (checksum === undefined && stored === undefined) return null
  if (checksum === undefined) throw damaged('its checksum row is missing')
  const payload = openRow(STATE_CHECKSUM_KEY, checksum)
  assert(payload.length === SUM_BYTES + DIGEST_BYTES, 'a checksum row that verifies has one length')
  const record = stored === undefined ? null : openRow(MACHINE_RECORD_KEY, stored)
  if (!recordDigest(record).equals(payload.subarray(SUM_BYTES))) {
    throw damaged('its machine record is of another batch than its checksum')
  }
  return { record, sum: RowSum.of(payload.subarray(0, SUM_BYTES)) }
}

export function recordDigest(record: Uint8Array | null): Buffer {
  return hash('sha256', record ?? NO_RECORD, 'buffer')
}

function damaged(what: string): StateDamagedError {
  return new StateDamagedError(`Cannot read the state: ${what}; this node's state is damaged`)
}
