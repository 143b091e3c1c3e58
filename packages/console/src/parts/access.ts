/**
 * The two ways to the API, for parts that send: with the admin token or session, and with the access key.
 *
 * Rule: screens pass these on and take no client out of them, so that a request is sent by a part that also shows its line for a shell.
 */
import type { HoldfastAdmin } from '../../../client/src/admin.ts'
import type { Holdfast } from '../../../client/src/index.ts'
import { adminLine, dataLine, type Line } from '../state/curl.ts'
import { client, keySession, noticeKeyRefusal, noticeRefusal } from '../state/session.ts'

export interface Access<C> {
  /** null: no token, session or key for this API. */
  readonly api: () => C | null
  /** Sees each error, as it can end the session. */
  readonly notice: (error: unknown) => void
  readonly line: Line<C>
}

export const BY_TOKEN: Access<HoldfastAdmin> = {
  api: () => client.peek(),
  notice: noticeRefusal,
  line: adminLine,
}
export const BY_KEY: Access<Holdfast> = {
  api: () => keySession.peek()?.api ?? null,
  notice: noticeKeyRefusal,
  line: dataLine,
}
