/**
 * The bearer token of a client: minted when it is first needed, kept until shortly before it expires. [native: Bearer token 7]
 *
 * Rules: calls at the same time share one exchange; one token that was refused is thrown away once, however many calls it failed.
 */
export interface Minted {
  readonly token: string
  /** When to replace it, before its end; milliseconds since 1970 by the clock of this client. */
  readonly renewAt: number
}

export interface TokenSource {
  token(): Promise<string>
  /** It was answered 401. False: another one would not help. */
  refused(token: string): boolean
}

/** A token that was given, such as that of an operator. */
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
