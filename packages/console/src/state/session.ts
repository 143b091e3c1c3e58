/**
 * Who is logged in: an admin token in the memory of this tab, and the client that sends it.
 *
 * Rules: the token is in no storage, address, attribute or text of the page; it is dropped after a time without input, when the API refuses it, and
 * with the tab (docs/adr/0093-console.md).
 */
import { signal } from '@preact/signals'
import { AccessDeniedError, HoldfastAdmin, UnauthorizedError } from '../../../client/src/admin.ts'

const IDLE_MS_MAX = 30 * 60_000
/** A page shows at once that a node does not answer; its user decides about another attempt. */
const REPEAT = { attemptsMax: 2, retryAfterMsMax: 2_000 }
const INPUT = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

/** null: logged out. */
export const client = signal<HoldfastAdmin | null>(null)
/** Why there is a page to log in again. */
export const endedBy = signal<'idle' | 'refused' | null>(null)

let idle: ReturnType<typeof setTimeout> | undefined

/** Proves the token with one request. Throws what the client throws. */
export async function logIn(given: string): Promise<void> {
  const made = new HoldfastAdmin({ endpoints: location.origin, token: given, repeat: REPEAT })
  await made.listTenants({ limit: 1 }).catch((error: unknown) => {
    // A role without this right is a role; a token that is none is refused otherwise.
    if (!(error instanceof AccessDeniedError)) throw error
  })
  endedBy.value = null
  client.value = made
  for (const name of INPUT) addEventListener(name, waitForInput, { passive: true })
  waitForInput()
}

export function logOut(why: 'idle' | 'refused' | null = null): void {
  client.value = null
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
  if (error instanceof UnauthorizedError && client.value !== null) logOut('refused')
}
