/**
 * Durations in queries: numbers with a unit, one after the other. [decisions 7]
 */
import { Refusal } from '../../base/refusal.ts'

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const PIECE = /(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)/g
export const DURATION = /^(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ms|s|m|h|d))+$/
export const DURATION_CHARACTERS_MAX = 64

/** `90s`, `15m`, `1h30m`, `7d` -> ms. Throws Refusal invalid_argument. */
export function readDuration(name: string, text: string): number {
  if (text.length <= DURATION_CHARACTERS_MAX && DURATION.test(text))
    return [...text.matchAll(PIECE)].reduce(
      (sum, [, number, unit = '']) => sum + Number(number) * (UNIT_MS[unit] ?? 0),
      0,
    )
  throw new Refusal(
    'invalid_argument',
    `"${name}" is "${text.slice(0, 32)}": give a duration such as 90s, 15m, 24h or 7d`,
  )
}
