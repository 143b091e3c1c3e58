/**
 * A link as a QR code (ISO/IEC 18004): one path of its dark modules, with the light border that scanners need. Pure.
 */
import { encode } from 'uqr'

/** Of the largest code, version 40 with the lowest error correction. */
const BYTES_MAX = 2953
/** Modules around the code, by the standard. */
const QUIET_ZONE = 4

export interface QrCode {
  /** Modules of a side, with the quiet zone. */
  readonly size: number
  /** In units of modules: a rectangle for each run of dark modules in a row. */
  readonly path: string
}

/** null: no code can hold the link. */
export function qrCode(link: string): QrCode | null {
  if (new TextEncoder().encode(link).length > BYTES_MAX) return null
  const { size, data } = encode(link, { border: QUIET_ZONE, boostEcc: true })
  return { size, path: data.map((row, y) => runsOf(row, y)).join('') }
}

function runsOf(row: readonly boolean[], y: number): string {
  let path = ''
  for (let x = 0, end = 0; x < row.length; x = end) {
    end = x + 1
    while (end < row.length && row[end] === row[x]) end++
    if (row[x] === true) path += `M${x} ${y}h${end - x}v1h${x - end}z`
  }
  return path
}
