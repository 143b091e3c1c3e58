/**
 * A request as the thread of the state reads it: its bytes come from an edge thread, as fast as they are read here.
 *
 * Owns: what of the body has come and is not read, the credit for more. Knows nothing of: the answer.
 * Rule: at most CREDIT_BYTES and two pieces of a body are in flight or wait here.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { RawRequest } from '../raw/raw-pair.ts'
import type { LinkedSocket } from './linked-socket.ts'
import {
  type Asked,
  CREDIT_BYTES,
  CREDIT_STEP_BYTES,
  FIRST_CREDIT_BYTES,
  fromLines,
  type ToEdge,
} from './thread-messages.ts'

export class LinkedRequest extends Readable implements RawRequest {
  readonly socket: LinkedSocket
  readonly method: string
  url: string
  readonly httpVersion: string
  readonly httpVersionMajor = 1
  readonly rawHeaders: string[]
  readonly headers: IncomingHttpHeaders
  trailers: NodeJS.Dict<string> = {}
  complete = false
  /** As node:http calls a request whose connection ended before it was read. */
  aborted = false
  readonly #id: number
  readonly #send: (message: ToEdge) => void
  #pieces: Uint8Array[] = []
  #isWanted = false
  /** Before its first reader asks, the first credit is all there is. */
  #wasAsked = false
  #isAtEnd = false
  /** Taken since the last report; it begins with what the reader adds to the first credit. Bytes */
  #taken = CREDIT_BYTES - FIRST_CREDIT_BYTES

  constructor(asked: Asked, socket: LinkedSocket, send: (message: ToEdge) => void) {
    super({ autoDestroy: false, highWaterMark: CREDIT_STEP_BYTES })
    this.socket = socket
    this.method = asked.method
    this.url = asked.url
    this.httpVersion = asked.httpVersion
    this.rawHeaders = fromLines(asked.rawHeaders)
    this.headers = headersOf(fromLines(asked.headers))
    this.#id = asked.request
    this.#send = send
    if (asked.bytes !== null) this.#pieces.push(asked.bytes)
    if (asked.isComplete) this.onComplete(asked.trailers)
  }

  onPiece(bytes: Uint8Array): void {
    if (this.destroyed) return
    this.#pieces.push(bytes)
    this.#deliver()
  }

  /** `trailers`: as lines. */
  onComplete(trailers: string): void {
    this.complete = true
    if (trailers !== '') this.trailers = trailersOf(fromLines(trailers))
    this.#deliver()
  }

  /** Its connection is closed, or the thread that had it is gone. */
  onGone(): void {
    if (this.readableEnded || this.destroyed) return
    this.aborted = true
    this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))
  }

  override _read(): void {
    this.#isWanted = true
    this.#wasAsked = true
    this.#deliver()
  }

  /** As with node:http, a reader that does not listen for errors gets none from a connection that ended. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#pieces = []
    process.nextTick(() => done(this.listenerCount('error') > 0 ? error : null))
  }

  #deliver(): void {
    while (this.#isWanted) {
      const piece = this.#pieces.shift()
      if (piece === undefined) break
      this.#taken += piece.length
      this.#isWanted = this.push(piece)
    }
    if (!this.#isWanted) return this.#report()
    if (this.complete && !this.#isAtEnd) {
      this.#isAtEnd = true
      this.push(null)
      return
    }
    this.#report()
  }

  #report(): void {
    if (this.complete || this.#taken < CREDIT_STEP_BYTES || !this.#wasAsked) return
    this.#send({ kind: 'credit', request: this.#id, bytes: this.#taken })
    this.#taken = 0
  }
}

/** Names and values in turns, as Node.js combined them. */
function headersOf(lines: readonly string[]): IncomingHttpHeaders {
  const headers: Record<string, string | string[]> = {}
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at] ?? ''
    const value = lines[at + 1] ?? ''
    headers[name] = name === 'set-cookie' ? [value] : value
  }
  return headers
}

/** By name in lower case, repeated ones combined. */
function trailersOf(lines: readonly string[]): NodeJS.Dict<string> {
  const trailers: NodeJS.Dict<string> = {}
  for (let at = 0; at < lines.length; at += 2) {
    const name = (lines[at] ?? '').toLowerCase()
    const before = trailers[name]
    const value = lines[at + 1] ?? ''
    trailers[name] = before === undefined ? value : `${before}, ${value}`
  }
  return trailers
}
