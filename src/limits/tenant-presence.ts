/**
 * Whether a tenant has the node to itself at the moment.
 *
 * Owns: who asked last, and when another did; pure, time is passed in. Knows nothing of: requests.
 */
/** A tenant counts as asking for so long after it did. */
const PRESENT_MS = 2_000

export class TenantPresence {
  #last = { tenant: '', atMs: -Infinity }
  /** When any tenant but the last one asked last. */
  #otherMs = -Infinity

  note(tenant: string, nowMs: number): void {
    if (tenant !== this.#last.tenant) this.#otherMs = this.#last.atMs
    this.#last = { tenant, atMs: nowMs }
  }

  /** Another tenant asks as well. */
  isShared(tenant: string, nowMs: number): boolean {
    const othersMs = tenant === this.#last.tenant ? this.#otherMs : this.#last.atMs
    return nowMs - othersMs < PRESENT_MS
  }
}
