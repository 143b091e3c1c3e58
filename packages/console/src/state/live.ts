/**
 * Keeps what is shown up to date: one stream of events, by which the node says what has changed.
 *
 * Rules: a stream that ended continues from the last event; a node that has no stream, or none free, is asked by one request at a time that it
 * answers when something has changed; a node that answers at once, or not at all, is given time; a hidden page asks for nothing.
 */
import { effect, signal } from '@preact/signals'
import { ApiError, type HoldfastAdmin, NotFoundError } from '../../../client/src/admin.ts'
import { backupsOfTarget, backupTarget } from './backup-data.ts'
import { load } from './cluster-data.ts'
import { may } from './rights.ts'
import { client, noticeRefusal } from './session.ts'

/** null: this token may not ask. */
export const isLive = signal<boolean | null>(false)

const WAIT = '30s'
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 10_000
/** What ends without a change sooner than this was not waited for. */
const SOON_MS = 1_000

const TOPICS = ['membership', 'operations', 'backups'] as const
type Topic = (typeof TOPICS)[number]

effect(() => {
  const api = client.value
  isLive.value = api === null || may('getChanges') ? false : null
  if (api === null || isLive.peek() === null) return
  const end = new AbortController()
  void new Follower(api, end.signal).run()
  return () => end.abort()
})

class Follower {
  readonly #api: HoldfastAdmin
  readonly #end: AbortSignal
  #cursor: string | null = null
  /** Since the last one that brought something. */
  #failures = 0

  constructor(api: HoldfastAdmin, end: AbortSignal) {
    this.#api = api
    this.#end = end
  }

  async run(): Promise<void> {
    while (!this.#end.aborted) {
      await shown()
      const hidden = new AbortController()
      const hide = (): void => hidden.abort()
      document.addEventListener('visibilitychange', hide, { once: true })
      const signal = AbortSignal.any([this.#end, hidden.signal])
      const startedAt = performance.now()
      try {
        await this.#next(signal)
        if (performance.now() - startedAt < SOON_MS) await this.#pause()
      } catch (error) {
        if (this.#end.aborted) return
        if (hidden.signal.aborted) continue
        noticeRefusal(error)
        if (error instanceof ApiError && error.status === 403) {
          isLive.value = null
          return
        }
        isLive.value = false
        await this.#pause()
      } finally {
        document.removeEventListener('visibilitychange', hide)
      }
    }
  }

  /** Until the stream or the answer ends. */
  async #next(signal: AbortSignal): Promise<void> {
    const since = this.#cursor === null ? {} : { since: this.#cursor }
    try {
      const events = await this.#api.getEvents(since, { signal })
      isLive.value = true
      for await (const { id, data } of events) await this.#changed(id, topicsOf(data))
    } catch (error) {
      if (!hasNoStream(error)) throw error
      const wait = this.#cursor === null ? {} : { wait: WAIT }
      const { cursor, changed } = await this.#api.getChanges({ ...since, ...wait }, { signal })
      isLive.value = true
      await this.#changed(cursor, changed)
    }
  }

  async #changed(cursor: string, topics: readonly string[]): Promise<void> {
    this.#failures = 0
    const isFirst = this.#cursor === null
    this.#cursor = cursor
    // The first only says where the page begins.
    if (!isFirst) await reload(TOPICS.filter((topic) => topics.includes(topic)))
  }

  /** Spread, so that the pages of a node that stopped do not come back together. */
  async #pause(): Promise<void> {
    const ms = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** this.#failures++)
    await new Promise((resolve) => setTimeout(resolve, ms / 2 + (Math.random() * ms) / 2))
  }
}

/** It is of a build without streams, or all of its streams are taken. */
const hasNoStream = (error: unknown): boolean =>
  error instanceof NotFoundError || (error instanceof ApiError && error.code === 'slow_down')

const topicsOf = (data: string): readonly string[] =>
  (JSON.parse(data) as { readonly changed: readonly string[] }).changed

async function reload(changed: readonly Topic[]): Promise<void> {
  if (changed.length === 0) return
  // A change of the members moves copies as well.
  const copies = changed.some((topic) => topic !== 'backups') ? (['placement', 'repair'] as const) : []
  const findings = changed.includes('membership') ? (['doctor'] as const) : []
  const isHeldShown = changed.includes('backups') && backupTarget.peek() !== ''
  await Promise.all([
    load(...changed, ...copies, ...findings),
    ...(isHeldShown ? [backupsOfTarget.load()] : []),
  ])
}

function shown(): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve()
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true })
  })
}
