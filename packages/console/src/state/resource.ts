/**
 * Something loaded from the API, with what is known of it: the value, the last fault, whether a request is in flight.
 *
 * Rules: the value stays while it is loaded again; of two requests at once the later one counts; it belongs to one session.
 */
import { computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import { ApiError, type HoldfastAdmin, NotFoundError } from '../../../client/src/admin.ts'
import type { Holdfast } from '../../../client/src/index.ts'
import { InputError } from '../forms/input-error.ts'
import { client, keySession, noticeKeyRefusal, noticeRefusal } from './session.ts'

export interface Fault {
  readonly kind: 'denied' | 'unreachable' | 'refused'
  readonly message: string
  readonly requestId: string | null
}

export function faultOf(error: unknown): Fault {
  if (error instanceof InputError) return { kind: 'refused', message: error.message, requestId: null }
  if (!(error instanceof ApiError))
    return {
      kind: 'unreachable',
      message: String(error instanceof Error ? error.message : error),
      requestId: null,
    }
  const { status, message, requestId } = error
  return { kind: status === 403 ? 'denied' : 'refused', message, requestId }
}

export interface Resource<T> {
  readonly value: ReadonlySignal<T | null>
  readonly fault: ReadonlySignal<Fault | null>
  readonly isLoading: ReadonlySignal<boolean>
  /** When the value came, in milliseconds since 1970; null: never. */
  readonly at: ReadonlySignal<number | null>
  readonly load: () => Promise<void>
  readonly forget: () => void
}

interface Access<C> {
  readonly api: ReadonlySignal<C | null>
  readonly notice: (error: unknown) => void
}

const BY_TOKEN: Access<HoldfastAdmin> = { api: client, notice: noticeRefusal }
const BY_KEY: Access<Holdfast> = {
  api: computed(() => keySession.value?.api ?? null),
  notice: noticeKeyRefusal,
}

/** Of the admin API. */
export const resource = <T>(ask: (api: HoldfastAdmin) => Promise<T>): Resource<T> => loaded(BY_TOKEN, ask)
/** Of the data API. */
export const dataResource = <T>(ask: (api: Holdfast) => Promise<T>): Resource<T> => loaded(BY_KEY, ask)

/** What is set; null: nothing is, in a bucket or tenant that is there. */
export async function orUnset<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NotFoundError && !error.message.includes('does not exist')) return null
    throw error
  }
}

/** Of what is open to every page. */
export const openResource = <T>(ask: () => Promise<T>): Resource<T> =>
  loaded({ api: computed(() => true), notice: () => undefined }, ask)

function loaded<C, T>(access: Access<C>, ask: (api: C) => Promise<T>): Resource<T> {
  const value = signal<T | null>(null)
  const fault = signal<Fault | null>(null)
  const isLoading = signal(false)
  const at = signal<number | null>(null)
  let latest = 0
  const forget = (): void => {
    latest++
    value.value = fault.value = at.value = null
    isLoading.value = false
  }
  const load = async (): Promise<void> => {
    const api = access.api.peek()
    if (api === null) return
    const own = ++latest
    isLoading.value = true
    try {
      const answer = await ask(api)
      if (own !== latest) return
      value.value = answer
      fault.value = null
      at.value = Date.now()
    } catch (error) {
      if (own !== latest) return
      fault.value = faultOf(error)
      access.notice(error)
    }
    if (own === latest) isLoading.value = false
  }
  effect(() => {
    if (access.api.value === null) forget()
  })
  return { value, fault, isLoading, at, load, forget }
}
