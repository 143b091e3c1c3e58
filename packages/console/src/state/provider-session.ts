/**
 * The session of a person who logged in at the identity provider: it is in a cookie that no script reads, and the page only uses, renews and ends it.
 *
 * Rules: each request has the header without which the node refuses a session; it is renewed by input, so that a page without a person ends; a log-out asks
 * the node to end it.
 */
import { signal } from '@preact/signals'

const LOG_IN = '/console/log-in'
const OWN_PAGE = { 'x-holdfast-console': '1' }
/** Of the idle time: a page that is used renews often enough, and a quick typist not too often. */
const RENEWED_SHARE = 4

export interface LogInOptions {
  /** null: there is none. */
  readonly provider: { readonly name: string } | null
  /** Whether the browser has the cookie of a session; what it is worth is not known. */
  readonly hasSession: boolean
}

/** null: not known yet. */
export const options = signal<LogInOptions | null>(null)

const NONE: LogInOptions = { provider: null, hasSession: false }

/** A node that does not answer offers what needs no provider. */
export async function loadOptions(): Promise<LogInOptions> {
  const found = await fetch(`${LOG_IN}/options`)
    .then(async (answer) => (answer.ok ? ((await answer.json()) as LogInOptions) : NONE))
    .catch(() => NONE)
  options.value = found
  return found
}

let ending: Promise<unknown> = Promise.resolve()

/** Not before the session of before has ended: its answer takes the cookie away, and would take the next one. */
export async function goToProvider(): Promise<void> {
  await ending
  location.assign(LOG_IN)
}

/** Sends no token: the cookie goes along by itself. */
export function byCookie(inner: typeof fetch): typeof fetch {
  return (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.delete('authorization')
    for (const [name, value] of Object.entries(OWN_PAGE)) headers.set(name, value)
    return inner(input, { ...init, headers, credentials: 'same-origin' })
  }
}

let renewedAt = 0

export function startRenewing(): void {
  renewedAt = Date.now()
}

/** Called at each input. */
export function renewSoon(idleSeconds: number): void {
  if (Date.now() - renewedAt < (idleSeconds * 1000) / RENEWED_SHARE) return
  renewedAt = Date.now()
  // The next request says if it has ended.
  void post('renew').catch(() => undefined)
}

/** Resolves with where the browser logs out at the provider; null: nowhere. */
export function endSession(isEverywhere: boolean): Promise<string | null> {
  const ended = post(isEverywhere ? 'end?everywhere=true' : 'end')
    .then(async (answer) =>
      answer.status === 200 ? ((await answer.json()) as { readonly location: string }).location : null,
    )
    .catch(() => null)
  ending = ended
  return ended
}

/** Also while the page goes away. */
const post = (what: string): Promise<Response> =>
  fetch(`${LOG_IN}/${what}`, {
    method: 'POST',
    headers: OWN_PAGE,
    credentials: 'same-origin',
    keepalive: true,
  })
