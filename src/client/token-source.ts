/**
 * The bearer token of a client: requested when first needed, kept until shortly before it expires. [native: Bearer token 7]
 *
 * Rules: concurrent calls share one exchange; a refused token is discarded once, regardless of how many calls it failed.
 */
export interface Minted {
  readonly token: string
  /** When to replace it, before it expires; milliseconds since 1970 by the clock of this client. */
  readonly renewAt: number
}

export interface TokenSource {
  token(): Promise<string>
  /** Reports a token that was answered with 401. False: no new token is available. */
  refused(token: string): boolean
}

/** A token that the caller supplies, such as an admin token. */
export class FixedToken implements TokenSource {
  readonly #token: string
  constructor(token: string) {
    this.#token = token
  }
  async token(): Promise<string> {
    return this.#token
  }
  refused(): boolean {
    return false
  }
}

export class MintedToken implements TokenSource {
  readonly #mint: () => Promise<Minted>
  readonly #now: () => number
  #held: Minted | null = null
  #minting: Promise<Minted> | null = null

  constructor(mint: () => Promise<Minted>, now: () => number) {
    this.#mint = mint
    this.#now = now
  }

  async token(): Promise<string> {
    if (this.#held !== null && this.#now() < this.#held.renewAt) return this.#held.token
    this.#minting ??= this.#minted()
    return (await this.#minting).token
  }

  refused(token: string): boolean {
    if (this.#held?.token === token) this.#held = null
    return true
  }

  async #minted(): Promise<Minted> {
    try {
      this.#held = await this.#mint()
      return this.#held
    } finally {
      this.#minting = null
    }
  }
}
