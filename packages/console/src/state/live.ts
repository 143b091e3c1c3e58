/**
 * Keeps what is shown up to date: one request at a time that the node answers when something has changed.
 *
 * Rules: no timer asks for anything while nothing changes; a node that answers at once, or not at all, is given time; a hidden page asks for nothing.
 */
import { effect, signal } from '@preact/signals'
import { ApiError } from '../../../client/src/admin.ts'
import { load } from './cluster-data.ts'
import { may } from './rights.ts'
import { client, noticeRefusal } from './session.ts'

/** null: this token may not ask. */
export const isLive = signal<boolean | null>(false)

const WAIT = '30s'
const PAUSE_MS = 3_000
/** An answer without a change that comes sooner than this was not waited for. */
const SOON_MS = 1_000

effect(() => {
  const api = client.value
  isLive.value = api === null || may('getChanges') ? false : null
  if (api === null || isLive.peek() === null) return
  const end = new AbortController()
  void follow(end.signal)
  return () => end.abort()
})

async function follow(signal: AbortSignal): Promise<void> {
  let since: string | undefined
  while (!signal.aborted) {
    await shown()
    const api = client.peek()
    if (api === null) return
    const askedAt = performance.now()
    try {
      const { cursor, changed } = await api.getChanges(since === undefined ? {} : { since, wait: WAIT }, {
        signal,
      })
      isLive.value = true
      // The first answer only says where the page begins.
      if (since !== undefined && changed.length > 0) await reload(changed)
      else if (since !== undefined && performance.now() - askedAt < SOON_MS) await pause()
      since = cursor
    } catch (error) {
      if (signal.aborted) return
      noticeRefusal(error)
      if (error instanceof ApiError && error.status === 403) {
        isLive.value = null
        return
      }
      isLive.value = false
      await pause()
    }
  }
}

/** A change of the members moves copies as well. */
async function reload(changed: readonly ('membership' | 'operations')[]): Promise<void> {
  const findings = changed.includes('membership') ? (['doctor'] as const) : []
  await load(...changed, ...findings, 'placement', 'repair')
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

function shown(): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve()
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true })
  })
}
