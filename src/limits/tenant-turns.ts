/**
 * Work that never waits for other work of its tenant, such as a proposal to the log or the next piece of a download.
 *
 * Owns: who begins. Knows nothing of: what the work is. Rules: a tenant that has the node to itself is not held up at all; while others ask as
 * well each has few at once, by weight, because all that was started for one is in front of the others in log, disks and event loop. What
 * waits is bounded by the admitted requests, is not refused and begins in any case.
 */
import type { LatencyHistogram } from '../../cluster/index.ts'
import type { TenantPresence } from './tenant-presence.ts'
import { Turns, type WaitingTurn } from './turns.ts'

/** Of all tenants, which the requests that are worked on bound before. */
const WORK_MAX = 1_000_000
/** Longer than any piece of work takes that ends well. */
const LEASE_MS = 30_000

export interface Worker {
  readonly tenant: string
  readonly weight: number
}

export interface TenantTurnsParts {
  /** Of one tenant of weight one, while others ask as well. */
  readonly sharedWorkMax: number
  readonly presence: TenantPresence
  /** Monotonic milliseconds. */
  readonly now: () => number
}

class WorkTurn implements WaitingTurn {
  readonly tenant: string
  readonly weight: number
  readonly lane = ''
  readonly isContinued = true

  constructor({ tenant, weight }: Worker) {
    this.tenant = tenant
    this.weight = weight
  }

  started(): void {}
}

export class TenantTurns {
  readonly #turns: Turns<WorkTurn>

  constructor({ sharedWorkMax, presence, now }: TenantTurnsParts) {
    this.#turns = new Turns({
      workMax: WORK_MAX,
      tenantWorkMax: (turn) =>
        presence.isShared(turn.tenant, now()) ? sharedWorkMax * turn.weight : WORK_MAX,
      leaseMs: LEASE_MS,
      waitingMax: WORK_MAX,
      waitMsMax: LEASE_MS,
      mayBegin: () => true,
      now,
    })
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  /** How long work waited that did not begin at once. */
  get waits(): LatencyHistogram {
    return this.#turns.waits
  }

  /** Settles as the work does. */
  async run<T>(who: Worker, work: () => Promise<T>): Promise<T> {
    const turn = new WorkTurn(who)
    // Not the signal of the request: what became of a proposal must be known.
    const wait = this.#turns.take(turn, null)
    if (wait !== null) await wait
    try {
      return await work()
    } finally {
      this.#turns.give(turn)
    }
  }
}
