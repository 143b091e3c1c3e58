/**
 * Who is logged in: an admin token, an access key or both, in the memory of this tab, and the clients that send them.
 *
 * Rules: neither is in a storage, address, attribute or text of the page; both are dropped after a time without input, each when its API refuses
 * it, and with the tab (docs/adr/0093-console.md, docs/adr/0101-console-objects.md).
 */
import { signal } from '@preact/signals'
import { type AdminOperations, HoldfastAdmin, UnauthorizedError } from '../../../client/src/admin.ts'
import { Holdfast } from '../../../client/src/index.ts'
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

type Ended = 'idle' | 'refused' | null

/** null: no admin token. */
export const client = signal<HoldfastAdmin | null>(null)
/** Who the admin token says one is, and what it allows; null: no admin token. */
export const caller = signal<AdminOperations['getSession']['answer'] | null>(null)
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

export function logOut(why: Ended = null): void {
  caller.value = null
  client.value = null
  keySession.value = null
  endedBy.value = why
  clearTimeout(idle)
  for (const name of INPUT) removeEventListener(name, waitForInput)
}

function waitForInput(): void {
  clearTimeout(idle)
  idle = setTimeout(() => logOut('idle'), IDLE_MS_MAX)
}

/** Ends the session when the error says that the token counts no more. */
export function noticeRefusal(error: unknown): void {
  if (!(error instanceof UnauthorizedError) || client.value === null) return
  if (keySession.value === null) return logOut('refused')
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
