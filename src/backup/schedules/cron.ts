/**
 * When a schedule is due: five fields as cron has them, in UTC. Pure.
 *
 * Owns: reading of the text, and the times that fit. Knows nothing of: what runs. Rules: a text that never fits, or that says two things about the day, is
 * refused with what was expected; UTC has no hours that are missing or come twice. Every search ends, because no fitting text waits for longer than
 * SEARCH_DAYS_MAX.
 */

/** The text is no schedule; the message says what was expected. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError'
}

export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: readonly number[]
  /** 1 to 12. */
  readonly months: readonly number[]
  /** 0 is Sunday. */
  readonly weekdays: readonly number[]
}

export const CRON_TEXT_MAX = 200
const EXAMPLE =
  'write five fields in UTC, minute hour day month weekday, such as "30 2 * * *" for 02:30 each day'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** From one 29 February to the next around a century without one, and a day. */
const SEARCH_DAYS_MAX = 8 * 366 + 1
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
/** In a leap year. */
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names: readonly string[]
}

const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  { name: 'day', min: 1, max: 31, names: [] },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'weekday', min: 0, max: 7, names: WEEKDAYS },
]

/** Throws ScheduleError. */
export function parseCron(text: string): Cron {
  const fields =
    text.length > CRON_TEXT_MAX
      ? []
      : text
          .trim()
          .toLowerCase()
          .split(/[ \t]+/)
  if (fields.length !== FIELDS.length)
    throw new ScheduleError(`"${text.slice(0, 40)}" is no schedule: ${EXAMPLE}`)
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = FIELDS.map((field, n) =>
    valuesOf(fields[n] ?? '', field),
  )
  const cron = { minutes, hours, days, months, weekdays: sorted(weekdays.map((day) => day % 7)) }
  if (days.length < 31 && cron.weekdays.length < 7)
    throw new ScheduleError(
      `"${text}" names both a day of the month and a weekday: leave one of them "*", or set two schedules`,
    )
  if (!months.some((month) => (days[0] ?? 32) <= (LONGEST[month - 1] ?? 0)))
    throw new ScheduleError(`"${text}" never fits: none of its months has a day ${days[0]}`)
  return cron
}

function valuesOf(text: string, field: Field): readonly number[] {
  const values = text.split(',').flatMap((part) => partOf(part, field))
  return sorted(values)
}

const sorted = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

/** `*`, a value, a range, each with `/step` where there is a range. */
function partOf(part: string, field: Field): readonly number[] {
  const [, range = '', step] = /^([a-z0-9*-]+)(?:\/(\d{1,4}))?$/.exec(part) ?? []
  const [from, to] = range === '*' ? [field.min, field.max] : ends(range, field)
  const by = step === undefined ? 1 : Number(step)
  const isStepped = step !== undefined && from === to
  if (from > to || by < 1 || by > field.max || isStepped) throw wrong(part, field)
  const values: number[] = []
  for (let value = from; value <= to; value += by) values.push(value)
  return values
}

function ends(range: string, field: Field): readonly [number, number] {
  const parts = range.split('-').map((text) => numberOf(text, field))
  const [from = Number.NaN, to = from] = parts
  if (parts.length > 2 || parts.some((value) => Number.isNaN(value))) throw wrong(range, field)
  return [from, to]
}

function numberOf(text: string, { min, max, names }: Field): number {
  const named = names.indexOf(text)
  const value =
    named >= 0 ? named + (names === MONTHS ? 1 : 0) : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : Number.NaN
}

function wrong(part: string, { name, min, max }: Field): ScheduleError {
  return new ScheduleError(
    `"${part.slice(0, 40)}" is no ${name}: write *, a number from ${min} to ${max}, a list such as ${min},${min + 2}, a range such as ${min}-${min + 2}, or */2; ${EXAMPLE}`,
  )
}

/** The last fitting time that is not later than `at`. ms since 1970; null: none within SEARCH_DAYS_MAX. */
export function lastTime(cron: Cron, at: number): number | null {
  const first = dayOf(at)
  for (let day = first; day > first - SEARCH_DAYS_MAX; day -= 1) {
    if (!isFitting(cron, day)) continue
    const limit = day === first ? minuteOf(at) : 24 * 60 - 1
    const minute = minutesOf(cron).findLast((one) => one <= limit)
    if (minute !== undefined) return day * DAY_MS + minute * MINUTE_MS
  }
  return null
}

/** The first fitting time that is later than `at`. ms since 1970; null: none within SEARCH_DAYS_MAX. */
export function nextTime(cron: Cron, at: number): number | null {
  const first = dayOf(at)
  for (let day = first; day < first + SEARCH_DAYS_MAX; day += 1) {
    if (!isFitting(cron, day)) continue
    const limit = day === first ? minuteOf(at) : -1
    const minute = minutesOf(cron).find((one) => one > limit)
    if (minute !== undefined) return day * DAY_MS + minute * MINUTE_MS
  }
  return null
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS)
const minuteOf = (at: number): number => Math.floor((at - dayOf(at) * DAY_MS) / MINUTE_MS)

function isFitting({ days, months, weekdays }: Cron, day: number): boolean {
  const date = new Date(day * DAY_MS)
  return (
    months.includes(date.getUTCMonth() + 1) &&
    days.includes(date.getUTCDate()) &&
    weekdays.includes(date.getUTCDay())
  )
}

/** Of one day, in order. */
const minutesOf = ({ hours, minutes }: Cron): readonly number[] =>
  hours.flatMap((hour) => minutes.map((minute) => hour * 60 + minute))
