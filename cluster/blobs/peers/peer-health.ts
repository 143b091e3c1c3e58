/**
 * Which peers answered recently: a circuit breaker for each peer.
 *
 * Owns: the cool-down in which an unreachable peer is not called, so that one dead node does not slow down every write.
 * Rule: this is a hint for the order and timing of calls. A peer that does not answer never makes a copy count as lost.
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

  /** Called immediately before a call. After a cool-down one caller may try; the others wait for its outcome. */
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
