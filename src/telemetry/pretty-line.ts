/**
 * A line of the log for people: time, level, message, then the fields.
 *
 * Rule: what is no JSON object passes as it is; a field is never left out, but for the name of the node, which is the same in every line.
 */
const COLOURS: Readonly<Record<string, number>> = {
  fatal: 31,
  error: 31,
  warn: 33,
  info: 32,
  debug: 36,
  trace: 90,
}
const GREY = 90

export interface PrettyOptions {
  readonly isColoured: boolean
}

/** `line`: JSON with its end of line. The time is shown in UTC, as in the JSON. */
export function prettyLine(line: string, { isColoured }: PrettyOptions): string {
  const fields = fieldsOf(line)
  if (fields === null) return line
  const { level, time, node: _, msg = '', err, ...others } = fields
  const paint = (text: string, colour: number): string =>
    isColoured ? `\u001B[${colour}m${text}\u001B[0m` : text
  const rest = Object.entries(others).map(([name, value]) => `${paint(`${name}=`, GREY)}${textOf(value)}`)
  const head = [
    paint(String(time).slice(11, 23), GREY),
    paint(String(level).toUpperCase().padEnd(5), COLOURS[String(level)] ?? GREY),
    String(msg),
  ]
  return `${[...head, ...rest].join(' ')}\n${err === undefined ? '' : errorText(err)}`
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /[\s"=]|^$/.test(value) ? JSON.stringify(value) : value
}

/** The stack, which begins with the message, a step to the right. */
function errorText(err: unknown): string {
  const { stack, message } = typeof err === 'object' && err !== null ? { ...EMPTY, ...err } : EMPTY
  const text = typeof stack === 'string' ? stack : typeof message === 'string' ? message : JSON.stringify(err)
  return `${text
    .split('\n')
    .map((row) => `    ${row}`)
    .join('\n')}\n`
}

const EMPTY: { readonly stack?: unknown; readonly message?: unknown } = {}
