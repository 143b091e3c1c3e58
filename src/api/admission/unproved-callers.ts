/**
 * What clients may cost this node before they have proved who they are, and when they cannot. [record 40]
 *
 * Owns: their rate by address, and the memory of their bodies. Knows nothing of: routes, tokens.
 * Rules: a caller that proves itself is refused by nothing in here, whatever its address has done; and nothing in here depends on
 * whether a key or a tenant exists.
 */
import { Condition, counter, gauge, type MetricSample } from '../../../cluster/index.ts'
import { Refusal } from '../../base/refusal.ts'
import type { Config } from '../../config/types.ts'
import { networkOf } from '../../base/network-address.ts'
import { AddressBuckets } from './address-buckets.ts'

/** The largest body of a caller that has not proved itself. Credentials have about 200 bytes. */
export const UNPROVED_BODY_BYTES_MAX = 4096
/** From the request for the body to its last byte. */
export const UNPROVED_BODY_MS_MAX = 10_000
const ADDRESSES_MAX = 10_000
/** The part of the memory of bodies that one address may hold. */
const SHARE_OF_ADDRESS = 1 / 8
const RETRY_MS = 1000

type Settings = Pick<Config['limits'], 'unprovedRequestsPerMinute' | 'unprovedBurst' | 'unprovedBodyBytesMax'>

export class UnprovedCallers {
  readonly #settings: Settings
  readonly #now: () => number
  readonly #buckets: AddressBuckets
  /** Reserved by bodies that are still arriving, by network. */
  readonly #held = new Map<string, number>()
  #heldBytes = 0
  #requests = 0
  #refused = { rate: 0, memory: 0 }

  constructor(settings: Settings, now: () => number) {
    this.#settings = settings
    this.#now = now
    const { unprovedRequestsPerMinute: perMinute, unprovedBurst: burst } = settings
    this.#buckets = new AddressBuckets({ perMinute, burst, addressesMax: ADDRESSES_MAX })
  }

  /** One request that proves nothing: what to answer instead; null: what was to be answered. */
  count(address: string): Refusal | null {
    this.#requests += 1
    const waitMs = this.#buckets.take(networkOf(address), this.#now())
    if (waitMs === null) return null
    this.#refused.rate += 1
    const { unprovedRequestsPerMinute: perMinute, unprovedBurst: burst } = this.#settings
    const seconds = Math.ceil(waitMs / 1000)
    return new Refusal(
      'rate_limited',
      `More than ${perMinute} requests a minute without a valid credential`,
      {
        retryAfterSeconds: seconds,
        headers: {
          'ratelimit-policy': `"unproved";q=${perMinute};w=60;burst=${burst}`,
          ratelimit: `"unproved";r=0;t=${seconds}`,
        },
      },
    )
  }

  proved(address: string): void {
    this.#buckets.proved(networkOf(address), this.#now())
  }

  /** Reserves memory for a body until the returned function is called. Throws Condition slow_down. */
  holdBody(address: string, bytes: number): () => void {
    const network = networkOf(address)
    const max = this.#settings.unprovedBodyBytesMax
    const own = (this.#held.get(network) ?? 0) + bytes
    if (this.#heldBytes + bytes > max || own > max * SHARE_OF_ADDRESS) {
      this.#refused.memory += 1
      const message =
        'Too many bodies of callers without a valid credential are arriving: send it again later'
      throw new Condition('slow_down', message, { retryAfterMs: RETRY_MS })
    }
    this.#heldBytes += bytes
    this.#held.set(network, own)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#heldBytes -= bytes
      const left = (this.#held.get(network) ?? 0) - bytes
      if (left > 0) this.#held.set(network, left)
      else this.#held.delete(network)
    }
  }

  samples(): readonly MetricSample[] {
    const refusedHelp = 'Requests without a valid credential that were refused for their rate or for memory.'
    const refused = (reason: 'rate' | 'memory'): MetricSample =>
      counter('holdfast_admission_refused_total', refusedHelp, this.#refused[reason], { reason })
    return [
      counter(
        'holdfast_admission_unproved_requests_total',
        'Requests that did not prove a caller, probes left out.',
        this.#requests,
      ),
      refused('rate'),
      refused('memory'),
      gauge(
        'holdfast_admission_body_bytes',
        'Memory that arriving bodies of callers without a valid credential hold.',
        this.#heldBytes,
      ),
      gauge(
        'holdfast_admission_addresses',
        'Addresses whose requests without a valid credential are counted.',
        this.#buckets.size,
      ),
    ]
  }
}
