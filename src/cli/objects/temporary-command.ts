/**
 * `holdfast key temporary`: a bearer token that may do less than the access key, for one job.
 *
 * Rule: the token is printed on standard output alone, as a line that a shell can source.
 */
import { type ScopeOptions, scopesOf } from '../admin/scope-options.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printable, printJson, printLine } from '../base/printing.ts'

export interface TemporaryOptions extends DataAccessOptions, ScopeOptions {
  readonly session: string
  /** ms */
  readonly expiresIn?: number
  readonly json?: boolean
}

export function makeTemporary(options: TemporaryOptions): Promise<number> {
  const scopes = scopesOf(options)
  const { session: sessionName, expiresIn } = options
  const body = {
    sessionName,
    ...(scopes === null ? {} : { scopes }),
    ...(expiresIn === undefined ? {} : { ttlSeconds: Math.max(1, Math.floor(expiresIn / 1000)) }),
  }
  return askData(options, async (client) => {
    const { answer } = await client.call('createTemporaryToken', { body })
    if (options.json) printJson(answer)
    else {
      printLine(`HOLDFAST_TOKEN=${answer.token}`)
      note(`Session ${answer.sessionName}, scopes ${printable(answer.scopes)}, until ${answer.expiresAt}`)
    }
    return EXIT.done
  })
}
