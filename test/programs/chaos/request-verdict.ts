/**
 * The failed requests without an excuse. Pure.
 *
 * Rule: a request is one call of the client for programs, with the attempts that this makes by itself, and it may fail only when it was
 * running while a node was killed.
 */
import type { FailedRequest } from './http-ledger-client.ts'
import type { Verdict } from './final-checks.ts'

/** Times of performance.now(). */
export interface Kill {
  readonly at: number
  readonly doneAt: number
}

export function requestVerdict(failed: readonly FailedRequest[], kills: readonly Kill[]): Verdict {
  const excused = (request: FailedRequest): boolean =>
    kills.some(({ at, doneAt }) => request.startedAt <= doneAt && request.endedAt >= at)
  const faults = failed.filter((request) => !excused(request)).map(({ what }) => what)
  const spared = failed.length - faults.length
  return { claim: `no request failed, but for ${spared} that were under way at a kill`, faults }
}
