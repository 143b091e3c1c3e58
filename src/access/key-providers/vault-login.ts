/**
 * The token that a node shows to Vault.
 *
 * Owns: where it comes from and when it is asked for again. Knows nothing of: Transit.
 * Rules: a credential is read from its file at each use, because agents and Kubernetes replace it; a token from a login is used until two
 * thirds of its time are over, and is dropped when Vault refuses it. [Vault API: auth/token, auth/approle, auth/jwt, auth/kubernetes]
 */
import type { KeyProviderSettings } from '../../config/types.ts'
import { ProviderError } from './key-provider.ts'
import { type Fields, fieldsIn, type ProviderClient } from './provider-client.ts'
import { readCredential } from './provider-files.ts'

export type VaultSettings = Extract<KeyProviderSettings, { kind: 'vault' }>

const CREDENTIAL_SETTING = 'security.vault.credential_file'
const USED_SHARE = 2 / 3
/** A token without an end, as Vault says it with a lease of 0. */
const ENDLESS_MS = 3_600_000

interface Token {
  readonly value: string
  /** By the clock of the constructor. ms */
  readonly usedUntil: number
}

export class VaultLogin {
  readonly #client: ProviderClient
  readonly #settings: VaultSettings
  readonly #now: () => number
  #token: Token | null = null

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(client: ProviderClient, settings: VaultSettings, now: () => number) {
    this.#client = client
    this.#settings = settings
    this.#now = now
  }

  /** Throws ProviderError, and StartError `key_provider_unusable`. */
  async token(signal: AbortSignal): Promise<string> {
    const { auth, credentialFile } = this.#settings
    if (auth === 'token') return readCredential(CREDENTIAL_SETTING, credentialFile)
    if (this.#token === null || this.#now() >= this.#token.usedUntil) this.#token = await this.#login(signal)
    return this.#token.value
  }

  /** Vault did not accept this token; whether another one is worth a try. */
  async isReplaced(token: string): Promise<boolean> {
    const { auth, credentialFile } = this.#settings
    if (auth === 'token') return (await readCredential(CREDENTIAL_SETTING, credentialFile)) !== token
    this.#token = null
    return true
  }

  async #login(signal: AbortSignal): Promise<Token> {
    const { auth, authMount, role, credentialFile } = this.#settings
    const credential = await readCredential(CREDENTIAL_SETTING, credentialFile)
    const named = role ?? ''
    const body =
      auth === 'approle' ? { role_id: named, secret_id: credential } : { role: named, jwt: credential }
    const answer = await this.#client
      .exchange(
        {
          method: 'POST',
          path: `/v1/auth/${authMount}/login`,
          headers: vaultHeaders(this.#settings),
          body,
          secrets: [credential],
        },
        signal,
      )
      .catch((cause: unknown) => {
        if (cause instanceof ProviderError && isRefusedLogin(cause))
          throw new ProviderError('denied', `The login was refused: ${cause.message}`)
        throw cause
      })
    return this.#tokenIn(answer)
  }

  #tokenIn(answer: Fields): Token {
    const { client_token: value, lease_duration: seconds } = fieldsIn(answer, 'auth') ?? {}
    if (typeof value !== 'string' || value === '') throw this.#client.malformed('auth.client_token')
    const leaseMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : ENDLESS_MS
    return { value, usedUntil: this.#now() + leaseMs * USED_SHARE }
  }
}

/** Vault answers 400 to a wrong secret id and to a JWT that is over, and 1.14 was seen to answer 500 to the first. */
function isRefusedLogin({ fault, message }: ProviderError): boolean {
  return fault === 'refused' || /invalid (role|secret) ?id/i.test(message)
}

export function vaultHeaders({ namespace }: VaultSettings): Readonly<Record<string, string>> {
  return { 'x-vault-request': 'true', ...(namespace === null ? {} : { 'x-vault-namespace': namespace }) }
}
