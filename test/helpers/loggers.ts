/**
 * Loggers for tests: one that says nothing, one that keeps what was said.
 */
import type { Logger } from '../../cluster/base/types.ts'

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: object
}

/** Keeps what is logged, so that a test can ask for it. */
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

/** For tests that provoke what would be logged. */
export const SILENT: Logger = {
  fatal: ignore,
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  child: () => SILENT,
}
