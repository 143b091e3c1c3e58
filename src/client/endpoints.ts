/**
 * The nodes of a client: any node serves any request, so one is used until it fails.
 *
 * Rule: a call that fails at one node continues at the next; two calls that fail at the same node advance by one place, not two.
 */
export class Endpoints {
  readonly #all: readonly [string, ...string[]]
  #at = 0

  constructor(endpoints: readonly string[]) {
    const [first, ...others] = endpoints
    if (first === undefined) throw new Error('A client needs at least one endpoint')
    this.#all = [first, ...others]
  }

  get current(): string {
    return this.#all[this.#at] ?? this.#all[0]
  }

  failed(endpoint: string): void {
    if (endpoint === this.current) this.#at = (this.#at + 1) % this.#all.length
  }
}
