/**
 * Master keys wrapped by Transit of HashiCorp Vault or OpenBao. [Vault API: secret/transit]
 *
 * Owns: paths and bodies of Transit. Knows nothing of: logins.
 * Rules: nothing but encrypt, decrypt and the description of one key is asked for; a refused token is replaced once for each request.
 */
import {
  type KeyProvider,
  ProviderError,
  VERSION_PATTERN,
  WRAPPED_TEXT_MAX,
  type WrappedSecret,
} from './key-provider.ts'
import { type Fields, fieldsIn, ProviderClient, type ProviderTls } from './provider-client.ts'
import { vaultHeaders, VaultLogin, type VaultSettings } from './vault-login.ts'

/** `vault:v3:` and base64. OpenBao writes the same. */
const CIPHERTEXT = /^vault:v([1-9]\d{0,8}):[A-Za-z0-9+/=]+$/

interface Question {
  readonly method: 'GET' | 'POST'
  /** Below /v1/. */
  readonly path: string
  readonly body?: Readonly<Record<string, string>>
}

export class VaultProvider implements KeyProvider {
  readonly name = 'vault'
  readonly #settings: VaultSettings
  readonly #client: ProviderClient
  readonly #login: VaultLogin

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(settings: VaultSettings, tls: ProviderTls, now: () => number) {
    this.#settings = settings
    this.#client = new ProviderClient('Vault', settings.url, tls)
    this.#login = new VaultLogin(this.#client, settings, now)
  }

  async wrap(secret: Uint8Array, signal: AbortSignal): Promise<WrappedSecret> {
    const plaintext = Buffer.from(secret).toString('base64')
    const { ciphertext } = await this.#ask('encrypt', { plaintext }, signal)
    if (typeof ciphertext !== 'string' || ciphertext.length > WRAPPED_TEXT_MAX)
      throw this.#client.malformed('data.ciphertext')
    const [, version] = CIPHERTEXT.exec(ciphertext) ?? []
    if (version === undefined) throw this.#client.malformed('a ciphertext that names its version')
    return { version, text: ciphertext }
  }

  async unwrap({ text }: WrappedSecret, signal: AbortSignal): Promise<Uint8Array> {
    const { plaintext } = await this.#ask('decrypt', { ciphertext: text }, signal)
    if (typeof plaintext !== 'string') throw this.#client.malformed('data.plaintext')
    return Buffer.from(plaintext, 'base64')
  }

  /** A policy without `read` on the key is no fault: the check of versions is left out then. */
  async newestVersion(signal: AbortSignal): Promise<string | null> {
    const { mount, keyName } = this.#settings
    try {
      const answer = await this.#withToken({ method: 'GET', path: `${mount}/keys/${keyName}` }, signal)
      const version = fieldsIn(answer, 'data')?.['latest_version']
      if (typeof version !== 'number' || !VERSION_PATTERN.test(`${version}`))
        throw this.#client.malformed('data.latest_version')
      return `${version}`
    } catch (cause) {
      if (cause instanceof ProviderError && cause.fault === 'denied') return null
      throw cause
    }
  }

  /** A token that cannot be extended, or whose policy does not let it, is used as long as it is good. */
  async renew(signal: AbortSignal): Promise<void> {
    if (this.#settings.auth !== 'token') return
    try {
      await this.#withToken({ method: 'POST', path: 'auth/token/renew-self', body: {} }, signal)
    } catch (cause) {
      if (cause instanceof ProviderError && (cause.fault === 'denied' || cause.fault === 'refused')) return
      throw cause
    }
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #ask(
    action: 'encrypt' | 'decrypt',
    body: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Fields> {
    const { mount, keyName } = this.#settings
    const path = `${mount}/${action}/${keyName}`
    const data = fieldsIn(await this.#withToken({ method: 'POST', path, body }, signal), 'data')
    if (data === null) throw this.#client.malformed('data')
    return data
  }

  async #withToken(question: Question, signal: AbortSignal): Promise<Fields> {
    const token = await this.#login.token(signal)
    try {
      return await this.#exchange(question, token, signal)
    } catch (cause) {
      const isDenied = cause instanceof ProviderError && cause.fault === 'denied'
      if (!isDenied || !(await this.#login.isReplaced(token))) throw cause
      return this.#exchange(question, await this.#login.token(signal), signal)
    }
  }

  #exchange({ path, ...question }: Question, token: string, signal: AbortSignal): Promise<Fields> {
    const headers = { ...vaultHeaders(this.#settings), 'x-vault-token': token }
    const secrets = [token, ...Object.values(question.body ?? {})]
    return this.#client.exchange({ ...question, path: `/v1/${path}`, headers, secrets }, signal)
  }
}
