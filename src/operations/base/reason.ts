/** The reason that a request has to give: trimmed, never empty. Throws Refusal reason_required. */
import { Refusal } from '../../base/refusal.ts'

export function givenReason(reason: string, action: string): string {
  const given = reason.trim()
  if (given === '') throw new Refusal('reason_required', `Cannot ${action}: "reason" is empty`)
  return given
}
