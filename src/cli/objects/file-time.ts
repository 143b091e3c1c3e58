/**
 * The time of a file as metadata of its object, so that it comes back with the file.
 *
 * Owns: the spelling, which is that of rclone: seconds since 1970 with up to nine decimals, under `mtime`. Pure.
 */
export const TIME_NAME = 'mtime'

/** `ns`: nanoseconds since 1970. */
export function timeText(ns: bigint): string {
  const sign = ns < 0n ? '-' : ''
  const whole = ns < 0n ? -ns : ns
  const decimals = `${whole % 1_000_000_000n}`.padStart(9, '0').replace(/0+$/, '')
  return `${sign}${whole / 1_000_000_000n}${decimals === '' ? '' : `.${decimals}`}`
}

/** Milliseconds since 1970, from the headers of an object; null when it has none, or one that is no time. */
export function timeIn(headers: Readonly<Record<string, string>>): number | null {
  return timeOf(headers[`x-service-meta-${TIME_NAME}`])
}

/** As above, of the value of the metadata. */
export function timeOf(text: string | undefined): number | null {
  const [, sign = '', seconds = '', decimals = ''] = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text ?? '') ?? []
  if (seconds === '') return null
  const ms = Number(seconds) * 1000 + Math.floor(Number(decimals.padEnd(9, '0')) / 1_000_000)
  // The latest time of a Date.
  return ms > 8.64e15 ? null : sign === '-' ? -ms : ms
}

/** Files keep their times in other units, so one that was set and read again may be a millisecond less. */
export const isSameTime = (a: number, b: number): boolean => Math.abs(a - b) <= 1
