/**
 * Reads `expiresAt`: an RFC 3339 timestamp, or a date that means the first instant of that day in UTC. [decisions 11]
 *
 * Rule: what lies in the past is refused, because such a key would be born dead.
 */
import { Refusal } from '../../refusal.ts'

const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

export function keyExpiry(text: string, now: number): number {
  const isDate = DATE.test(text)
  const time = isDate || TIMESTAMP.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN
  // Date.parse lets 2027-02-30 roll over into March; a day that does not exist is a slip of the caller's.
  if (Number.isNaN(time) || !isRealDay(text.slice(0, 10))) {
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

function isRealDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}
