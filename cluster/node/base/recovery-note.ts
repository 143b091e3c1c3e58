/**
 * The note in the configuration entry that brings a group back after it has lost its quorum.
 *
 * Layout (docs/formats/log-entry.md): MessagePack array [1, planId, recoveryEpoch, featureLevel, time, command].
 * Knows nothing of: how the plan was made, what the command does. Rule: one entry carries votes, epoch and command, so that no crash
 * leaves a group that has one of them without the others.
 */
import { Packr } from 'msgpackr'
import { assert } from '../../base/assert.ts'

const VERSION = 1
const packr = new Packr({ useRecords: false, variableMapSize: true })

/** From this level on a node understands the entry. */
export const RECOVERY_LEVEL = 2

export interface RecoveryNote {
  readonly planId: string
  readonly recoveryEpoch: number
  readonly featureLevel: number
  /** When the plan was made, by the clock of the node that made it. ms since 1970 */
  readonly time: number
  /** The service's own. */
  readonly command: Uint8Array
}

export function encodeRecoveryNote(note: RecoveryNote): Uint8Array {
  const { planId, recoveryEpoch, featureLevel, time, command } = note
  return packr.pack([VERSION, planId, recoveryEpoch, featureLevel, time, command])
}

/** Throws on another version or shape: a node that skips what its peers apply diverges from them. */
export function decodeRecoveryNote(bytes: Uint8Array): RecoveryNote {
  const fields: unknown = packr.unpack(bytes)
  assert(Array.isArray(fields) && fields.length === 6, 'a recovery note is a list of six')
  const [version, planId, recoveryEpoch, featureLevel, time, command]: unknown[] = fields
  assert(version === VERSION, `a recovery note has version ${String(version)}, this node knows ${VERSION}`)
  assert(typeof planId === 'string' && command instanceof Uint8Array, 'a recovery note names its plan')
  assert(
    isCount(recoveryEpoch) && isCount(featureLevel) && isCount(time),
    'a recovery note carries three counts',
  )
  return { planId, recoveryEpoch, featureLevel, time, command }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
