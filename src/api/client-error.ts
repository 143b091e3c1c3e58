/**
 * Answers what is not even a request: broken framing, too many header bytes, headers that never end.
 *
 * There is no fastify request yet, so the bytes are written by hand; the shape is the same problem body. The connection
 * is closed, because nothing after broken framing can be trusted.
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../refusal.ts'
import { expectedProblem } from './problem.ts'
import { newRequestId } from './request-id.ts'

interface ParserError extends Error {
  readonly code?: string
}

export function answerClientError(error: ParserError, socket: Socket, nodeId: string): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = newRequestId()
  const problem = expectedProblem(refusalFor(error), { requestId, instance: '', challenge: 'bearer' })
  if (problem === null) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(problem.body)
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      `X-Served-By: ${nodeId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

function refusalFor(error: ParserError): Refusal {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Refusal('request_timeout', 'The headers of the request took too long', { cause: error })
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new Refusal('invalid_request', 'The headers of the request are larger than 16 KiB', {
      cause: error,
    })
  }
  return new Refusal('invalid_request', 'This is not a well-formed HTTP/1.1 request', { cause: error })
}
