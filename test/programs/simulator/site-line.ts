/**
 * The line between two sites: requests take time, are lost, or take effect while their answer is lost; for hours nothing passes.
 *
 * Owns: those faults. Knows nothing of: requests. Rule: an answer reaches only the process that asked; what was sent takes effect whether or not that
 * process lives.
 */
import { Condition } from '../../../cluster/base/types.ts'
import { SiteFault } from '../../../src/operations/base/remote-store.ts'
import type { Owner } from './event-queue.ts'
import type { Random } from './random.ts'
import type { SimWorld } from './sim-world.ts'

const HOUR_MS = 3_600_000
/** Without an answer for so long a request counts as not answered. Virtual ms */
const ANSWER_MS_MAX = 3_000
const REFUSED_AFTER_MS = 5
const DELAY_MEAN_MS = 8
const LATE_RATE = 0.03
const LATE_MEAN_MS = 4_000
const LOSS_RATE = 0.02
const LIE_RATE = 0.05
const FAILURE_RATE = 0.03
/** Mean time to the next outage. Virtual ms */
const OUTAGE_EVERY_MS = 4_000
const OUTAGE_HOURS_MAX = 40

export interface Travel {
  /** Null: the second site, which never ends. */
  readonly caller: Owner | null
  readonly request: string
  readonly mayBeLate: boolean
}

export class SiteLine {
  readonly #world: SimWorld
  readonly #random: Random
  #awayUntil = 0
  readonly counts = { requests: 0, lies: 0, outages: 0, lost: 0 }

  constructor(world: SimWorld, random: Random) {
    this.#world = world
    this.#random = random
  }

  start(): void {
    const { scheduler } = this.#world
    scheduler.after(this.#random.exponential(OUTAGE_EVERY_MS), 'outage of a site', {}, () => {
      if (this.#world.isCalm) return
      this.counts.outages += 1
      this.#awayUntil = this.#world.trueTime + this.#random.between(0, OUTAGE_HOURS_MAX) * HOUR_MS
      this.start()
    })
  }

  /** Throws SiteFault. `mayBeLate`: it may take effect after its caller has given it up. */
  travel<T>({ caller, request, mayBeLate }: Travel, effect: () => Promise<T>): Promise<T> {
    const { scheduler } = this.#world
    this.counts.requests += 1
    scheduler.note(
      () => `${caller === null ? 'second site' : `n${caller.place + 1}`} asks the other: ${request}`,
    )
    return new Promise((resolve, reject) => {
      const answer = (ms: number, settle: () => void): void => {
        scheduler.after(ms, 'answer of a site', caller === null ? {} : { owner: caller }, settle)
      }
      const unanswered = (): void =>
        reject(new SiteFault('unreachable', `${request} was not answered in time`))
      if (this.#isAway) {
        answer(REFUSED_AFTER_MS, () => reject(new SiteFault('unreachable', `${request}: connection refused`)))
        return
      }
      answer(ANSWER_MS_MAX, unanswered)
      if (this.#meets(LOSS_RATE)) {
        this.counts.lost += 1
        return
      }
      if (this.#meets(FAILURE_RATE)) {
        answer(this.#delayMs(), () => reject(new SiteFault('failed', `${request} was answered 400`)))
        return
      }
      const isLie = this.#meets(LIE_RATE)
      if (isLie) this.counts.lies += 1
      const sentAt = scheduler.now
      scheduler.after(this.#delayMs(), 'request at a site', {}, () => {
        const isLate = caller?.isDead === true || scheduler.now > sentAt + ANSWER_MS_MAX
        if (isLate && !mayBeLate) return
        effect().then(
          (value) => {
            if (!isLie) answer(this.#delayMs(), () => resolve(value))
          },
          (error: unknown) => answer(this.#delayMs(), () => reject(faultOf(request, error))),
        )
      })
    })
  }

  get #isAway(): boolean {
    return !this.#world.isCalm && this.#world.trueTime < this.#awayUntil
  }

  #meets(rate: number): boolean {
    return !this.#world.isCalm && this.#random.chance(rate)
  }

  #delayMs(): number {
    return this.#random.exponential(this.#meets(LATE_RATE) ? LATE_MEAN_MS : DELAY_MEAN_MS)
  }
}

/** A cluster that cannot decide now answers 503. */
function faultOf(request: string, error: unknown): Error {
  if (error instanceof Condition) return new SiteFault('unreachable', `${request} was answered 503`)
  return error instanceof Error ? error : new Error(String(error))
}
