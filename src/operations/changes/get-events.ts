/**
 * getEvents: authorize -> give what differs from what the caller has seen, whenever something does, until the time is over.
 *
 * Rules: the next event is made when the one before was taken, from what is then, so that a caller that takes none holds up one event and misses
 * nothing; the row of the token is looked at before each look, and a caller that lost its right gets no further event.
 */
import { setTimeout as rest } from 'node:timers/promises'
import { Condition } from '../../../cluster/index.ts'
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { adminToken } from '../../access/rights.ts'
import { refusalOf } from '../../base/refusal.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { type Changes, changesSince, LOOK_EVERY_MS, WAITING_MAX, watchOf } from './watch.ts'

export interface EventsInput {
  /** null: nothing was seen yet. */
  readonly since: string | null
  /** null: EVENTS_MS_MAX. */
  readonly durationMs: number | null
  readonly signal: AbortSignal
}

/** A stream ends by itself, so that callers spread over the members again. */
export const EVENTS_MS_MAX = 600_000
/** Of quiet; below the silence after which programs and proxies give a connection up. */
const HEARTBEAT_MS = 15_000
const RETRY_MS = 5_000

/** Each is what differs from the one before; null: nothing has for HEARTBEAT_MS. The first comes at once. Throws Condition slow_down before it. */
export type ChangeEvents = AsyncGenerator<Changes | null, void, undefined>

export const getEvents = adminOperation(
  {
    id: 'getEvents',
    requires: adminToken('owner', 'cluster'),
    refuses: ['slow_down'],
    isRoutine: true,
    target: noTarget,
  },
  async (services, principal, input: EventsInput): Promise<ChangeEvents> =>
    counted(services, eventsOf(services, principal, input)),
)

/** Among those that wait, from its first event to its end. */
async function* counted(services: Services, events: ChangeEvents): ChangeEvents {
  const watch = watchOf(services)
  if (watch.waiting >= WAITING_MAX) {
    const message = `${WAITING_MAX} streams and requests wait for changes at this node; ask another one`
    throw new Condition('slow_down', message, { retryAfterMs: RETRY_MS })
  }
  watch.waiting++
  try {
    yield* events
  } finally {
    watch.waiting--
  }
}

async function* eventsOf(
  services: Services,
  principal: AdminTokenPrincipal,
  { since, durationMs, signal }: EventsInput,
): ChangeEvents {
  const over = AbortSignal.any([signal, services.stopping])
  const { requestDurationMaxMs } = services.config.limits
  const until = performance.now() + Math.min(durationMs ?? EVENTS_MS_MAX, EVENTS_MS_MAX, requestDurationMaxMs)
  let cursor = since
  let quietSince = -Infinity
  for (;;) {
    const found = await changesSince(services, cursor)
    if (hasLostRight(services, principal)) return
    if (found.changed.length > 0) {
      yield found
      cursor = found.cursor
      quietSince = performance.now()
    } else if (performance.now() - quietSince >= HEARTBEAT_MS) {
      yield null
      quietSince = performance.now()
    }
    const leftMs = until - performance.now()
    if (leftMs <= 0 || over.aborted) return
    await rest(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal: over }).catch(() => undefined)
  }
}

/** Revoked, expired or logged out meanwhile, or without the role. */
function hasLostRight({ access }: Services, principal: AdminTokenPrincipal): boolean {
  return refusalOf(() => authorize(access.adminNow(principal), getEvents, noTarget())) !== null
}
