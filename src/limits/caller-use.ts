/**
 * What one caller uses: a tenant, an access key or an address.
 *
 * Owns: its levels and counts on this node, and what other nodes have reported of it; pure, time is passed in. Knows nothing of: requests,
 * nodes. Rules: use elsewhere is taken off the same levels, so that all nodes together give about one limit; what runs elsewhere
 * counts until its node has been silent for a while.
 */
import type { CallerLimits } from '../config/types.ts'
import { type BucketRate, TokenBucket } from './token-bucket.ts'

/** The kinds of callers; the name of a policy in the RateLimit header fields. */
export type Scope = 'tenant' | 'key' | 'address' | 'token'

export interface Use {
  readonly requests: number
  readonly bytesIn: number
  readonly bytesOut: number
}

export interface Running {
  readonly requests: number
  readonly uploads: number
}

/** The share of a limit from which a use is reported to other nodes. */
const REPORTED_FROM_SHARE = 1 / 20
const NOTHING: Use = { requests: 0, bytesIn: 0, bytesOut: 0 }

export class CallerUse {
  readonly scope: Scope
  readonly name: string
  #limits: CallerLimits
  readonly #requests: TokenBucket
  readonly #bytesIn: TokenBucket
  readonly #bytesOut: TokenBucket
  #running = 0
  #uploads = 0
  /** By node; as many as there are members. */
  readonly #elsewhere = new Map<string, Running & { readonly untilMs: number }>()
  /** Not reported to other nodes yet. */
  #unreported: { requests: number; bytesIn: number; bytesOut: number } = { ...NOTHING }
  #reportedRunning: Running = { requests: 0, uploads: 0 }
  /** When it was refused or delayed last; -Infinity: never. */
  limitedAtMs = -Infinity
  /** Since this node knows it. */
  total = { requests: 0, bytesIn: 0, bytesOut: 0, refused: 0 }

  constructor(who: { readonly scope: Scope; readonly name: string }, limits: CallerLimits, nowMs: number) {
    this.scope = who.scope
    this.name = who.name
    this.#limits = limits
    this.#requests = new TokenBucket(rateOf(limits.requestsPerSecond, limits), nowMs)
    this.#bytesIn = new TokenBucket(rateOf(limits.bytesInPerSecond, limits), nowMs)
    this.#bytesOut = new TokenBucket(rateOf(limits.bytesOutPerSecond, limits), nowMs)
  }

  get limits(): CallerLimits {
    return this.#limits
  }

  setLimits(limits: CallerLimits, nowMs: number): void {
    if (limits === this.#limits) return
    this.#limits = limits
    this.#requests.setRate(rateOf(limits.requestsPerSecond, limits), nowMs)
    this.#bytesIn.setRate(rateOf(limits.bytesInPerSecond, limits), nowMs)
    this.#bytesOut.setRate(rateOf(limits.bytesOutPerSecond, limits), nowMs)
  }

  /** Of the rate of requests: those that are left now, Infinity without a limit, and when there is one more. */
  requestStatus(nowMs: number): { readonly left: number; readonly nextMs: number } {
    const left = this.#requests.left(nowMs)
    return { left, nextMs: left === Infinity ? 0 : this.#requests.waitMs(left + 1, nowMs) }
  }

  /** Milliseconds until one more request is allowed; 0: it is now. */
  requestWaitMs(nowMs: number): number {
    return this.#requests.waitMs(1, nowMs)
  }

  chargeRequest(nowMs: number): void {
    this.#requests.charge(1, nowMs)
    this.#unreported.requests += 1
    this.total.requests += 1
  }

  /** Milliseconds until so many bytes fit into the rate. */
  chargeBytes(direction: 'in' | 'out', bytes: number, nowMs: number): number {
    const bucket = direction === 'in' ? this.#bytesIn : this.#bytesOut
    const member = direction === 'in' ? 'bytesIn' : 'bytesOut'
    this.#unreported[member] += bytes
    this.total[member] += bytes
    bucket.charge(bytes, nowMs)
    return bucket.waitMs(0, nowMs)
  }

  /** Which count is full on all nodes together; null: one more may run. */
  fullCount(isUpload: boolean, nowMs: number): 'requests' | 'uploads' | null {
    const { requestsAtOnce, uploadsAtOnce } = this.#limits
    const others = this.#runningElsewhere(nowMs)
    if (requestsAtOnce > 0 && this.#running + others.requests >= requestsAtOnce) return 'requests'
    if (isUpload && uploadsAtOnce > 0 && this.#uploads + others.uploads >= uploadsAtOnce) return 'uploads'
    return null
  }

  begin(isUpload: boolean): void {
    this.#running += 1
    if (isUpload) this.#uploads += 1
  }

  end(isUpload: boolean): void {
    this.#running -= 1
    if (isUpload) this.#uploads -= 1
  }

  get running(): Running {
    return { requests: this.#running, uploads: this.#uploads }
  }

  /** Nothing would be lost if it was forgotten now. */
  isAtRest(nowMs: number): boolean {
    if (this.#running > 0 || this.#elsewhere.size > 0) return false
    return [this.#requests, this.#bytesIn, this.#bytesOut].every((bucket) => bucket.isFull(nowMs))
  }

  /** What to report of it to other nodes, which counts as reported from now on; null: too little. */
  report(): { readonly use: Use; readonly running: Running } | null {
    const { requestsAtOnce, uploadsAtOnce } = this.#limits
    const { running } = this
    const isRunning =
      running.requests >= Math.max(1, requestsAtOnce * REPORTED_FROM_SHARE) ||
      running.uploads >= Math.max(1, uploadsAtOnce * REPORTED_FROM_SHARE)
    const wasRunning = this.#reportedRunning.requests > 0
    if (!this.#isUseWorthReporting() && !isRunning && !wasRunning) return null
    const use = this.#unreported
    this.#unreported = { ...NOTHING }
    this.#reportedRunning = isRunning ? running : { requests: 0, uploads: 0 }
    return { use, running: this.#reportedRunning }
  }

  #isUseWorthReporting(): boolean {
    const { requests, bytesIn, bytesOut } = this.#unreported
    const isShare = (use: number, { rate: { perSecond, burst } }: TokenBucket): boolean =>
      perSecond > 0 && use >= Math.min(perSecond, burst) * REPORTED_FROM_SHARE
    return (
      isShare(requests, this.#requests) ||
      isShare(bytesIn, this.#bytesIn) ||
      isShare(bytesOut, this.#bytesOut)
    )
  }

  /** What another node reports of it. */
  hear(
    node: string,
    { use, running }: { readonly use: Use; readonly running: Running },
    at: { readonly nowMs: number; readonly believedMs: number },
  ): void {
    const { nowMs, believedMs } = at
    this.#requests.charge(use.requests, nowMs)
    this.#bytesIn.charge(use.bytesIn, nowMs)
    this.#bytesOut.charge(use.bytesOut, nowMs)
    if (running.requests === 0 && running.uploads === 0) this.#elsewhere.delete(node)
    else this.#elsewhere.set(node, { ...running, untilMs: nowMs + believedMs })
  }

  /** On this node, and on others as they reported it. */
  runningEverywhere(nowMs: number): Running {
    const others = this.#runningElsewhere(nowMs)
    return { requests: this.#running + others.requests, uploads: this.#uploads + others.uploads }
  }

  #runningElsewhere(nowMs: number): Running {
    if (this.#elsewhere.size === 0) return { requests: 0, uploads: 0 }
    let requests = 0
    let uploads = 0
    for (const [node, running] of this.#elsewhere) {
      if (running.untilMs <= nowMs) this.#elsewhere.delete(node)
      else {
        requests += running.requests
        uploads += running.uploads
      }
    }
    return { requests, uploads }
  }
}

function rateOf(perSecond: number, { burstSeconds }: CallerLimits): BucketRate {
  // At least one, so that a small rate lets anything through.
  return { perSecond, burst: Math.max(1, perSecond * burstSeconds) }
}
