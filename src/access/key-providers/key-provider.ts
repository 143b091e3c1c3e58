/**
 * The port behind which a provider wraps and opens master keys, and what can go wrong with one.
 *
 * Owns: the port. Knows nothing of: HTTP, modules, lines, who asks.
 * Rules: a provider is asked at a start, by commands on the key file and by the check of a running node, and never for a request of a
 * client; nothing that a provider returns is believed: who calls compares fingerprints. No error quotes a key or a credential.
 */
export type ProviderName = 'vault' | 'kms' | 'pkcs11'

/** What a provider made of a key. */
export interface WrappedSecret {
  /** Of the key of the provider; opaque. */
  readonly version: string
  /** As the provider wants it back. */
  readonly text: string
}

/** Of the text of a wrapped secret. */
export const WRAPPED_TEXT_MAX = 3072
export const VERSION_PATTERN = /^[A-Za-z0-9._-]{1,64}$/

export interface KeyProvider {
  readonly name: ProviderName
  /** Under the newest version of the provider's key. Throws ProviderError. */
  wrap(secret: Uint8Array, signal: AbortSignal): Promise<WrappedSecret>
  /** Throws ProviderError. */
  unwrap(wrapped: WrappedSecret, signal: AbortSignal): Promise<Uint8Array>
  /** The version that wrap() uses now; null: the provider does not say it to this caller. Throws ProviderError. */
  newestVersion(signal: AbortSignal): Promise<string | null>
  /** Extends the credential where it ends by itself. Throws ProviderError. */
  renew(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/**
 * `unreachable`: no answer, or one that says that the provider cannot answer now; worth another try. `denied`: the credential is not good,
 * or not for this. `refused`: the request is not good, such as a key that does not exist. `malformed`: an answer that means nothing.
 */
export type ProviderFault = 'unreachable' | 'denied' | 'refused' | 'malformed'

export class ProviderError extends Error {
  readonly fault: ProviderFault
  constructor(fault: ProviderFault, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.name = 'ProviderError'
    this.fault = fault
  }
}
