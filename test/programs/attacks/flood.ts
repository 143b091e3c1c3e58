/**
 * Many bare connections that send the same requests again and again, as many at once as a pipeline holds.
 *
 * Knows nothing of: what is asked. Rule: bytes are made once and answers are only counted, so that the attacker uses as little of the
 * machine as it can.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Until a connection that a node has ended is opened again. */
const AGAIN_MS = 100
const OPENED_AT_ONCE = 50
const STATUS = /HTTP\/1\.1 (\d{3})/g
/** A status line may come in two pieces. */
const STATUS_CHARACTERS = 'HTTP/1.1 200'.length

export interface Flood {
  /** Of listeners; connections are opened to each in turn. */
  readonly urls: readonly string[]
  readonly connections: number
  /** Requests of one connection without an answer yet. */
  readonly depth: number
  /** One whole request of the connection with this number. */
  readonly request: (connection: number) => Buffer
}

/** Floods until the signal is aborted. Counts answers by status. */
export async function flood(
  { urls, connections, depth, request }: Flood,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = { connections }
  const lines: Line[] = []
  for (let n = 0; n < connections && !signal.aborted; n += 1) {
    lines.push(new Line(urls[n % urls.length] ?? '', { bytes: request(n), depth, counts }))
    if (n % OPENED_AT_ONCE === 0) await wait(1)
  }
  while (!signal.aborted) await wait(AGAIN_MS)
  for (const line of lines) line.end()
  return counts
}

interface LineParts {
  readonly bytes: Buffer
  readonly depth: number
  readonly counts: Record<string, number>
}

class Line {
  readonly #url: URL
  readonly #parts: LineParts
  #socket: Socket
  #tail = ''
  #isEnded = false

  constructor(url: string, parts: LineParts) {
    this.#url = new URL(url)
    this.#parts = parts
    this.#socket = this.#open()
  }

  end(): void {
    this.#isEnded = true
    this.#socket.destroy()
  }

  #open(): Socket {
    const { bytes, depth } = this.#parts
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port) })
    this.#tail = ''
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.on('data', (text) => this.#take(String(text)))
    socket.once('close', () => this.#again())
    socket.write(depth === 1 ? bytes : Buffer.concat(Array<Buffer>(depth).fill(bytes)))
    return socket
  }

  #again(): void {
    if (this.#isEnded) return
    this.#count('cut')
    setTimeout(() => {
      if (!this.#isEnded) this.#socket = this.#open()
    }, AGAIN_MS).unref()
  }

  #take(text: string): void {
    const known = this.#tail + text
    let end = 0
    for (const match of known.matchAll(STATUS)) {
      end = match.index + match[0].length
      this.#count(`answered ${match[1]}`)
      if (!this.#isEnded) this.#socket.write(this.#parts.bytes)
    }
    this.#tail = known.slice(Math.max(end, known.length - STATUS_CHARACTERS + 1))
  }

  #count(name: string): void {
    const { counts } = this.#parts
    counts[name] = (counts[name] ?? 0) + 1
  }
}
