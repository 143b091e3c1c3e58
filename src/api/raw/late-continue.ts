/**
 * "100 Continue", which Node.js would otherwise send as soon as a client asks for it.
 *
 * Owns: which requests wait for it. Knows nothing of: when it is sent. [RFC 9110 10.1.1]
 */
import type { Server } from 'node:http'
import type { RawRequest, RawResponse } from './raw-pair.ts'

const WAITING = new WeakSet<RawRequest>()

/** Requests that expect something are served as others are. */
export function takeOverContinue(server: Server): void {
  server.on('checkContinue', (request: RawRequest, response: RawResponse) => {
    WAITING.add(request)
    server.emit('request', request, response)
  })
  // An expectation that we do not know may be ignored. [RFC 9110 10.1.1]
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/** Whether the client holds its body back until it gets "100 Continue". */
export const waitsForContinue = (request: RawRequest): boolean => WAITING.has(request)

/** Once, to a client that waits for it. */
export function sendContinue(request: RawRequest, response: RawResponse): void {
  if (WAITING.delete(request)) response.writeContinue()
}
