/**
 * Hand-written peers: requests that no correct node would send, and servers that are not nodes.
 */
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'
import { decodeHeader, encodeHeader, HEADER_LENGTH_BYTES } from '../../cluster/transport/frame.ts'
import type { PeerAddress } from '../../cluster/base/types.ts'

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The header of the body, when there is one. */
  readonly header: unknown
}

/** What node `b` would send to `a`. */
export const FITTING: OutgoingHttpHeaders = {
  'x-holdfast-protocol': '1',
  'x-holdfast-cluster': 'test-cluster',
  'x-holdfast-from': 'b',
  'x-holdfast-to': 'a',
  'x-holdfast-incarnation': 'life-of-b',
  'x-holdfast-boot': '1',
  'x-holdfast-recovery-epoch': '0',
  'x-holdfast-feature-level': '1',
  'x-holdfast-state-level': '1',
}

export interface RawRequest {
  readonly path?: string
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Uint8Array
}

export async function ask(address: PeerAddress, options: RawRequest): Promise<RawAnswer> {
  const { path = '/peer/v1/raft', method = 'POST', headers = {}, body = encodeHeader(null) } = options
  const [host, port] = address.split(':')
  const sent = { ...FITTING, ...headers }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host, port, path, method, headers: sent, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, header: headerIn(bytes) })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

function headerIn(bytes: Buffer): unknown {
  if (bytes.length === 0) return null
  return decodeHeader(bytes.subarray(HEADER_LENGTH_BYTES, HEADER_LENGTH_BYTES + bytes.readUInt32BE(0)))
}

/** Writes bytes and closes the connection, without waiting for anything. */
export async function writeAndHangUp(address: PeerAddress, bytes: Uint8Array | string): Promise<void> {
  const [host, port] = address.split(':')
  await new Promise<void>((resolve, reject) => {
    const socket = connect(
      { host, port: Number(port) },
      () => void socket.write(bytes, () => void socket.resetAndDestroy()),
    )
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

/** A server whose connections the test handles; closed with them at the end of the test. */
export async function strangeServer(t: Test, onConnection: (socket: Socket) => void): Promise<PeerAddress> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    // Clients that time out reset their connections; these tests expect that.
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  return `127.0.0.1:${address.port}`
}
