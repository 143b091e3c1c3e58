/**
 * One line on a terminal that shows the progress of a transfer.
 *
 * Owns: the line. Rule: it is drawn only on a terminal, while bytes flow at most ten times a second, and erased when the transfer ends.
 */
import { printable, sizeText } from './printing.ts'

export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const DRAW_MS_MIN = 100
const BAR_CHARS = 20
const LABEL_CHARS_MAX = 40
const ERASE = '\r\u001b[K'

/** Its functions do not use `this`, so they can be passed as callbacks. */
export interface Progress {
  /** The total; null: not known. */
  readonly expect: (bytes: number | null) => void
  readonly advance: (bytes: number) => void
  /** Changes the label. */
  readonly call: (label: string) => void
  /** Erases the line so that another can be printed; the next bytes draw it again. */
  readonly clear: () => void
  readonly end: () => void
}

const SILENT: Progress = {
  expect: () => {},
  advance: () => {},
  call: () => {},
  clear: () => {},
  end: () => {},
}

/** `isWanted` false: --no-progress was given. */
export function progressOn(
  screen: Screen,
  label: string,
  isWanted: boolean,
  now: () => number = () => performance.now(),
): Progress {
  if (!isWanted || screen.isTTY !== true) return SILENT
  const startedAt = now()
  let currentLabel = label
  let total: number | null = null
  let done = 0
  let drawnAt = -Infinity
  const draw = (): void => {
    drawnAt = now()
    const line = progressLine({ label: currentLabel, done, total, seconds: (drawnAt - startedAt) / 1000 })
    screen.write(`${ERASE}${line.slice(0, (screen.columns ?? 80) - 1)}`)
  }
  return {
    expect: (bytes) => {
      total = bytes
      draw()
    },
    advance: (bytes) => {
      done += bytes
      if (now() - drawnAt >= DRAW_MS_MIN) draw()
    },
    call: (name) => {
      currentLabel = name
      draw()
    },
    clear: () => void screen.write(ERASE),
    end: () => void screen.write(ERASE),
  }
}

interface Reached {
  readonly label: string
  readonly done: number
  readonly total: number | null
  readonly seconds: number
}

/** Name, bar, share, bytes, rate and time left. */
export function progressLine({ label, done, total, seconds }: Reached): string {
  const rate = seconds > 0 ? done / seconds : 0
  const name = printable(label)
  const shown = name.length > LABEL_CHARS_MAX ? `…${name.slice(1 - LABEL_CHARS_MAX)}` : name
  if (total === null && done === 0) return shown
  if (total === null) return `${shown}  ${sizeText(done)}  ${sizeText(rate)}/s`
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.floor(share * BAR_CHARS)
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR_CHARS - filled)}]`
  const left = rate > 0 ? `  ${timeText((total - done) / rate)} left` : ''
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `${shown}  ${bar} ${percent}  ${sizeText(done)} of ${sizeText(total)}  ${sizeText(rate)}/s${left}`
}

export function timeText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 60) return `${whole}s`
  if (whole < 3600) return `${Math.floor(whole / 60)}m${whole % 60}s`
  return `${Math.floor(whole / 3600)}h${Math.floor((whole % 3600) / 60)}m`
}
