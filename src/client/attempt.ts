/**
 * One request at one endpoint.
 *
 * Owns: the connections. Knows nothing of: tokens, repeating, the meaning of an answer.
 * Rule: the path is sent as given; a URL parser would resolve the dots in a key.
 */
import { Readable } from 'node:stream'
import { Agent } from 'undici'
import type { ByteSource, Request } from './base/operation.ts'

export interface Attempted {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Must be read or destroyed. */
  readonly body: Readable
}

export interface RetryLoop {
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

export class Connections {
  readonly #agent: Agent

  constructor({ connectMs, answerMs, silenceMs }: RetryLoop, { ca, certificate }: Trust) {
    const connect = { timeout: connectMs, ...(ca === null ? {} : { ca }), ...certificate }
    this.#agent = new Agent({ connect, headersTimeout: answerMs, bodyTimeout: silenceMs })
  }

  /** Throws when there is no answer. */
  async attempt(endpoint: string, request: Request, signal: AbortSignal | undefined): Promise<Attempted> {
    const { origin, pathname } = new URL(endpoint)
    const { method, path, headers, body } = request
    const answer = await this.#agent.request({
      origin,
      path: pathname.replace(/\/$/, '') + path,
      method,
      headers,
      body: isSource(body) ? Readable.from(body.open()) : body,
      ...(signal === undefined ? {} : { signal }),
    })
    return { status: answer.statusCode, headers: plain(answer.headers), body: answer.body }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

const isSource = (body: Request['body']): body is ByteSource => body !== null && 'open' in body

function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  )
  return Object.fromEntries(given)
}
