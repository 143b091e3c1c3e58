/**
 * Connections whose bytes are not a request: whether their client can still be answered.
 */
import type { RawSocket } from './raw-pair.ts'

export interface ParserError extends Error {
  readonly code?: string
}

/** The connection is destroyed without an answer: its client is gone, or nothing was ever started on it. */
export function isWithoutAnswer(error: ParserError, socket: RawSocket): boolean {
  return isHandshake(error) || error.code === 'ECONNRESET' || socket.destroyed || !socket.writable
}

/** No request was ever started: there is no client to answer and nothing to keep. */
const isHandshake = ({ code = '' }: ParserError): boolean => /^(ERR_SSL_|ERR_TLS_|EPROTO)/.test(code)
