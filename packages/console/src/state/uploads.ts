/**
 * Uploads of files into a bucket: a few at a time, the others wait.
 *
 * Rules: each body is sent with its digests, in parts where it is large; what broke off continues with the parts that are there; a change of the
 * screen stops nothing, a log-out everything.
 */
import { computed, effect, signal } from '@preact/signals'
import { type Fault, faultOf } from './resource.ts'
import { type KeySession, keySession, noticeKeyRefusal } from './session.ts'

/** At once; each sends up to four parts at once. */
const RUNNING_MAX = 2
/** Of one list. */
export const FILES_MAX = 5000
const PROGRESS_EVERY_MS = 200

export interface Upload {
  readonly id: number
  readonly bucket: string
  readonly key: string
  readonly file: File
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped'
  readonly storedBytes: number
  /** Those of an earlier attempt. */
  readonly reusedBytes: number
  readonly fault: Fault | null
}

export const uploads = signal<readonly Upload[]>([])
/** Counts the uploads that are done, so that a listing knows when to load again. */
export const doneCount = computed(() => uploads.value.filter(({ state }) => state === 'done').length)

let lastId = 0
const stops = new Map<number, AbortController>()

/** A file, and where in a folder it lies. */
export interface Given {
  readonly file: File
  readonly path: string
}

/** False: there are too many of them. */
export function upload(bucket: string, prefix: string, given: readonly Given[]): boolean {
  const ongoing = uploads.peek().filter(({ state }) => state === 'waiting' || state === 'running')
  if (ongoing.length + given.length > FILES_MAX) return false
  const added = given.map(
    ({ file, path }): Upload => ({
      id: ++lastId,
      bucket,
      key: `${prefix}${path}`,
      file,
      state: 'waiting',
      storedBytes: 0,
      reusedBytes: 0,
      fault: null,
    }),
  )
  uploads.value = [...added, ...uploads.peek()].slice(0, 2 * FILES_MAX)
  startNext()
  return true
}

/** Once more, with the parts that are there. */
export function repeat(id: number): void {
  change(id, { state: 'waiting', storedBytes: 0, reusedBytes: 0, fault: null })
  startNext()
}

/** What was sent stays, so that it can continue. */
export function stop(id: number): void {
  change(id, { state: 'stopped' })
  stops.get(id)?.abort()
}

export function clearEnded(): void {
  uploads.value = uploads.peek().filter(({ state }) => state === 'waiting' || state === 'running')
}

function change(id: number, to: Partial<Upload>): void {
  uploads.value = uploads.peek().map((one) => (one.id === id ? { ...one, ...to } : one))
}

function startNext(): void {
  const session = keySession.peek()
  if (session === null) return
  for (;;) {
    const next = uploads.peek().findLast(({ state }) => state === 'waiting')
    if (next === undefined || stops.size >= RUNNING_MAX) return
    const controller = new AbortController()
    stops.set(next.id, controller)
    change(next.id, { state: 'running' })
    void send(session, next, controller.signal).finally(() => {
      stops.delete(next.id)
      startNext()
    })
  }
}

async function send(
  { transfers }: KeySession,
  { id, bucket, key, file }: Upload,
  ended: AbortSignal,
): Promise<void> {
  let shownAt = 0
  try {
    await transfers.upload(bucket, key, file, {
      resume: true,
      signal: ended,
      onProgress: ({ storedBytes, reusedBytes }) => {
        if (performance.now() - shownAt < PROGRESS_EVERY_MS && storedBytes < file.size) return
        shownAt = performance.now()
        change(id, { storedBytes, reusedBytes })
      },
    })
    change(id, { state: 'done', storedBytes: file.size })
  } catch (error) {
    if (ended.aborted) return
    noticeKeyRefusal(error)
    change(id, { state: 'failed', fault: faultOf(error) })
  }
}

effect(() => {
  if (keySession.value !== null) return
  for (const controller of stops.values()) controller.abort()
  uploads.value = []
})
