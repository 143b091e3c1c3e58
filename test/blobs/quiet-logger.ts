/**
 * A logger for tests that provoke what would be logged.
 */
import type { Logger } from '../../cluster/types.ts'

const ignore = () => undefined

export const QUIET: Logger = {
  fatal: ignore,
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  child: () => QUIET,
}
