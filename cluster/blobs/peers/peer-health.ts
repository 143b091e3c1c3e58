/**
 * Which peers answered lately: a circuit breaker for each.
 *
 * Owns: leaving an unreachable peer alone for a short while, so that one dead node does not slow down every write.
 * Rule: this is a hint for order and haste. Nothing is ever decided to be lost because a peer did not answer.
 */
import type { Clock } from '../../base/clock.ts'
import type { NodeId } from '../../base/types.ts'

interface Outage {
  readonly failures: number
  readonly until: number
}

export interface PeerHealthOptions {
  readonly clock: Clock
  readonly coolDownMs: number
  readonly coolDownMaxMs: number
}

export class PeerHealth {
  readonly #options: PeerHealthOptions
  readonly #outages = new Map<NodeId, Outage>()

  constructor(options: PeerHealthOptions) {
    this.#options = options
  }

  isHealthy(peer: NodeId): boolean {
    return !this.#outages.has(peer)
  }

  /** Asked right before a call. After a cool-down one caller gets through and the others wait for what it finds. */
  mayTry(peer: NodeId): boolean {
    const outage = this.#outages.get(peer)
    if (outage === undefined) return true
    if (this.#options.clock.now() < outage.until) return false
    this.#outages.set(peer, { ...outage, until: this.#coolDownEnd(outage.failures) })
    return true
  }

  succeeded(peer: NodeId): void {
    this.#outages.delete(peer)
  }

  failed(peer: NodeId): void {
    const failures = (this.#outages.get(peer)?.failures ?? 0) + 1
    this.#outages.set(peer, { failures, until: this.#coolDownEnd(failures) })
  }

  #coolDownEnd(failures: number): number {
    const { clock, coolDownMs, coolDownMaxMs } = this.#options
    return clock.now() + Math.min(coolDownMaxMs, coolDownMs * 2 ** Math.min(failures - 1, 16))
  }
}
