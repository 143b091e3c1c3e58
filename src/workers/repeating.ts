/**
 * One piece of background work, repeated until the node stops.
 *
 * Owns: the pace and the end. Knows nothing of: what the work is.
 * Rules: never twice at a time; a failure is logged and retried, because the cluster may have no leader; a round that is under way
 * when the signal fires is awaited. Work of the same pace begins in the same turn of the event loop: an idle node is woken once for
 * all of it ([docs/adr/0070-what-an-idle-node-does.md]).
 */
import { setTimeout as wait } from 'node:timers/promises'
import { beatTime, Condition, type Logger } from '../../cluster/index.ts'

export interface Repeating {
  readonly name: string
  /** Resolves with true when there is more to do at once. `signal`: the node stops, and waits for this round. */
  readonly work: (signal: AbortSignal) => Promise<boolean>
  readonly everyMs: number
  readonly logger: Logger
}

/** Resolves once the signal has fired and nothing runs any more. Never rejects. */
export async function repeat({ name, work, everyMs, logger }: Repeating, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const isMore = await work(signal).catch((err: unknown) => {
      if (err instanceof Condition) logger.debug({ err, worker: name }, 'background work must wait')
      else logger.error({ err, worker: name }, 'background work failed')
      return false
    })
    if (!isMore) await wait(pauseMs(everyMs, beatTime()), undefined, { signal }).catch(() => undefined)
  }
}

/** From `now` to a common beat: to the multiple of `everyMs` that is nearest to the end of a whole pause. More than half a pause, at most one and a half. ms */
export function pauseMs(everyMs: number, now: number): number {
  const toBeat = everyMs - (now % everyMs)
  return Math.ceil(toBeat > everyMs / 2 ? toBeat : toBeat + everyMs)
}
