/**
 * One client of the benchmark: a connection to one node, one request at a time.
 *
 * Owns: the connection and what counts as an answer. Knows nothing of: the requests, time.
 * Rules: it costs as little as possible, because it shares the machine with the nodes; a body is passed on piece by piece
 * and never kept.
 */
import type { Readable } from 'node:stream'
import { Client } from 'undici'

export interface Asked {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Below the root of the client. */
  readonly path: string
  readonly body?: Buffer | Readable
  /** The length of a body that is a stream. */
  readonly bodyBytes?: number
  readonly onPiece?: (piece: Buffer) => void
  /** Beside those of the client. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status: number
  readonly bytes: number
}

const WAIT_MS = 60_000

export class BenchClient {
  readonly #http: Client
  readonly #headers: Record<string, string> = {}
  readonly #root: string

  /** `root`: the prefix of every path. */
  constructor(endpoint: string, token: string | null, { root = '/api/v1' } = {}) {
    this.#http = new Client(endpoint, {
      pipelining: 1,
      headersTimeout: WAIT_MS,
      bodyTimeout: WAIT_MS,
    })
    this.#root = root
    if (token !== null) this.#headers['authorization'] = `Bearer ${token}`
  }

  ask({ method, path, body, bodyBytes, onPiece, headers }: Asked): Promise<Answered> {
    const length = bodyBytes === undefined ? {} : { 'content-length': `${bodyBytes}` }
    const json = method === 'POST' ? { 'content-type': 'application/json' } : {}
    const request = {
      method,
      path: this.#root + path,
      headers: { ...this.#headers, ...length, ...json, ...headers },
      body: body ?? null,
    }
    return new Promise((resolve, reject) => {
      let status = 0
      let bytes = 0
      this.#http.dispatch(request, {
        onRequestStart: () => undefined,
        onResponseStart: (_, statusCode) => {
          status = statusCode
        },
        onResponseData: (_, piece) => {
          bytes += piece.length
          onPiece?.(piece)
        },
        onResponseEnd: () => resolve({ status, bytes }),
        onResponseError: (_, error) => reject(error),
      })
    })
  }

  /** For the few requests whose answer is read. Throws on any unexpected status. */
  async askJson(asked: Asked, status: number): Promise<Readonly<Record<string, unknown>>> {
    const pieces: Buffer[] = []
    const answer = await this.ask({ ...asked, onPiece: (piece) => void pieces.push(piece) })
    const text = Buffer.concat(pieces).toString()
    if (answer.status !== status)
      throw new Error(`${asked.method} ${asked.path} gave ${answer.status}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  close(): Promise<void> {
    return this.#http.destroy()
  }
}
