/**
 * A provider of master keys on this machine, for tests: HTTP or HTTPS, and everything that can be wrong with one.
 *
 * Owns: the listener and its faults. Knows nothing of: what is asked.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status: number
  readonly body: object
}

/** `silent`: takes a request and never answers. `sealed`: 503. `lying`: opens everything to another key. `garbage`: 200 and no JSON.
 * `flood`: 200 and a body without an end. `indiscreet`: 400, with all that it was sent in the message. `redirecting`: 307 to another port. */
export type StandInFault = 'silent' | 'sealed' | 'lying' | 'garbage' | 'flood' | 'indiscreet' | 'redirecting'

export interface StandInTls {
  readonly cert: string
  readonly key: string
  /** Certificates of clients have to come from this authority. */
  readonly clientCa?: string
}

const FLOOD = Buffer.alloc(16 * 1024, 'x')

export abstract class StandIn {
  fault: StandInFault | null = null
  readonly asked: Asked[] = []
  readonly #tls: StandInTls | null
  #server: Server | null = null
  #port = 0

  constructor(tls: StandInTls | null = null) {
    this.#tls = tls
  }

  /** What is right. */
  protected abstract answer(asked: Asked): Answered

  get url(): string {
    return `${this.#tls === null ? 'http' : 'https'}://127.0.0.1:${this.#port}`
  }

  /** Listens, on the same port as before. */
  async arrive(): Promise<void> {
    const tls = this.#tls
    const server =
      tls === null
        ? createServer()
        : createTlsServer({
            cert: tls.cert,
            key: tls.key,
            ...(tls.clientCa === undefined
              ? {}
              : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
          })
    server.on('request', (request, response) => {
      void this.#handle(request).then((answered) => {
        if (answered === 'silent') return
        if (answered === 'flood') {
          response.writeHead(200)
          const pour = (): void => void (response.destroyed || (response.write(FLOOD), setImmediate(pour)))
          pour()
          return
        }
        const { status, body } = answered
        const location = status === 307 ? { location: 'http://127.0.0.1:1/' } : {}
        response.writeHead(status, { 'content-type': 'application/json', ...location })
        response.end(this.fault === 'garbage' ? '<html>' : JSON.stringify(body))
      })
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
  }

  /** Nothing listens any more. */
  async leave(): Promise<void> {
    const server = this.#server
    if (server === null) return
    this.#server = null
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async #handle(request: IncomingMessage): Promise<Answered | 'silent' | 'flood'> {
    const pieces: Buffer[] = []
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
    const text = Buffer.concat(pieces).toString('utf8')
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, string>
    const { method = '', url: path = '', headers } = request
    const asked = { method, path, headers, body }
    this.asked.push(asked)
    if (this.fault === 'silent' || this.fault === 'flood') return this.fault
    if (this.fault === 'sealed') return { status: 503, body: { errors: ['Vault is sealed'] } }
    if (this.fault === 'redirecting') return { status: 307, body: {} }
    if (this.fault === 'indiscreet')
      return {
        status: 400,
        body: { errors: [`${JSON.stringify(headers)} ${text}`], error: `${JSON.stringify(headers)} ${text}` },
      }
    return this.answer(asked)
  }
}
