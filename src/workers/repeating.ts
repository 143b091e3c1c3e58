/**
 * One piece of background work, repeated until the node stops.
 *
 * Owns: the pace and the end. Knows nothing of: what the work is.
 * Rules: never twice at a time; a failure is logged and retried, because the cluster may have no leader; a round that is under way
 * when the signal fires is awaited.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Condition, type Logger } from '../../cluster/index.ts'

export interface Repeating {
  readonly name: string
  /** Resolves with true when there is more to do at once. */
  readonly work: () => Promise<boolean>
  readonly everyMs: number
  readonly logger: Logger
}

/** Resolves once the signal has fired and nothing runs any more. Never rejects. */
export async function repeat({ name, work, everyMs, logger }: Repeating, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const isMore = await work().catch((err: unknown) => {
      if (err instanceof Condition) logger.debug({ err, worker: name }, 'background work must wait')
      else logger.error({ err, worker: name }, 'background work failed')
      return false
    })
    if (!isMore) await wait(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
