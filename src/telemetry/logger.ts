/**
 * The log of one node: lines on standard error, or to a given destination.
 *
 * Owns: level, field redaction, the base fields, the form of a line. Rules: lines are written behind the work that they report, a fatal one and
 * all before it at once, and the rest at the end of the process however it ends by itself. No line contains a secret. Code does not log secrets on purpose; a secret
 * inside a logged object is redacted by the field names below. A test logs each of them.
 */
import { type DestinationStream, pino, type Logger as PinoLogger } from 'pino'
import type { Config } from '../config/types.ts'
import { prettyLine } from './pretty-line.ts'

export const SECRET_FIELDS = [
  'secretKey',
  'secret',
  'token',
  'authorization',
  'password',
  'dataKey',
  'dedupKey',
  'masterKey',
  'signingSecret',
] as const

/** pino redacts by path; secrets are at the top level or one or two levels down (err.request, req.headers). */
const REDACTED_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])

export interface LoggerOptions {
  readonly level: Config['logging']['level']
  readonly nodeId: string
  /** Absent: JSON. `auto`: for people where standard error is a terminal. */
  readonly format?: Config['logging']['format']
  readonly destination?: { write(line: string): void }
}

/** The children of each logger: one for each component, made at the start. */
const CHILDREN = new WeakMap<PinoLogger, PinoLogger[]>()

/** Of a logger from createLogger, and of everything that got a child of it. */
export function setLogLevel(logger: PinoLogger, level: LoggerOptions['level']): void {
  for (const one of [logger, ...(CHILDREN.get(logger) ?? [])]) one.level = level
}

export function createLogger(options: LoggerOptions): PinoLogger {
  const children: PinoLogger[] = []
  const logger = pino(
    {
      onChild: (child) => void children.push(child),
      level: options.level,
      base: { node: options.nodeId },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED_PATHS, censor: '[secret]' },
    },
    options.destination ?? standardError(options.format ?? 'json'),
  )
  CHILDREN.set(logger, children)
  return logger
}

const STDERR = 2

function standardError(format: Config['logging']['format']): DestinationStream {
  const isTerminal = process.stderr.isTTY
  if (format === 'json' || (format === 'auto' && !isTerminal))
    return pino.destination({ fd: STDERR, sync: false })
  const out = pino.destination({ fd: STDERR, sync: true })
  const isColoured = isTerminal && (process.env['NO_COLOR'] ?? '') === ''
  return { write: (line) => void out.write(prettyLine(line, { isColoured })) }
}
