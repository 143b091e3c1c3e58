/**
 * Token buckets of addresses that prove nothing.
 *
 * Owns: counting; pure, time is passed in. Knows nothing of: requests.
 * Rules: memory is bounded. An address at which a caller proved itself keeps a bucket of its own, whatever others do. Of the rest a bucket is
 * forgotten only when it is full again; while there is none such, further addresses share one, so that inventing addresses resets nothing.
 */
import { TokenBucket } from '../../limits/token-bucket.ts'

export interface AddressLimits {
  readonly perMinute: number
  readonly burst: number
  /** Of each kind, known and unknown. Count. */
  readonly addressesMax: number
}

/** A proof moves its address to the end of the queue once in so long. */
const PROOF_NOTED_EVERY_MS = 60_000

interface Known {
  readonly bucket: TokenBucket
  provedAtMs: number
}

export class AddressBuckets {
  readonly #limits: AddressLimits
  /** In the order of the last proof. */
  readonly #known = new Map<string, Known>()
  /** In the order of the last request. */
  readonly #unknown = new Map<string, TokenBucket>()
  #shared: TokenBucket | null = null

  constructor(limits: AddressLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#known.size + this.#unknown.size
  }

  /** Takes one; null when allowed, otherwise the milliseconds until there is one. */
  take(address: string, nowMs: number): number | null {
    const bucket = this.#bucketOf(address, nowMs)
    const waitMs = bucket.waitMs(1, nowMs)
    if (waitMs > 0) return Math.ceil(waitMs)
    bucket.charge(1, nowMs)
    return null
  }

  proved(address: string, nowMs: number): void {
    const known = this.#known.get(address)
    if (known !== undefined && nowMs - known.provedAtMs < PROOF_NOTED_EVERY_MS) return
    const bucket = known?.bucket ?? this.#unknown.get(address) ?? this.#full(nowMs)
    this.#unknown.delete(address)
    this.#known.delete(address)
    this.#known.set(address, { bucket, provedAtMs: nowMs })
    const [oldest] = this.#known.keys()
    if (this.#known.size > this.#limits.addressesMax && oldest !== undefined) this.#known.delete(oldest)
  }

  #bucketOf(address: string, nowMs: number): TokenBucket {
    const known = this.#known.get(address)
    if (known !== undefined) return known.bucket
    const own = this.#unknown.get(address)
    if (own === undefined && !this.#makeRoom(nowMs)) return (this.#shared ??= this.#full(nowMs))
    const bucket = own ?? this.#full(nowMs)
    this.#unknown.delete(address)
    this.#unknown.set(address, bucket)
    return bucket
  }

  #makeRoom(nowMs: number): boolean {
    if (this.#unknown.size < this.#limits.addressesMax) return true
    const [oldest] = this.#unknown
    if (oldest === undefined || !oldest[1].isFull(nowMs)) return false
    this.#unknown.delete(oldest[0])
    return true
  }

  #full(nowMs: number): TokenBucket {
    const { perMinute, burst } = this.#limits
    return new TokenBucket({ perSecond: perMinute / 60, burst }, nowMs)
  }
}
