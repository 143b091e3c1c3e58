/**
 * Requests of attackers and victims: whole ones, and bare sockets for those that no client library would send.
 */
import { connect, type Socket } from 'node:net'
import { Agent, request } from 'undici'

const AGENT = new Agent({ connections: 64, headersTimeout: 120_000, bodyTimeout: 120_000 })

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly signal?: AbortSignal
}

/** Rejects when the node cannot be reached or the signal is aborted; any status resolves. */
export async function ask(
  url: string,
  { method, headers = {}, body, signal }: Call,
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const answer = await request(url, {
    method,
    headers,
    body: body ?? null,
    dispatcher: AGENT,
    ...(signal === undefined ? {} : { signal }),
  })
  return { status: answer.statusCode, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

/** Ends the connections that `ask` keeps. */
export function closeCalls(): Promise<void> {
  return AGENT.destroy()
}

/** A connection with bytes of its own, which a node may end at any time. */
export class BareSocket {
  readonly #socket: Socket
  #received = ''

  /** `url`: of a listener. `head`: the first bytes that are sent. */
  constructor(url: string, head: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect({ host: hostname, port: Number(port) })
    // An end by the node is what an attack counts, and no error of this program.
    this.#socket.on('error', () => undefined)
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (text) => {
      if (this.#received.length < RECEIVED_MAX) this.#received += String(text)
    })
    this.#socket.write(head)
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed
  }

  /** Of the first answer; 0 before it. */
  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.#received)?.[1] ?? 0)
  }

  /** The code of a problem, or empty. */
  get code(): string {
    return /"code":"(\w+)"/.exec(this.#received)?.[1] ?? ''
  }

  /** Bytes that were written and have not left yet. */
  get backlog(): number {
    return this.#socket.writableLength
  }

  send(bytes: Uint8Array | string): void {
    if (this.isOpen) this.#socket.write(bytes)
  }

  /** Reads nothing any more, so that what the node sends stays with it. */
  stopReading(): void {
    this.#socket.pause()
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

const RECEIVED_MAX = 4096

/** The head of a request; `path` may have a query. */
export function headOf(method: string, path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: 'holdfast', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}
