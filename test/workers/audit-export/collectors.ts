/**
 * Receivers of the audit log as they are in the field: a syslog server over TLS, and an HTTPS collector. Both write down what they have
 * read, and misbehave on order.
 */
import { readFileSync } from 'node:fs'
import https from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { MadeCertificates } from '../../transport/made-certificates.ts'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

abstract class Collector {
  readonly ca: string
  /** What happens to the next connections or requests; afterwards they go well. */
  readonly faults: ('drop' | 503)[] = []
  protected readonly pair: { readonly cert: string; readonly key: string }

  constructor(t: Test) {
    const made = new MadeCertificates(t)
    const { certificate: cert, key } = made.pair('siem', { hosts: ['127.0.0.1', 'localhost'] })
    this.pair = { cert, key }
    this.ca = readFileSync(made.ca, 'utf8')
  }

  protected async listen(t: Test, server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => void server.close())
    return (server.address() as AddressInfo).port
  }
}

export class SyslogServer extends Collector {
  readonly messages: string[] = []
  url = ''

  static async start(t: Test): Promise<SyslogServer> {
    const server = new SyslogServer(t)
    const port = await server.listen(
      t,
      tls.createServer(server.pair, (socket) => server.#serve(socket)),
    )
    server.url = `tls://localhost:${port}`
    return server
  }

  #serve(socket: TLSSocket): void {
    socket.on('error', () => {})
    const fault = this.faults.shift()
    if (fault !== undefined) {
      socket.destroy()
      return
    }
    let bytes: Buffer = Buffer.alloc(0)
    socket.on('data', (piece) => (bytes = this.#read(Buffer.concat([bytes, piece]))))
    socket.on('end', () => socket.end())
  }

  /** Octet counting. [RFC 5425 4.3] */
  #read(bytes: Buffer): Buffer {
    for (let rest = bytes; ; ) {
      const space = rest.indexOf(' ')
      const length = Number(rest.subarray(0, space).toString())
      const end = space + 1 + length
      if (space === -1 || rest.length < end) return rest
      this.messages.push(rest.subarray(space + 1, end).toString())
      rest = rest.subarray(end)
    }
  }
}

export class HttpsCollector extends Collector {
  readonly received: Received[] = []
  /** The body of each answer. */
  answer = '{}'
  url = ''

  static async start(t: Test): Promise<HttpsCollector> {
    const collector = new HttpsCollector(t)
    const server = https.createServer(collector.pair, (request, response) => {
      let body = ''
      request.setEncoding('utf8')
      request.on('data', (piece: string) => (body += piece))
      request.on('end', () => {
        const fault = collector.faults.shift()
        // It has taken the rows, and its answer is lost.
        if (fault !== 503) collector.received.push({ headers: request.headers, body })
        if (fault === 'drop') request.socket.destroy()
        else response.writeHead(fault ?? 200, { connection: 'close' }).end(collector.answer)
      })
    })
    const port = await collector.listen(t, server)
    collector.url = `https://localhost:${port}/v1/logs`
    return collector
  }
}
