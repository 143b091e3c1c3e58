/**
 * One connection of the race: hand-written HTTP/1.1 over a plain keep-alive socket, one request at a time.
 *
 * Owns: the connection and where an answer ends. Knows nothing of: what is asked, time.
 * Rules: it costs as little as possible, because it shares the machine with the nodes; the bytes of a body are kept only when the caller compares them.
 */
import { connect, type Socket } from 'node:net'

export interface RaceRequest {
  /** Request line, headers and the empty line. */
  readonly head: string
  readonly body: Buffer | Iterable<Buffer> | null
  /** The status that the answer must have. */
  readonly status: number
  /** Whether the answer to this method carries a body at all: HEAD names a length and sends nothing. */
  readonly isHead: boolean
}

export interface RaceAnswer {
  readonly status: number
  /** Of the body. */
  readonly bytes: number
  /** The body; empty unless it was asked for. */
  readonly kept: Buffer
}

const HEAD_BYTES_MAX = 64 * 1024
const READ_BYTES = 64 * 1024
const SILENCE_MS_MAX = 60_000
const HEAD_END = Buffer.from('\r\n\r\n')
/** The place of the status in "HTTP/1.1 200". */
const STATUS_AT = 9

interface Pending {
  readonly request: RaceRequest
  readonly keep: boolean
  readonly resolve: (answer: RaceAnswer) => void
  readonly reject: (error: Error) => void
}

export class RaceSocket {
  readonly #endpoint: URL
  #socket: Socket | null = null
  #pending: Pending | null = null
  #head: Buffer = Buffer.alloc(0)
  #status = 0
  /** Bytes of the body that are still to come; Infinity while a chunked one has not ended, -1 before the head is read. */
  #left = -1
  #chunked: ChunkedEnd | null = null
  #bytes = 0
  #kept: Buffer[] = []
  #closes = false

  constructor(endpoint: string) {
    this.#endpoint = new URL(endpoint)
  }

  /** Rejects when the connection fails, or is silent for a minute. */
  ask(request: RaceRequest, keep = false): Promise<RaceAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#pending !== null) throw new Error('A connection carries one request at a time')
      this.#pending = { request, keep, resolve, reject }
      const socket = (this.#socket ??= this.#connect())
      const { head, body } = request
      if (body === null) socket.write(head, 'latin1')
      else if (Buffer.isBuffer(body)) socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]))
      else void this.#send(socket, head, body)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  async #send(socket: Socket, head: string, pieces: Iterable<Buffer>): Promise<void> {
    socket.write(head, 'latin1')
    for (const piece of pieces) {
      if (socket.write(piece)) continue
      const goesOn = await new Promise<boolean>((resolve) => {
        const drained = (): void => {
          socket.off('close', closed)
          resolve(true)
        }
        const closed = (): void => {
          socket.off('drain', drained)
          resolve(false)
        }
        socket.once('drain', drained).once('close', closed)
      })
      if (!goesOn) return
    }
  }

  #connect(): Socket {
    const socket = connect({
      host: this.#endpoint.hostname,
      port: Number(this.#endpoint.port),
      noDelay: true,
      // One buffer for all reads of a connection instead of a new one for each.
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (bytes, buffer) => {
          this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes))
          return true
        },
      },
    })
    socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy(new Error('The node was silent for a minute')))
    socket.on('error', (error) => this.#fail(socket, error))
    socket.on('close', () => this.#fail(socket, new Error('The node closed the connection')))
    return socket
  }

  #fail(socket: Socket, error: Error): void {
    if (socket !== this.#socket) return
    this.#socket = null
    const pending = this.#pending
    this.#startOver()
    pending?.reject(error)
  }

  #read(bytes: Buffer): void {
    if (this.#left >= 0) return this.#body(bytes)
    const head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    const end = head.indexOf(HEAD_END)
    if (end < 0) {
      if (head.length > HEAD_BYTES_MAX) throw new Error('The head of an answer has no end')
      this.#head = Buffer.from(head)
      return
    }
    this.#understand(head.toString('latin1', 0, end + 2))
    this.#body(head.subarray(end + HEAD_END.length))
  }

  #understand(head: string): void {
    this.#status = Number(head.slice(STATUS_AT, STATUS_AT + 3))
    this.#closes = /\r\nconnection: *close\r\n/i.test(head)
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1]
    const isEmpty = this.#pending?.request.isHead === true || this.#status === 204 || this.#status === 304
    if (isEmpty) this.#left = 0
    else if (length !== undefined) this.#left = Number(length)
    else {
      this.#chunked = new ChunkedEnd()
      this.#left = Number.POSITIVE_INFINITY
    }
  }

  #body(bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#left -= bytes.length
    if (bytes.length > 0 && this.#pending?.keep === true) this.#kept.push(Buffer.from(bytes))
    if (this.#chunked?.isAfter(bytes) === true) this.#left = 0
    if (this.#left <= 0) this.#answered()
  }

  #answered(): void {
    const pending = this.#pending
    const plain = this.#chunked === null ? this.#kept : dechunked(Buffer.concat(this.#kept))
    const answer = { status: this.#status, bytes: this.#bytes, kept: Buffer.concat(plain) }
    if (this.#closes) this.close()
    this.#startOver()
    pending?.resolve(answer)
  }

  #startOver(): void {
    this.#pending = null
    this.#head = Buffer.alloc(0)
    this.#left = -1
    this.#chunked = null
    this.#bytes = 0
    this.#kept = []
    this.#closes = false
  }
}

/** Recognizes the last chunk: a line "0" and an empty line, however the bytes are cut. [RFC 9112 7.1] */
class ChunkedEnd {
  /** Of the chunk that is being read, with its line end; 0 before its size is known. */
  #left = 0
  #line = ''

  isAfter(bytes: Buffer): boolean {
    let at = 0
    while (at < bytes.length) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, bytes.length - at)
        this.#left -= step
        at += step
        continue
      }
      const end = bytes.indexOf(10, at)
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end + 1)
      if (end < 0) return false
      at = end + 1
      const size = Number.parseInt(this.#line, 16)
      this.#line = ''
      // No trailers: nothing that is raced here sends them.
      if (size === 0) return true
      this.#left = size + 2
    }
    return false
  }
}

function dechunked(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (end < 0 || size === 0) break
    pieces.push(bytes.subarray(end + 1, end + 1 + size))
    at = end + 1 + size + 2
  }
  return pieces
}
