/**
 * How long a caller asks an answer to wait.
 */
import Type from 'typebox'
import { Refusal } from '../../base/refusal.ts'
import { documented } from '../documented.ts'

/** At most 60 s. */
const WAIT = /^(?:([1-9][0-9]{0,3}|[1-5][0-9]{4}|60000)ms|([1-9]|[1-5][0-9]|60)s)$/

export const WAIT_PARAMETER = (description: string) =>
  Type.Optional(Type.String({ description, ...documented({ pattern: WAIT.source }) }))

/** Milliseconds. Throws Refusal invalid_argument. */
export function waitOf(text: string): number {
  const [, ms, seconds] = WAIT.exec(text) ?? []
  if (ms !== undefined) return Number(ms)
  if (seconds !== undefined) return Number(seconds) * 1_000
  throw new Refusal(
    'invalid_argument',
    `Cannot wait "${text.slice(0, 32)}": give a whole number with its unit, from 1ms to 60s, such as 30s`,
  )
}
