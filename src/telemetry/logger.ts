/**
 * The log of one node: JSON lines on standard error, or to a given destination.
 *
 * Owns: level, field redaction, the base fields. Rule: no line contains a secret. Code does not log secrets on purpose; a secret
 * inside a logged object is redacted by the field names below. A test logs each of them.
 */
import { pino, type Logger as PinoLogger } from 'pino'
import type { Config } from '../config/types.ts'

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
    options.destination ?? pino.destination({ fd: 2, sync: true }),
  )
  CHILDREN.set(logger, children)
  return logger
}
