/**
 * A request, its answer and their connection as this room uses them below fastify.
 *
 * Owns: the surface. Those of node:http have it, and those whose connection is on another thread (edge-threads/). Rule: code of this room names
 * these types, not the classes of node:http, so that the compiler refuses a use that one of the two does not have.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeader } from 'node:http'

export interface RawSocket {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
  readonly destroyed: boolean
  readonly writable: boolean
  /** Called when the last answer is out. */
  destroySoon: () => void
  destroy(): unknown
  end(): unknown
  end(text: string): unknown
  isPaused(): boolean
  pause(): unknown
  resume(): unknown
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

export interface RawRequest {
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  readonly trailers: NodeJS.Dict<string>
  readonly httpVersion: string
  readonly method?: string | undefined
  url?: string | undefined
  readonly socket: RawSocket
  /** The request has come to its end, read or not. */
  readonly complete: boolean
  readonly destroyed: boolean
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>
  on(event: 'data', listener: (piece: Buffer) => void): unknown
  once(event: 'end', listener: () => void): unknown
  resume(): unknown
}

export interface RawResponse {
  readonly statusCode: number
  readonly headersSent: boolean
  readonly writableFinished: boolean
  readonly destroyed: boolean
  readonly closed: boolean
  shouldKeepAlive: boolean
  writeContinue(): void
  writeHead(status: number, head: OutgoingHttpHeader[]): { end(body?: Uint8Array): unknown }
  /**
   * Takes over the bytes of a piece that its writer does not use again, so that writing them needs no copy. The writer writes the result next. If it is
   * another piece than the given one, the writer does not release it. Absent: writing needs no copy anyway.
   */
  readonly own?: (piece: Uint8Array) => Uint8Array
  /** The callback comes when the system has taken the piece, or earlier while little is in flight. */
  write(piece: Uint8Array, taken: (error?: Error | null) => void): unknown
  end(): unknown
  destroy(): unknown
  on(event: 'error', listener: () => void): unknown
  once(event: 'close' | 'prefinish', listener: () => void): unknown
  off(event: 'close' | 'prefinish', listener: () => void): unknown
}
