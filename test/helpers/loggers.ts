/**
 * Loggers for tests: one that drops everything, one that keeps the lines.
 */
import type { Logger } from '../../cluster/base/types.ts'

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: object
}

/** Keeps the log lines for the test to read. */
export function recordingLogger(lines: LogLine[] = []): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields })
  const logger: Logger = {
    fatal: at('fatal'),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => logger,
  }
  return logger
}

const ignore = (): void => undefined

/** For tests that provoke log lines. */
export const SILENT: Logger = {
  fatal: ignore,
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  child: () => SILENT,
}
