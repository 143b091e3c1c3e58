/**
 * Who is logged in: an admin token, an access key or both, in the memory of this tab, and the clients that send them.
 *
 * A person who logged in at the identity provider has a session in a cookie (provider-session.ts) in the place of the token.
 * Rules: neither is in a storage, address, attribute or text of the page; both are dropped after a time without input, each when its API refuses
 * it, and with the tab (docs/adr/0093-console.md, docs/adr/0101-console-objects.md).
 */
import { signal } from '@preact/signals'
import { type AdminOperations, HoldfastAdmin, UnauthorizedError } from '../../../client/src/admin.ts'
import { Holdfast } from '../../../client/src/index.ts'
import { byCookie, endSession, loadOptions, renewSoon, startRenewing } from './provider-session.ts'
import { followed } from './requests.ts'

const IDLE_MS_MAX = 30 * 60_000
/** A page shows at once that a node does not answer; its user decides about another attempt. */
const REPEAT = { attemptsMax: 2, retryAfterMsMax: 2_000 }
/** A transfer outlives the election of a leader and the restart of a node. */
const TRANSFER_REPEAT = { attemptsMax: 12, retryAfterMsMax: 10_000 }
const INPUT = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const
/** As the admin listener has the data API (docs/adr/0101-console-objects.md). */
export const DATA_API = '/console/data'

export interface KeySession {
  readonly api: Holdfast
  /** The same, repeating for longer: for bodies. */
  readonly transfers: Holdfast
  readonly accessKeyId: string
  readonly tenantId: string
}

type Caller = AdminOperations['getSession']['answer']

type Ended = 'idle' | 'refused' | 'session' | null

/** null: no admin token. */
export const client = signal<HoldfastAdmin | null>(null)
/** Who the admin token says one is, and what it allows; null: no admin token. */
export const caller = signal<Caller | null>(null)
/** null: no access key. */
export const keySession = signal<KeySession | null>(null)
/** Why there is a page to log in again. */
export const endedBy = signal<Ended>(null)
export const keyEndedBy = signal<Ended>(null)

let idle: ReturnType<typeof setTimeout> | undefined

/** Proves the token with one request. Throws what the client throws. */
export async function logIn(given: string): Promise<void> {
  const made = new HoldfastAdmin({
    endpoints: location.origin,
    token: given,
    repeat: REPEAT,
    fetch: followed(''),
  })
  caller.value = await made.getSession()
  client.value = made
  begin()
}

/** A client needs a token; `byCookie` takes this one out again. */
const NO_TOKEN = 'session'

/** Continues the session that the browser has, if it has one that counts. */
export async function resume(): Promise<void> {
  const { hasSession } = await loadOptions()
  if (!hasSession || client.peek() !== null) return
  const ways = { endpoints: location.origin, token: NO_TOKEN, repeat: REPEAT, fetch: byCookie(followed('')) }
  const made = new HoldfastAdmin(ways)
  try {
    caller.value = await made.getSession()
    client.value = made
    startRenewing()
    begin()
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) return
    endedBy.value = 'session'
    await endSession(false)
  }
}

/** Proves the access key by the exchange for its first token. Throws what the client throws. */
export async function logInWithKey(accessKeyId: string, secretKey: string): Promise<void> {
  const given = { endpoints: `${location.origin}${DATA_API}`, accessKeyId, secretKey }
  const api = new Holdfast({ ...given, repeat: REPEAT, fetch: followed(DATA_API) })
  const { tenantId } = await api.createToken({ accessKeyId, secretKey })
  const transfers = new Holdfast({ ...given, repeat: TRANSFER_REPEAT })
  keyEndedBy.value = null
  keySession.value = { api, transfers, accessKeyId, tenantId }
  begin()
}

function begin(): void {
  endedBy.value = null
  for (const name of INPUT) addEventListener(name, waitForInput, { passive: true })
  waitForInput()
}

export function logOut(why: Ended = null, isEverywhere = false): void {
  // After a log-out by its button alone, not after the idle time.
  if (hasUser(caller.peek()))
    void endSession(isEverywhere).then((next) => {
      if (next !== null && why === null) location.assign(next)
    })
  caller.value = null
  client.value = null
  keySession.value = null
  endedBy.value = why
  clearTimeout(idle)
  for (const name of INPUT) removeEventListener(name, waitForInput)
}

/** Whether a person logged in, or a token is used. */
export const hasUser = (session: Caller | null): boolean => (session?.user ?? null) !== null

function waitForInput(): void {
  const idleSeconds = caller.peek()?.user?.idleSeconds
  if (idleSeconds !== undefined) renewSoon(idleSeconds)
  clearTimeout(idle)
  idle = setTimeout(() => logOut('idle'), Math.min(IDLE_MS_MAX, (idleSeconds ?? Infinity) * 1000))
}

/** Ends the session when the error says that the token counts no more. */
export function noticeRefusal(error: unknown): void {
  if (!(error instanceof UnauthorizedError) || client.value === null) return
  if (keySession.value === null) return logOut(hasUser(caller.peek()) ? 'session' : 'refused')
  caller.value = null
  client.value = null
}

/** The same for the access key: a revoked one gets no further token. */
export function noticeKeyRefusal(error: unknown): void {
  if (!(error instanceof UnauthorizedError) || keySession.value === null) return
  keyEndedBy.value = 'refused'
  if (client.value === null) return logOut('refused')
  keySession.value = null
}
