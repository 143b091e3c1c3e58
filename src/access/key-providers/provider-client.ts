/**
 * One exchange with a provider of master keys over HTTP.
 *
 * Owns: time and size limits, and what a status means. Knows nothing of: paths, bodies, credentials.
 * Rules: certificates are always checked and redirects never followed; what a provider writes into an error is shortened, made printable,
 * and cleared of every secret of this exchange before it can reach a log.
 */
import { Agent, request } from 'undici'
import { collectedBytes } from '../../base/collected-bytes.ts'
import { UNPRINTABLE } from '../../base/printable.ts'
import { ProviderError, type ProviderFault } from './key-provider.ts'

const EXCHANGE_MS_MAX = 10_000
const ANSWER_BYTES_MAX = 64 * 1024
const SAID_CHARACTERS_MAX = 200
const USER_AGENT = 'holdfast-master-key/1'

export interface ProviderTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export interface Exchange {
  readonly method: 'GET' | 'POST'
  /** From the root of the URL, with a slash. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, string>>
  /** Texts that must not be quoted. */
  readonly secrets: readonly string[]
}

export type Fields = Readonly<Record<string, unknown>>

export class ProviderClient {
  readonly #name: string
  readonly #url: string
  readonly #agent: Agent

  /** `name`: how errors call the provider. `url`: without a slash at its end. */
  constructor(name: string, url: string, tls: ProviderTls) {
    this.#name = name
    this.#url = url
    this.#agent = new Agent({ connect: { ...tls }, allowH2: false, pipelining: 0 })
  }

  /** The object that a 2xx answer contains; an empty answer is an empty object. Throws ProviderError. */
  async exchange(exchange: Exchange, signal: AbortSignal): Promise<Fields> {
    const { status, text } = await this.#send(exchange, signal)
    if (status >= 200 && status < 300) return this.#fieldsOf(text)
    const said = saidIn(text, exchange.secrets)
    throw new ProviderError(
      faultOf(status),
      `${this.#name} answered ${status}${said === '' ? '' : `: ${said}`}`,
    )
  }

  malformed(what: string): ProviderError {
    return new ProviderError('malformed', `${this.#name} answered without ${what}`)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #send(
    { method, path, headers, body }: Exchange,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const limit = AbortSignal.any([AbortSignal.timeout(EXCHANGE_MS_MAX), signal])
    try {
      const { statusCode: status, body: answer } = await request(`${this.#url}${path}`, {
        method,
        dispatcher: this.#agent,
        headers: {
          ...headers,
          accept: 'application/json',
          'user-agent': USER_AGENT,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: limit,
      })
      const tooLong = () =>
        new ProviderError('malformed', `${this.#name} answered with more than ${ANSWER_BYTES_MAX} bytes`)
      const bytes = await collectedBytes(answer, ANSWER_BYTES_MAX, tooLong)
      return { status, text: bytes.toString('utf8') }
    } catch (cause) {
      if (cause instanceof ProviderError) throw cause
      // The cause is left out: libraries put whole requests into their errors.
      throw new ProviderError('unreachable', `${this.#name} did not answer (${reasonOf(cause)})`)
    }
  }

  #fieldsOf(text: string): Fields {
    if (text.trim() === '') return {}
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
    } catch {
      // The error of the parser quotes the text.
    }
    throw this.malformed('a JSON object')
  }
}

/** A member that is an object; null: it is not there, or something else. */
export function fieldsIn(fields: Fields, name: string): Fields | null {
  const value = fields[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

/** A redirect is refused: a credential goes only where the configuration says. */
function faultOf(status: number): ProviderFault {
  if (status === 401 || status === 403) return 'denied'
  return status === 408 || status === 429 || status >= 500 ? 'unreachable' : 'refused'
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown'
  if (cause.name === 'TimeoutError' || cause.name === 'AbortError') return 'no answer in time'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name
}

/** What a provider says of an error: the first of `errors` as Vault writes it, or `error`. */
function saidIn(text: string, secrets: readonly string[]): string {
  const cleared = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), messageIn(text))
  return cleared
    .replace(/[\s]+/g, ' ')
    .split('')
    .filter((character) => !UNPRINTABLE.test(character))
    .join('')
    .trim()
    .slice(0, SAID_CHARACTERS_MAX)
}

function messageIn(text: string): string {
  try {
    const { errors, error } = JSON.parse(text) as { errors?: unknown; error?: unknown }
    const first: unknown = Array.isArray(errors) ? errors[0] : error
    return typeof first === 'string' ? first : ''
  } catch {
    return ''
  }
}
