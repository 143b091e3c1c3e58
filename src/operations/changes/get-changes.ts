/**
 * getChanges: authorize -> compare what the caller has seen with what is -> wait, if it asked to.
 */
import { setTimeout as rest } from 'node:timers/promises'
import { adminToken } from '../../access/rights.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import { type Changes, changesSince, LOOK_EVERY_MS, WAITING_MAX, watchOf } from './watch.ts'

export interface ChangesInput {
  /** null: nothing was seen yet. */
  readonly since: string | null
  /** 0: the answer comes at once, and so it does while WAITING_MAX wait. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

export const getChanges = adminOperation(
  {
    id: 'getChanges',
    requires: adminToken('owner', 'cluster'),
    refuses: [],
    isRoutine: true,
    target: noTarget,
  },
  async (services, principal, { since, waitMs, signal }: ChangesInput): Promise<Changes> => {
    const watch = watchOf(services)
    const over = AbortSignal.any([signal, services.stopping])
    const until = performance.now() + (watch.waiting < WAITING_MAX ? waitMs : 0)
    watch.waiting++
    try {
      for (;;) {
        const found = await changesSince(services, since)
        const leftMs = until - performance.now()
        if (found.changed.length > 0 || leftMs <= 0 || over.aborted) return found
        await rest(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal: over }).catch(() => undefined)
      }
    } finally {
      watch.waiting--
    }
  },
)
