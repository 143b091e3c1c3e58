/**
 * Master keys wrapped by an RSA key of a security module, reached with `pkcs11-tool` of OpenSC. [PKCS#11 2.40: RSA-OAEP]
 *
 * Owns: the command lines and what their failures mean. Knows nothing of: modules of vendors.
 * Rules: the module runs in a process of its own, never in that of the node; the PIN is in the environment of that process and not in its
 * arguments, which every user of the machine can read; bytes travel through pipes and never through a file; of an error only the name of the
 * return value is shown.
 *
 * Wrapped: RSA-OAEP with SHA-1 and MGF1-SHA-1, the one form that every module has, under the public key of the pair. The version of a line is
 * the id of its pair, so lines of older pairs open as long as the module has them.
 */
import { execFile } from 'node:child_process'
import { constants, createPublicKey, publicEncrypt } from 'node:crypto'
import type { KeyProviderSettings } from '../../config/types.ts'
import { type KeyProvider, ProviderError, type ProviderFault, type WrappedSecret } from './key-provider.ts'
import { readCredential } from './provider-files.ts'

type Pkcs11Settings = Extract<KeyProviderSettings, { kind: 'pkcs11' }>

const TOOL = 'pkcs11-tool'
const CALL_MS_MAX = 10_000
const ANSWER_BYTES_MAX = 64 * 1024
const PIN_VARIABLE = 'HOLDFAST_PKCS11_PIN'
/** 8192 bits are the longest key. */
const CIPHERTEXT = /^[A-Za-z0-9+/=]{1,1400}$/

const DENIED = /CKR_(PIN_\w+|USER_NOT_LOGGED_IN|USER_PIN_NOT_INITIALIZED|KEY_FUNCTION_NOT_PERMITTED)/
const AWAY =
  /CKR_(DEVICE_\w+|TOKEN_NOT_PRESENT|TOKEN_NOT_RECOGNIZED|SESSION_COUNT|SLOT_ID_INVALID|HOST_MEMORY)|No slots?\b/

interface Failure {
  /** Null: the process was not ended by itself. */
  readonly code: number | string | null
  readonly errors: string
}

export class Pkcs11Provider implements KeyProvider {
  readonly name = 'pkcs11'
  readonly #settings: Pkcs11Settings

  constructor(settings: Pkcs11Settings) {
    this.#settings = settings
  }

  async wrap(secret: Uint8Array, signal: AbortSignal): Promise<WrappedSecret> {
    const { keyId } = this.#settings
    const der = await this.#call(['--read-object', '--type', 'pubkey', '--id', keyId], { signal })
    try {
      const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
      const padding = constants.RSA_PKCS1_OAEP_PADDING
      const sealed = publicEncrypt({ key, padding, oaepHash: 'sha1' }, secret)
      return { version: keyId, text: sealed.toString('base64') }
    } catch {
      throw new ProviderError('refused', `The security module has no RSA key with id ${keyId}`)
    }
  }

  async unwrap({ text, version }: WrappedSecret, signal: AbortSignal): Promise<Uint8Array> {
    if (!CIPHERTEXT.test(text)) throw new ProviderError('refused', 'The line is not of a security module')
    const pin = await readCredential('security.pkcs11.pin_file', this.#settings.pinFile)
    const rsaOaep = ['--mechanism', 'RSA-PKCS-OAEP', '--hash-algorithm', 'SHA-1', '--mgf', 'MGF1-SHA1']
    return this.#call(['--login', '--pin', `env:${PIN_VARIABLE}`, '--decrypt', '--id', version, ...rsaOaep], {
      input: Buffer.from(text, 'base64'),
      pin,
      signal,
    })
  }

  async newestVersion(): Promise<string> {
    return this.#settings.keyId
  }

  async renew(): Promise<void> {
    // A PIN has no end of its own.
  }

  async close(): Promise<void> {
    // Each call is a process that has ended.
  }

  async #call(
    command: readonly string[],
    {
      input,
      pin,
      signal,
    }: { readonly input?: Uint8Array; readonly pin?: string; readonly signal: AbortSignal },
  ): Promise<Buffer> {
    const { module, tokenLabel } = this.#settings
    const flags = ['--module', module, '--token-label', tokenLabel, ...command]
    const env = { ...process.env, ...(pin === undefined ? {} : { [PIN_VARIABLE]: pin }) }
    return new Promise((resolve, reject) => {
      const limit = AbortSignal.any([AbortSignal.timeout(CALL_MS_MAX), signal])
      const options = { env, encoding: 'buffer', maxBuffer: ANSWER_BYTES_MAX, signal: limit } as const
      const child = execFile(TOOL, flags, options, (cause, output, errors) => {
        if (cause === null) resolve(output)
        else reject(errorOf({ code: cause.code ?? null, errors: errors.toString('latin1') }))
      })
      // A process that ended before it read everything is reported by its exit code.
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(input)
    })
  }
}

function errorOf({ code, errors }: Failure): ProviderError {
  if (code === 'ENOENT')
    return new ProviderError('refused', `${TOOL} is not in the PATH; it is in the package opensc`)
  if (code === 'ABORT_ERR' || code === null)
    return new ProviderError('unreachable', 'The security module did not answer (no answer in time)')
  const value = /CKR_\w+/.exec(errors)?.[0] ?? null
  const isAbsent = /No slots?\b|no slot|not found|failed to load/i.test(errors)
  const reason = value ?? (isAbsent ? 'no such module, token or key' : `${TOOL} ended with ${code}`)
  return new ProviderError(faultOf(errors), `The security module answered: ${reason}`)
}

function faultOf(errors: string): ProviderFault {
  if (DENIED.test(errors)) return 'denied'
  return AWAY.test(errors) ? 'unreachable' : 'refused'
}
