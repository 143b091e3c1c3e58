/**
 * Retention and legal hold as JSON: the same in the record of an object and on the routes of their own. [native: Retention]
 */
import Type, { type Static } from 'typebox'
import type { RetentionRecord } from '../../state-machine/versions/records.ts'
import { Time, timeText } from '../wire.ts'
import { RETENTION_MODES } from './settings-headers.ts'

export const RetentionView = Type.Object(
  { mode: Type.Enum([...RETENTION_MODES]), retainUntil: Time },
  { additionalProperties: false },
)

export const HoldView = Type.Object({ status: Type.Enum(['ON', 'OFF']) }, { additionalProperties: false })

export function retentionView({ mode, until }: RetentionRecord): Static<typeof RetentionView> {
  return { mode, retainUntil: timeText(until) }
}

export function holdView(legalHold: boolean): Static<typeof HoldView> {
  return { status: legalHold ? 'ON' : 'OFF' }
}
