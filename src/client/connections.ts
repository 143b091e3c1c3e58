/**
 * One request at one endpoint over connections of Node.js, for what `fetch` cannot do: an authority and a certificate of one's own, a time
 * limit for connecting, keys that consist of dots.
 *
 * Owns: the connections. Knows nothing of: tokens, repeating, the meaning of an answer.
 * Rule: the path is sent as given; a URL parser would resolve the dots in a key.
 */
import { Readable } from 'node:stream'
import { Agent } from 'undici'
import type { Request } from '../../packages/client/src/call/operation.ts'
import { type Attempted, collected, type Transport } from '../../packages/client/src/call/transport.ts'

export interface TimeLimits {
  readonly connectMs: number
  /** From the end of the request to the headers of the answer. */
  readonly answerMs: number
  /** Between two pieces of an answer. */
  readonly silenceMs: number
}

export interface ClientCertificateFiles {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** Which certificates are trusted, and which one is shown. */
export interface Trust {
  /** PEM; null: the authorities that Node knows. */
  readonly ca: string | null
  /** Null: none. */
  readonly certificate: ClientCertificateFiles | null
}

/** The bytes of an answer come as a stream of Node.js. */
export class Connections implements Transport<Readable> {
  readonly #agent: Agent
  readonly #userAgent: string

  constructor({ connectMs, answerMs, silenceMs }: TimeLimits, { ca, certificate }: Trust, userAgent: string) {
    const connect = { timeout: connectMs, ...(ca === null ? {} : { ca }), ...certificate }
    this.#agent = new Agent({ connect, headersTimeout: answerMs, bodyTimeout: silenceMs })
    this.#userAgent = userAgent
  }

  async attempt(
    endpoint: string,
    request: Request,
    signal: AbortSignal | undefined,
  ): Promise<Attempted<Readable>> {
    const { origin, pathname } = new URL(endpoint)
    const { method, path, headers, body } = request
    const answer = await this.#agent.request({
      origin,
      path: pathname.replace(/\/$/, '') + path,
      method,
      headers: { 'user-agent': this.#userAgent, ...headers },
      body: bodyFor(body),
      ...(signal === undefined ? {} : { signal }),
    })
    return {
      status: answer.statusCode,
      headers: plain(answer.headers),
      body: answer.body,
      pieces: () => answer.body,
      bytes: () => collected(answer.body),
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

function bodyFor(body: Request['body']): Uint8Array | Readable | null {
  if (body === null || body instanceof Uint8Array) return body
  return Readable.from('open' in body ? body.open() : body.stream())
}

function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  )
  return Object.fromEntries(given)
}
