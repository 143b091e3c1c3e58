/**
 * How plain values are written on the wire, shared by both planes. [decisions 0]
 */
import Type, { type TSchema } from 'typebox'
import { parseTimestamp } from '../operations/base/timestamp.ts'
import { Refusal } from '../base/refusal.ts'
import { documented } from './documented.ts'

/** RFC 3339, UTC, milliseconds. */
export const timeText = (ms: number): string => new Date(ms).toISOString()

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
