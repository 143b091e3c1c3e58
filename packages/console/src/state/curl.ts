/**
 * The request that an action of the page would send, as a line for a shell, while nothing is sent.
 *
 * Rule: the action runs with a client whose requests are held back, so the line is that of the action itself and not of a copy of it.
 */
import { HoldfastAdmin } from '../../../client/src/admin.ts'
import { Holdfast } from '../../../client/src/index.ts'
import { curlOf, requestOf } from './requests.ts'
import { DATA_API } from './session.ts'

/** The line names `$TOKEN`; this stands for it in the client. */
const GIVEN = { token: 'TOKEN', repeat: { attemptsMax: 1 } }

/** null: the action sends nothing, or looks something up before. */
export type Line<C> = (work: (api: C) => Promise<unknown>) => Promise<string | null>

function held<C>(client: (fetch: typeof globalThis.fetch) => C): Line<C> {
  return async (work) => {
    let line: string | null = null
    const hold: typeof fetch = (input, init) => {
      line ??= curlOf(requestOf(input, init))
      return Promise.reject(new TypeError('Nothing is sent'))
    }
    try {
      await work(client(hold))
    } catch {
      // Held back, or the fields are not complete yet.
    }
    return line
  }
}

export const adminLine: Line<HoldfastAdmin> = held(
  (fetch) => new HoldfastAdmin({ ...GIVEN, endpoints: location.origin, fetch }),
)
export const dataLine: Line<Holdfast> = held(
  (fetch) => new Holdfast({ ...GIVEN, endpoints: `${location.origin}${DATA_API}`, fetch }),
)
