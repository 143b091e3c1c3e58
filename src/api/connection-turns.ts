/**
 * When each request begins: those of one connection one after the other, and of all connections a few in each turn of the event loop.
 *
 * Owns: who is served next, and how many may wait. Knows nothing of: what a request asks. Rules: answers leave in the
 * order of the requests anyway [RFC 9112 9.3.2], so a client that sends thousands at once gains nothing by having all of them under way
 * and would keep every other connection waiting; between two of its requests every other connection has a turn. Thousands of connections
 * that ask in the same moment do not keep timers waiting: heartbeats of the cluster leave between two turns.
 */
import type { RequestListener } from 'node:http'
import { Attached } from '../base/attached.ts'
import type { RawSocket } from './raw/raw-pair.ts'

/** With so many behind the one that is served, nothing more is read from the connection. What is parsed already is taken. Count. */
const PIPELINED_MAX = 64
/** Requests of all connections that begin in one turn of the event loop. Each takes a fraction of a millisecond until it first waits. */
export const STARTS_A_TURN_MAX = 32

interface Waiting {
  readonly request: Parameters<RequestListener>[0]
  readonly response: Parameters<RequestListener>[1]
}

export function inTurns(serve: RequestListener): RequestListener {
  /** Of connections with a request under way: those behind it. */
  const lanes = new Attached<RawSocket, Waiting[]>()

  const begin = ({ request, response }: Waiting): void => {
    // No client would receive an answer.
    if (request.socket.destroyed) return
    response.once('close', () => setImmediate(next, request.socket))
    serve(request, response)
  }
  const beginnings = new Beginnings(begin)

  const next = (socket: RawSocket): void => {
    const lane = lanes.get(socket)
    const first = lane?.shift()
    if (lane === undefined || first === undefined || socket.destroyed) {
      // The requests behind a connection that is gone were never started.
      lanes.set(socket, undefined)
      return
    }
    if (lane.length < PIPELINED_MAX && socket.isPaused()) socket.resume()
    beginnings.add(first)
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
    beginnings.add({ request, response })
  }
}

/**
 * A few beginnings in each turn. Those that wait are served in rounds over the credentials they show, or their addresses without one: none is
 * proved here, and who shows many waits no longer than in one line. At most one for each connection waits.
 */
class Beginnings {
  readonly #begin: (first: Waiting) => void
  /** By credential or address, the one whose turn it is first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #started = 0
  #isTurnAhead = false

  constructor(begin: (first: Waiting) => void) {
    this.#begin = begin
  }

  add(first: Waiting): void {
    this.#awaitTurn()
    if (this.#started < STARTS_A_TURN_MAX && this.#waiting.size === 0) {
      this.#started += 1
      return this.#begin(first)
    }
    const { headers, socket } = first.request
    const who = headers.authorization ?? socket.remoteAddress ?? ''
    const before = this.#waiting.get(who)
    if (before === undefined) this.#waiting.set(who, [first])
    else before.push(first)
  }

  #awaitTurn(): void {
    if (this.#isTurnAhead) return
    this.#isTurnAhead = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnAhead = false
    this.#started = 0
    while (this.#started < STARTS_A_TURN_MAX) {
      const first = this.#next()
      if (first === null) break
      this.#started += 1
      this.#begin(first)
    }
    if (this.#started > 0) this.#awaitTurn()
  }

  #next(): Waiting | null {
    for (const [who, waiting] of this.#waiting) {
      const first = waiting.shift()
      this.#waiting.delete(who)
      if (waiting.length > 0) this.#waiting.set(who, waiting)
      if (first !== undefined) return first
    }
    return null
  }
}
