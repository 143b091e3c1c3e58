/**
 * One edge thread as the thread of the state sees it: its connections and requests.
 *
 * Owns: what it has under way. Knows nothing of: who starts it again. Rule: what it had ends with it, as if its clients had left.
 */
import type { Worker } from 'node:worker_threads'
import { rememberCertificate } from '../client-certificate.ts'
import { LinkedRequest } from './linked-request.ts'
import { LinkedResponse } from './linked-response.ts'
import { LinkedSocket } from './linked-socket.ts'
import { Outbox } from './outbox.ts'
import type { Asked, Connected, ToEdge, ToState } from './thread-messages.ts'

/** What a listener makes of what its edge threads say. */
export interface EdgeEvents {
  readonly onConnected: (socket: LinkedSocket, client: string) => void
  readonly onAsked: (request: LinkedRequest, response: LinkedResponse, isWaiting: boolean) => void
  readonly onUnclear: (error: Error, socket: LinkedSocket) => void
  readonly onLine: (fields: object, message: string) => void
  readonly onListening: (port: number) => void
  readonly onRefused: (error: Error) => void
  /** After it was stopped, or by itself; null: in order. */
  readonly onEnd: (error: Error | null) => void
}

interface UnderWay {
  readonly request: LinkedRequest
  readonly response: LinkedResponse
}

export class LinkedEdge {
  readonly #worker: Worker
  readonly #events: EdgeEvents
  readonly #outbox: Outbox<ToEdge>
  readonly #sockets = new Map<number, LinkedSocket>()
  readonly #underWay = new Map<number, UnderWay>()
  readonly #send = (message: ToEdge): void => this.#outbox.send(message)
  #cause: unknown = null
  #isStopped = false

  constructor(worker: Worker, events: EdgeEvents) {
    this.#worker = worker
    this.#events = events
    this.#outbox = new Outbox(({ messages, buffers }) => worker.postMessage(messages, buffers))
    worker.on('message', (messages: readonly ToState[]) => {
      for (const message of messages) this.#receive(message)
    })
    worker.on('error', (error) => (this.#cause = error))
    worker.on('exit', () => this.#onExit())
  }

  /** Count. */
  get connections(): number {
    return this.#sockets.size
  }

  send(message: ToEdge): void {
    this.#send(message)
  }

  #receive(message: ToState): void {
    switch (message.kind) {
      case 'connected':
        return this.#onConnected(message)
      case 'closed':
        return this.#onClosed(message.connection)
      case 'asked':
        return this.#onAsked(message)
      case 'piece':
        return this.#underWay.get(message.request)?.request.onPiece(message.bytes)
      case 'complete':
        this.#underWay.get(message.request)?.request.onComplete(message.trailers)
        return this.#forgetWhenOver(message.request)
      case 'taken':
        return this.#underWay.get(message.request)?.response.onTaken(message.bytes)
      case 'answered':
        this.#underWay.get(message.request)?.response.onAnswered(message.isFinished)
        return this.#forgetWhenOver(message.request)
      case 'unclear':
        return this.#onUnclear(message)
      case 'log':
        return this.#events.onLine(message.fields, message.message)
      case 'listening':
        return this.#events.onListening(message.port)
      case 'refused':
        return this.#events.onRefused(Object.assign(new Error(message.message), { code: message.code }))
      case 'stopped':
        this.#isStopped = true
        return void this.#worker.terminate()
    }
  }

  #onConnected(connected: Connected): void {
    const socket = new LinkedSocket(connected, this.#send)
    this.#sockets.set(connected.connection, socket)
    rememberCertificate(socket, connected.certificate)
    this.#events.onConnected(socket, connected.client)
  }

  #onAsked(asked: Asked): void {
    const socket = this.#sockets.get(asked.connection)
    if (socket === undefined || socket.destroyed) return
    const { request: id, keepsAlive, isWaiting } = asked
    const request = new LinkedRequest(asked, socket, this.#send)
    const response = new LinkedResponse({ id, socket, keepsAlive, send: this.#send })
    this.#underWay.set(id, { request, response })
    socket.requests.add(id)
    this.#events.onAsked(request, response, isWaiting)
  }

  #onUnclear({ connection, code, message }: Extract<ToState, { kind: 'unclear' }>): void {
    const socket = this.#sockets.get(connection)
    if (socket === undefined) return
    this.#events.onUnclear(Object.assign(new Error(message), code === null ? {} : { code }), socket)
  }

  #onClosed(connection: number): void {
    const socket = this.#sockets.get(connection)
    if (socket === undefined) return
    this.#sockets.delete(connection)
    for (const id of socket.requests) {
      const { request, response } = this.#underWay.get(id) ?? {}
      this.#underWay.delete(id)
      request?.onGone()
      response?.onAnswered(false)
    }
    socket.onClosed()
  }

  #forgetWhenOver(id: number): void {
    const known = this.#underWay.get(id)
    if (known === undefined || !known.response.closed) return
    if (!known.response.writableFinished) known.request.onGone()
    if (!known.request.complete && !known.request.destroyed) return
    this.#underWay.delete(id)
    known.request.socket.requests.delete(id)
  }

  #onExit(): void {
    for (const connection of this.#sockets.keys()) this.#onClosed(connection)
    const error = new Error('An edge thread ended by itself', { cause: this.#cause })
    this.#events.onEnd(this.#isStopped ? null : error)
  }
}
