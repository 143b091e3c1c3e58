/**
 * What a local cluster is made from, and how its errors of use are reported.
 */
import { CommandError, EXIT } from '../base/exit.ts'

export interface LocalOptions {
  readonly nodes: number
  /** The folder for all data, absolute. */
  readonly dataDir: string
  readonly basePort: number
  readonly json: boolean
  /** Settings for every node; they override the defaults of the local cluster. */
  readonly configFile: string | null
  readonly restart: boolean
}

/** Exit code 2: nothing was started. */
export function wrongUse(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}

/** Exit code 1: it was tried. */
export function notStarted(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'not_started', hint })
}
