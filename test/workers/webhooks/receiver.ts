/**
 * A receiver of webhooks on loopback that answers as the test sets it, well or badly, and keeps the requests.
 */
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import net from 'node:net'

interface Teardown {
  teardown(handler: () => void | Promise<void>): void
}

export interface ReceivedPost {
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

export type Manner = (response: http.ServerResponse, received: ReceivedPost) => void

export const answer =
  (status: number, headers: http.OutgoingHttpHeaders = {}): Manner =>
  (response) =>
    void response.writeHead(status, headers).end()

export class Receiver {
  readonly received: ReceivedPost[] = []
  manner: Manner
  readonly #server: http.Server
  #port = 0

  static async start(t: Teardown, manner: Manner = answer(204), port = 0): Promise<Receiver> {
    const receiver = new Receiver(manner)
    await new Promise<void>((resolve) => receiver.#server.listen(port, '127.0.0.1', resolve))
    receiver.#port = (receiver.#server.address() as AddressInfo).port
    t.teardown(() => receiver.stop())
    return receiver
  }

  private constructor(manner: Manner) {
    this.manner = manner
    this.#server = http.createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('error', () => undefined)
      request.on('end', () => {
        const { url = '', headers } = request
        const received = { url, headers, body: Buffer.concat(pieces).toString() }
        this.received.push(received)
        this.manner(response, received)
      })
    })
  }

  get port(): number {
    return this.#port
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get url(): string {
    return `${this.origin}/hook`
  }

  /** Stops listening. */
  stop(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => void this.#server.close(() => resolve()))
  }
}

/** A server that speaks no HTTP of its own: each connection is handed over. */
export async function rawReceiver(t: Teardown, serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => void server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
