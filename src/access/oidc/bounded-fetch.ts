/**
 * One exchange with the identity provider, in the form of `fetch`.
 *
 * Owns: bounds of time and size, and where requests may go. Knows nothing of: the protocol.
 * Rules: certificates are always checked and redirects never followed; plain HTTP leads to this machine alone, whatever the provider names.
 */
import { Agent, request } from 'undici'
import { collectedBytes } from '../../base/collected-bytes.ts'
import { isPlainHttpElsewhere } from '../../base/plain-http.ts'

const EXCHANGE_MS_MAX = 10_000
const ANSWER_BYTES_MAX = 512 * 1024
const USER_AGENT = 'holdfast-log-in/1'

/** The provider did not answer, or not in a form that can be used. */
export class ProviderFault extends Error {
  override name = 'ProviderFault'
}

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export class BoundedFetch {
  readonly #agent: Agent
  readonly #exchangeMsMax: number

  /** `ca`: PEM; null: the authorities of Node.js. */
  constructor(ca: string | null, exchangeMsMax = EXCHANGE_MS_MAX) {
    this.#exchangeMsMax = exchangeMsMax
    this.#agent = new Agent({ connect: ca === null ? {} : { ca }, allowH2: false, pipelining: 0 })
  }

  /** Throws ProviderFault. */
  readonly fetch = async (url: string, { method, headers, body }: Sent): Promise<Response> => {
    requireSheltered(url)
    try {
      const {
        statusCode,
        headers: given,
        body: answer,
      } = await request(url, {
        method: method === 'POST' ? 'POST' : 'GET',
        dispatcher: this.#agent,
        headers: { ...headers, 'user-agent': USER_AGENT },
        body: body === undefined || body === null ? null : textOf(body),
        signal: AbortSignal.timeout(this.#exchangeMsMax),
      })
      const tooLong = () =>
        new ProviderFault(`${originOf(url)} answered with more than ${ANSWER_BYTES_MAX} bytes`)
      const bytes = await collectedBytes(answer, ANSWER_BYTES_MAX, tooLong)
      const { 'content-type': type, 'www-authenticate': challenge } = given
      return new Response(statusCode === 204 ? null : new Uint8Array(bytes), {
        status: statusCode,
        headers: { ...one('content-type', type), ...one('www-authenticate', challenge) },
      })
    } catch (cause) {
      if (cause instanceof ProviderFault) throw cause
      throw new ProviderFault(`${originOf(url)} did not answer (${reasonOf(cause)})`)
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

/** Throws ProviderFault. */
export function requireSheltered(url: string): void {
  const parsed = URL.parse(url)
  const isHttp = parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
  if (!isHttp || isPlainHttpElsewhere(parsed))
    throw new ProviderFault(`The identity provider names ${originOf(url)}, which is not https`)
}

/** The package sends forms, and nothing else. */
function textOf(body: unknown): string {
  if (body instanceof URLSearchParams) return body.toString()
  if (typeof body === 'string') return body
  throw new ProviderFault('A request to the identity provider has a body of an unknown kind')
}

function one(name: string, value: string | string[] | undefined): Record<string, string> {
  return typeof value === 'string' ? { [name]: value } : {}
}

const originOf = (url: string): string => URL.parse(url)?.origin ?? 'an address that is none'

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown'
  if (cause.name === 'TimeoutError' || cause.name === 'AbortError') return 'no answer in time'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name
}
