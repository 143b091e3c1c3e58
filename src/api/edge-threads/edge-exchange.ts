/**
 * One request on the edge thread that has its connection, and the answer that the thread of the state gives.
 *
 * Owns: the credit of the body, the bytes of the answer that the system has not taken. Knows nothing of: what the request asks.
 * Rules: of a body no more is read from the socket than the other side has given credit for; what is small and there goes with the request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { waitsForContinue } from '../raw/late-continue.ts'
import { lingerOn } from '../raw/linger-on.ts'
import type { Outbox } from './outbox.ts'
import { type AnswerPart, asLines, FIRST_CREDIT_BYTES, fromLines, type ToState } from './thread-messages.ts'

export interface EdgeExchangeParts {
  readonly id: number
  readonly connection: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly outbox: Outbox<ToState>
  /** Called once, when neither side has anything to say of this request any more. */
  readonly forget: () => void
}

export class EdgeExchange {
  readonly #parts: EdgeExchangeParts
  #credit = FIRST_CREDIT_BYTES
  #isComplete = false
  #isAnswered = false

  constructor(parts: EdgeExchangeParts) {
    this.#parts = parts
    const { request, response, outbox } = parts
    response.once('close', () => {
      this.#isAnswered = true
      outbox.send({ kind: 'answered', request: parts.id, isFinished: response.writableFinished })
      this.#forgetWhenOver()
    })
    // The callback of the write that failed, or the end of the connection, reports all there is to know.
    response.on('error', () => undefined)
    request.socket.once('close', this.#onGone)
    outbox.beforeLeaving(() => this.#ask())
  }

  onAnswer({ head, bytes, isEnd, isLingering }: AnswerPart): void {
    const { id, request, response, outbox } = this.#parts
    const { socket } = request
    if (response.destroyed || response.writableEnded) return
    if (isLingering) lingerOn(request)
    try {
      if (head !== null) {
        if (!head.keepsAlive) response.shouldKeepAlive = false
        response.writeHead(head.status, fromLines(head.fields))
      }
      if (isEnd) return void (bytes === null ? response.end() : response.end(bytes))
      if (bytes === null) return response.flushHeaders()
      response.write(bytes, (error) => {
        if (!error) outbox.send({ kind: 'taken', request: id, bytes: bytes.length })
      })
    } catch {
      // A header that Node.js does not send: nothing of the answer can be believed.
      socket.destroy()
    }
  }

  onContinue(): void {
    const { response } = this.#parts
    if (!response.destroyed && !response.headersSent) response.writeContinue()
  }

  addCredit(bytes: number): void {
    this.#credit += bytes
    this.#sendPieces()
  }

  /** At the end of the turn in which its headers came: a small body is mostly there as well. */
  #ask(): void {
    const { id, connection, request, response, outbox } = this.#parts
    const { method = '', url = '', httpVersion, rawHeaders, headers } = request
    if (request.socket.destroyed) return this.#onGone()
    const bytes = this.#take()
    this.#isComplete = isRead(request)
    outbox.send({
      kind: 'asked',
      connection,
      request: id,
      method,
      url,
      httpVersion,
      rawHeaders: asLines(rawHeaders),
      headers: asLines(Object.entries(headers).flatMap(([name, value]) => [name, String(value)])),
      keepsAlive: response.shouldKeepAlive,
      isWaiting: waitsForContinue(request),
      bytes,
      isComplete: this.#isComplete,
      trailers: this.#isComplete ? asLines(request.rawTrailers) : '',
    })
    if (this.#isComplete) return endReading(request)
    request.on('readable', this.#sendPieces)
    request.on('end', this.#sendPieces)
    // Its bytes may have come without an event.
    this.#sendPieces()
  }

  readonly #sendPieces = (): void => {
    const { id, request, outbox } = this.#parts
    if (this.#isComplete) return
    for (;;) {
      const bytes = this.#take()
      if (bytes === null) break
      outbox.send({ kind: 'piece', request: id, bytes })
    }
    if (!isRead(request)) return
    this.#isComplete = true
    outbox.send({ kind: 'complete', request: id, trailers: asLines(request.rawTrailers) })
    endReading(request)
    this.#forgetWhenOver()
  }

  /** Null: nothing is there, or there is no credit. */
  #take(): Uint8Array | null {
    if (this.#credit <= 0) return null
    const piece: unknown = this.#parts.request.read()
    if (!(piece instanceof Uint8Array)) return null
    this.#credit -= piece.length
    return piece
  }

  readonly #onGone = (): void => {
    this.#isComplete = true
    this.#forgetWhenOver()
  }

  #forgetWhenOver(): void {
    const { request, forget } = this.#parts
    if (!this.#isComplete || !this.#isAnswered) return
    request.socket.off('close', this.#onGone)
    forget()
  }
}

const isRead = (request: IncomingMessage): boolean => request.complete && request.readableLength === 0

/** A stream says that it is at its end only to a reader that asks beyond it. */
const endReading = (request: IncomingMessage): void => void request.read()
