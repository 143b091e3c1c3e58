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

/** Keeps the token of an access key longer than one client lives. Its methods do not throw. */
export interface TokenStore {
  /** Null: none. */
  load(): Promise<Minted | null>
  save(minted: Minted): Promise<void>
  /** Forgets this token. */
  drop(token: string): Promise<void>
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
  readonly #store: TokenStore | null
  #held: Minted | null = null
  #minting: Promise<Minted> | null = null
  #refused: string | null = null

  constructor(mint: () => Promise<Minted>, now: () => number, store: TokenStore | null = null) {
    this.#mint = mint
    this.#now = now
    this.#store = store
  }

  async token(): Promise<string> {
    if (this.#held !== null && this.#now() < this.#held.renewAt) return this.#held.token
    this.#minting ??= this.#minted()
    return (await this.#minting).token
  }

  refused(token: string): boolean {
    if (this.#held?.token === token) this.#held = null
    this.#refused = token
    return true
  }

  async #minted(): Promise<Minted> {
    try {
      const stored = await this.#stored()
      this.#held = stored ?? (await this.#mint())
      if (stored === null) await this.#store?.save(this.#held)
      return this.#held
    } finally {
      this.#minting = null
    }
  }

  /** Null: none that is still good. One that was refused is forgotten; another process may have stored the next. */
  async #stored(): Promise<Minted | null> {
    if (this.#store === null) return null
    if (this.#refused !== null) await this.#store.drop(this.#refused)
    const stored = await this.#store.load()
    return stored !== null && stored.token !== this.#refused && this.#now() < stored.renewAt ? stored : null
  }
}
