/**
 * Master keys wrapped by a key management service over HTTP. The contract: docs/formats/key-service.md
 *
 * Owns: its paths and bodies. Rule: three questions are the whole contract, so that any service can be put behind it.
 */
import type { KeyProviderSettings } from '../../config/types.ts'
import {
  type KeyProvider,
  ProviderError,
  VERSION_PATTERN,
  WRAPPED_TEXT_MAX,
  type WrappedSecret,
} from './key-provider.ts'
import { type Fields, ProviderClient, type ProviderTls } from './provider-client.ts'
import { readCredential } from './provider-files.ts'

export type KmsSettings = Extract<KeyProviderSettings, { kind: 'kms' }>

const TEXT = /^[\x20-\x7e]+$/

export class KmsProvider implements KeyProvider {
  readonly name = 'kms'
  readonly #settings: KmsSettings
  readonly #client: ProviderClient

  constructor(settings: KmsSettings, tls: ProviderTls) {
    this.#settings = settings
    this.#client = new ProviderClient('The key service', settings.url, tls)
  }

  async wrap(secret: Uint8Array, signal: AbortSignal): Promise<WrappedSecret> {
    const plaintext = Buffer.from(secret).toString('base64')
    const answer = await this.#ask('POST', '/wrap', { plaintext }, signal)
    const { ciphertext } = answer
    const isText = typeof ciphertext === 'string' && TEXT.test(ciphertext)
    if (!isText || ciphertext.length > WRAPPED_TEXT_MAX)
      throw this.#client.malformed(`a ciphertext of 1 to ${WRAPPED_TEXT_MAX} printable characters`)
    return { version: this.#versionIn(answer), text: ciphertext }
  }

  async unwrap({ text, version }: WrappedSecret, signal: AbortSignal): Promise<Uint8Array> {
    const body = { ciphertext: text, keyVersion: version }
    const { plaintext } = await this.#ask('POST', '/unwrap', body, signal)
    if (typeof plaintext !== 'string') throw this.#client.malformed('plaintext')
    return Buffer.from(plaintext, 'base64')
  }

  async newestVersion(signal: AbortSignal): Promise<string | null> {
    try {
      return this.#versionIn(await this.#ask('GET', '', undefined, signal))
    } catch (cause) {
      if (cause instanceof ProviderError && cause.fault === 'denied') return null
      throw cause
    }
  }

  async renew(): Promise<void> {
    // Tokens of the contract come from outside; their file is read at each use.
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  #versionIn({ keyVersion }: Fields): string {
    if (typeof keyVersion === 'string' && VERSION_PATTERN.test(keyVersion)) return keyVersion
    throw this.#client.malformed('keyVersion')
  }

  async #ask(
    method: 'GET' | 'POST',
    action: string,
    body: Readonly<Record<string, string>> | undefined,
    signal: AbortSignal,
  ): Promise<Fields> {
    const { keyName, tokenFile } = this.#settings
    const token = tokenFile === null ? '' : await readCredential('security.kms.token_file', tokenFile)
    const headers: Readonly<Record<string, string>> =
      tokenFile === null ? {} : { authorization: `Bearer ${token}` }
    const path = `/v1/keys/${encodeURIComponent(keyName)}${action}`
    const secrets = [token, ...Object.values(body ?? {})]
    return this.#client.exchange(
      { method, path, headers, secrets, ...(body === undefined ? {} : { body }) },
      signal,
    )
  }
}
