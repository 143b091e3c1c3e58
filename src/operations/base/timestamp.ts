/**
 * Reads timestamps as RFC 3339 writes them, with any offset. [decisions 0]
 *
 * Rule: strict; a day that does not exist is no timestamp, though Date.parse lets it roll over into the next month.
 */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i

/** Milliseconds since 1970; null when the text is no timestamp. */
export function parseTimestamp(text: string): number | null {
  const time = TIMESTAMP.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN
  return Number.isNaN(time) || !isRealDay(text.slice(0, 10)) ? null : time
}

/** `day` as 2027-01-31. */
export function isRealDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}
