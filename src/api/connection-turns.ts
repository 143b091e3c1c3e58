/**
 * Requests of one connection, served one after the other.
 *
 * Owns: who of a connection is served next, and how many may wait. Knows nothing of: what a request asks. Rules: answers leave in the
 * order of the requests anyway [RFC 9112 9.3.2], so a client that sends thousands at once gains nothing by having all of them under way
 * and would keep every other connection waiting; between two of its requests every other connection has a turn.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** With so many behind the one that is served, nothing more is read from the connection. What is parsed already is taken. Count. */
const PIPELINED_MAX = 64

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export function inTurns(serve: RequestListener): RequestListener {
  /** Of connections with a request under way: those behind it. */
  const lanes = new WeakMap<Socket, Waiting[]>()

  const begin = ({ request, response }: Waiting): void => {
    response.once('close', () => setImmediate(next, request.socket))
    serve(request, response)
  }

  const next = (socket: Socket): void => {
    const lane = lanes.get(socket)
    const first = lane?.shift()
    if (lane === undefined || first === undefined || socket.destroyed) {
      // The requests behind a connection that is gone were never started, and no client would receive an answer.
      lanes.delete(socket)
      return
    }
    if (lane.length < PIPELINED_MAX && socket.isPaused()) socket.resume()
    begin(first)
  }

  return (request, response) => {
    const { socket } = request
    const lane = lanes.get(socket)
    if (lane !== undefined) {
      lane.push({ request, response })
      if (lane.length >= PIPELINED_MAX) socket.pause()
      return
    }
    lanes.set(socket, [])
    begin({ request, response })
  }
}
