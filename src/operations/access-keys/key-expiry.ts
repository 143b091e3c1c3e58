/**
 * Reads `expiresAt`: an RFC 3339 timestamp, or a date that means the first instant of that day in UTC. [decisions 11]
 *
 * Rule: what lies in the past is refused, because such a key would be born dead.
 */
import { Refusal } from '../../base/refusal.ts'
import { isRealDay, parseTimestamp } from '../base/timestamp.ts'

const DATE = /^\d{4}-\d{2}-\d{2}$/

export function keyExpiry(text: string, now: number): number {
  const isDay = DATE.test(text) && isRealDay(text)
  const time = isDay ? Date.parse(text) : parseTimestamp(text)
  if (time === null) {
    throw new Refusal(
      'invalid_request',
      `"expiresAt" is "${text.slice(0, 40)}": use an RFC 3339 timestamp such as 2027-01-31T12:00:00Z, or a date such as 2027-01-31`,
    )
  }
  if (time <= now) {
    throw new Refusal('invalid_request', `"expiresAt" is ${new Date(time).toISOString()}, which is past`)
  }
  return time
}
