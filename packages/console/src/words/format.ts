/**
 * Figures as people read them. Pure.
 */
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
const numbers = new Intl.NumberFormat('en')

export const count = (value: number): string => numbers.format(value)

/** Three digits at least, as "1.46 GiB". */
export function bytes(value: number): string {
  const step = value < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10))
  const scaled = value / 1024 ** step
  const digits = step === 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2
  return `${scaled.toFixed(digits)} ${UNITS[step]}`
}

/** At most three digits, as "1,240", "12.4" or "0.0021". */
export const figure = (value: number): string =>
  value >= 100 ? numbers.format(Math.round(value)) : `${Number(value.toPrecision(3))}`

export const percent = (share: number): string => `${Math.round(share * 100)}%`

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** The two largest units, as "3 h 20 min". */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  const parts: string[] = []
  let left = Math.round(seconds)
  for (const [size, unit] of STEPS) {
    const whole = Math.floor(left / size)
    left -= whole * size
    if (whole > 0) parts.push(`${whole} ${unit}`)
    if (parts.length === 2 || (parts.length === 1 && whole === 0)) break
  }
  return parts.join(' ')
}

/** In the time zone of the browser. */
export function time(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime())
    ? iso
    : at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}

/** The same as a mark of a chart: with the day where several are shown. */
export function moment(ms: number, isOfToday: boolean): string {
  return new Date(ms).toLocaleString('en-GB', {
    ...(isOfToday ? { second: '2-digit' } : { day: 'numeric', month: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
  })
}
