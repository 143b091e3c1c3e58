/**
 * An answer as the thread of the state writes it: status, headers and bytes go to the edge thread that has the connection.
 *
 * Owns: the bytes in flight, who waits for them. Knows nothing of: framing, which Node.js does on the other thread.
 * Rules: at most CREDIT_BYTES and one piece are in flight before a writer waits; what is written in one go with its end is one message.
 */
import { EventEmitter } from 'node:events'
import { type OutgoingHttpHeader, validateHeaderName, validateHeaderValue } from 'node:http'
import type { RawResponse } from '../raw/raw-pair.ts'
import type { LinkedSocket } from './linked-socket.ts'
import { OWN_BUFFER_FROM_BYTES } from './outbox.ts'
import { asLines, CREDIT_BYTES, type Head, type ToEdge } from './thread-messages.ts'

type Fields = OutgoingHttpHeader[] | Readonly<Record<string, OutgoingHttpHeader | undefined>>
type Taken = (error?: Error | null) => void

interface Parts {
  readonly id: number
  readonly socket: LinkedSocket
  readonly keepsAlive: boolean
  readonly send: (message: ToEdge) => void
}

export class LinkedResponse extends EventEmitter implements RawResponse {
  readonly #parts: Parts
  readonly #fields = new Map<string, readonly [string, OutgoingHttpHeader]>()
  #head: Head | null = null
  #isHeadSent = false
  #inFlight = 0
  #waiters: Taken[] = []
  /** Written without a copy. */
  #owned: Uint8Array | null = null
  statusCode = 200
  shouldKeepAlive: boolean
  writableEnded = false
  writableFinished = false
  destroyed = false
  closed = false

  constructor(parts: Parts) {
    super()
    this.#parts = parts
    this.shouldKeepAlive = parts.keepsAlive
  }

  get socket(): LinkedSocket {
    return this.#parts.socket
  }

  get headersSent(): boolean {
    return this.#head !== null
  }

  setHeader(name: string, value: OutgoingHttpHeader): this {
    this.#fields.set(name.toLowerCase(), [name, value])
    return this
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#fields.get(name.toLowerCase())?.[1]
  }

  getHeaders(): Record<string, OutgoingHttpHeader> {
    return Object.fromEntries([...this.#fields].map(([name, [, value]]) => [name, value]))
  }

  hasHeader(name: string): boolean {
    return this.#fields.has(name.toLowerCase())
  }

  removeHeader(name: string): void {
    this.#fields.delete(name.toLowerCase())
  }

  writeContinue(): void {
    this.#parts.send({ kind: 'continue', request: this.#parts.id })
  }

  /** Throws TypeError for a header that cannot be sent, and Error the second time. */
  writeHead(status: number, fields: Fields = []): this {
    if (this.#head !== null)
      throw Object.assign(new Error('The headers have left'), { code: 'ERR_HTTP_HEADERS_SENT' })
    const given = Array.isArray(fields) ? fields : flatOf(fields)
    const list = this.#fields.size === 0 ? given : this.#joined(given)
    this.statusCode = status
    this.#head = { status, fields: linesOf(list), keepsAlive: this.shouldKeepAlive }
    return this
  }

  /** A piece that fills its buffer is moved to the other thread; the one given is empty then. */
  readonly own = (piece: Uint8Array): Uint8Array => {
    const { buffer, length } = piece
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === length
    if (!isWhole || length < OWN_BUFFER_FROM_BYTES) return piece
    this.#owned = new Uint8Array(buffer.transfer())
    return this.#owned
  }

  write(piece: Uint8Array | string, taken: Taken = () => undefined): boolean {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    if (this.destroyed || this.writableEnded) {
      process.nextTick(taken, new Error('The connection is closed'))
      return false
    }
    this.#inFlight += bytes.length
    this.#sendPart(bytes === this.#owned ? bytes : new Uint8Array(bytes), false)
    this.#owned = null
    if (this.#inFlight > CREDIT_BYTES) this.#waiters.push(taken)
    else process.nextTick(() => taken(this.destroyed ? new Error('The connection is closed') : null))
    return this.#inFlight <= CREDIT_BYTES
  }

  end(piece?: Uint8Array | string | null): this {
    if (this.writableEnded || this.destroyed) return this
    this.writableEnded = true
    // Its listeners decide what becomes of a body that was not read, and of the connection.
    this.emit('prefinish')
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : (piece ?? null)
    this.#sendPart(bytes === null ? null : lastBytes(bytes), true)
    return this
  }

  destroy(): this {
    if (!this.destroyed) this.socket.destroy()
    this.destroyed = true
    return this
  }

  onTaken(bytes: number): void {
    this.#inFlight -= bytes
    if (this.#inFlight > CREDIT_BYTES || this.#waiters.length === 0) return
    this.#release(null)
    this.emit('drain')
  }

  /** The connection is done with it, however it ended. */
  onAnswered(isFinished: boolean): void {
    if (this.closed) return
    this.closed = true
    this.destroyed = true
    this.writableFinished = isFinished
    this.#release(isFinished ? null : new Error('The connection is closed'))
    if (isFinished) this.emit('finish')
    this.emit('close')
  }

  #release(error: Error | null): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const taken of waiters) taken(error)
  }

  #sendPart(bytes: Uint8Array | null, isEnd: boolean): void {
    const { id, socket, send } = this.#parts
    if (this.#head === null) this.writeHead(this.statusCode)
    const head = this.#isHeadSent ? null : this.#head
    this.#isHeadSent = true
    const isLingering = isEnd && socket.isLingering
    send({ kind: 'answer', request: id, head, bytes, isEnd, isLingering })
  }

  /** What was set before, without what `writeHead` names again. */
  #joined(given: readonly OutgoingHttpHeader[]): OutgoingHttpHeader[] {
    const fields = new Map(this.#fields)
    for (let at = 0; at < given.length; at += 2) fields.delete(String(given[at]).toLowerCase())
    return [...[...fields.values()].flat(), ...given]
  }
}

function flatOf(fields: Readonly<Record<string, OutgoingHttpHeader | undefined>>): OutgoingHttpHeader[] {
  const list: OutgoingHttpHeader[] = []
  for (const name in fields) {
    const value = fields[name]
    if (value !== undefined) list.push(name, value)
  }
  return list
}

/** What would be moved with its buffer is copied: it may be a document that is sent again. Less is copied when it leaves. */
const lastBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.length < OWN_BUFFER_FROM_BYTES ? bytes : new Uint8Array(bytes)

/** Refused here, so that the error is that of the request: the other thread would have nowhere to report it. */
function linesOf(list: readonly OutgoingHttpHeader[]): string {
  const lines: string[] = []
  for (let at = 0; at < list.length; at += 2) {
    const name = String(list[at])
    const value = list[at + 1]
    validateHeaderName(name)
    for (const one of Array.isArray(value) ? value : [value]) {
      const text = String(one)
      validateHeaderValue(name, text)
      lines.push(name, text)
    }
  }
  return asLines(lines)
}
