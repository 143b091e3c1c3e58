/**
 * How plain values are written on the wire, shared by both planes. [decisions 0]
 */
import Type, { type TSchema } from 'typebox'
import { parseTimestamp } from '../operations/base/timestamp.ts'
import { Refusal } from '../base/refusal.ts'
import { documented } from './documented.ts'

const MS_PER_MINUTE = 60_000

/** The minute that was written last, and the text that all its times begin with: lines of a listing are often of one minute. */
let writtenMinute = Number.NaN
let minuteText = ''

/** RFC 3339, UTC, milliseconds. */
export function timeText(ms: number): string {
  const whole = Math.trunc(ms)
  const minute = Math.floor(whole / MS_PER_MINUTE)
  if (minute !== writtenMinute) {
    minuteText = new Date(ms).toISOString().slice(0, -'00.000Z'.length)
    writtenMinute = minute
  }
  const rest = whole - minute * MS_PER_MINUTE
  return `${minuteText}${twoDigits(Math.floor(rest / 1000))}.${threeDigits(rest % 1000)}Z`
}

const twoDigits = (value: number): string => (value < 10 ? `0${value}` : `${value}`)
const threeDigits = (value: number): string => (value < 100 ? `0${twoDigits(value)}` : `${value}`)

export const timeTextOrNull = (ms: number | null): string | null => (ms === null ? null : timeText(ms))

/** `name`: of the field or header, for the message. Throws Refusal invalid_request. */
export function readTime(name: string, text: string): number {
  const time = parseTimestamp(text)
  if (time !== null) return time
  throw new Refusal(
    'invalid_request',
    `"${name}" is "${text.slice(0, 40)}": use an RFC 3339 timestamp such as 2027-01-31T12:00:00Z`,
  )
}

export const Time = Type.String({ format: 'date-time' })

export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Members of every page: `isTruncated` always, `nextContinuationToken` only when there is more. */
export const pageEnd = (next: string | null): { isTruncated: boolean; nextContinuationToken?: string } =>
  next === null ? { isTruncated: false } : { isTruncated: true, nextContinuationToken: next }

/** The query parameter that continues a listing. */
export const CONTINUATION_TOKEN = Type.Optional(
  Type.String({
    description: 'nextContinuationToken of the page before, with the same query',
    ...documented({ pattern: '^[A-Za-z0-9_-]{23,4096}$' }),
  }),
)

export const PAGE_END_SCHEMA = {
  isTruncated: Type.Boolean(),
  nextContinuationToken: Type.Optional(Type.String()),
}
