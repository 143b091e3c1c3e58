/**
 * A server with scripted answers, one for each request; it records the requests.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Scripted {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
}

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The connection is cut without an answer. */
export const CUT = 'cut'
type Step = Scripted | typeof CUT

export class ScriptedServer {
  readonly received: ReceivedRequest[] = []
  readonly #server: Server
  #steps: Step[] = []

  static async start(t: { teardown(handler: () => unknown): unknown }): Promise<ScriptedServer> {
    const scripted = new ScriptedServer()
    await new Promise<void>((resolve) => scripted.#server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => scripted.stop())
    return scripted
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        const { method = '', url = '', headers } = request
        this.received.push({ method, path: url, headers, body: Buffer.concat(pieces).toString() })
        const step = this.#steps.shift() ?? { status: 500, body: 'nothing more was scripted' }
        if (step === CUT) return request.socket.destroy()
        const { status, headers: given = {}, body = '' } = step
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        return response.writeHead(status, given).end(text)
      })
    })
  }

  /** Sets the answers to the next requests, and forgets the recorded ones. */
  script(...steps: readonly Step[]): void {
    this.#steps = [...steps]
    this.received.length = 0
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Scripted => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'x-request-id': 'r-1', ...headers },
  body: { code, message: 'because', status, requestId: 'r-1' },
})
