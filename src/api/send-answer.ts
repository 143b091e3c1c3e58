/**
 * Puts an answer or a problem on the wire.
 *
 * Rules: the first piece of a body is in hand before the status leaves, so that a body that cannot be read at all is an
 * honest error; a body that breaks later, or turns out short, destroys the connection and never ends cleanly.
 */
import type { OutgoingHttpHeader } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Admission } from '../limits/admission.ts'
import { releaseBytes } from '../content/spent-bytes.ts'
import { ClientGoneError, Exchange } from './exchange.ts'
import { pacedWrite } from './paced-write.ts'
import { inTurns } from './piece-turns.ts'
import type { ErrorAnswer } from './plane.ts'
import type { Problem } from './problem.ts'
import type { RawResponse } from './raw/raw-pair.ts'
import type { Answer } from './route.ts'

const NOTHING = Buffer.alloc(0)
/** The system takes so many bytes of an answer at once, so no client can make this node wait for it. */
const WHOLE_BYTES_MAX = 16 * 1024

/** A stream whose client takes nothing for so long ends: it may have gone, and it holds a place. */
const STALLED_MS = 10_000

type StreamAnswer = Extract<Answer, { readonly kind: 'stream' }>
type BytesAnswer = Extract<Answer, { readonly kind: 'bytes' }>

interface Usual {
  readonly status: number
  readonly exchange: Exchange
  /** Awaited before anything leaves: the answer is known, and how long it is. May throw. */
  readonly onReady: (status: number, bytes: number) => Promise<void>
  readonly onBroken: (error: Error) => void
}

export async function sendAnswer(reply: FastifyReply, answer: Answer, usual: Usual): Promise<void> {
  if (answer.kind === 'bytes' && answer.length <= WHOLE_BYTES_MAX) return sendWhole(reply, answer, usual)
  if (answer.kind === 'stream') return sendStream(reply, answer, usual)
  // Pulled first: it may throw, and then nothing of this answer may have touched the reply.
  const body =
    answer.kind === 'bytes'
      ? await startBody(inTurns(answer.bytes, usual.exchange.admission), answer.length)
      : null
  const text = textOf(answer)
  try {
    await usual.onReady(answer.status ?? usual.status, answer.kind === 'bytes' ? answer.length : text.length)
  } catch (error) {
    await body?.return(undefined)
    throw error
  }
  const status = answer.status ?? usual.status
  if (answer.kind === 'empty' && hasNoBody(reply, status))
    return sendHead(reply, status, { answer, exchange: usual.exchange })
  reply.code(status).headers(answer.headers ?? {})
  switch (answer.kind) {
    case 'json':
      return sendText(reply, 'application/json', text)
    case 'text':
      return sendText(reply, answer.contentType, text)
    case 'ready':
      return sendText(reply, answer.contentType, text)
    case 'bytes':
      reply.header('content-length', `${answer.length}`)
      return body === null ? undefined : sendBody(reply, body, usual)
    case 'empty':
      usual.exchange.answering()
      return void reply.send()
  }
}

/** The status or the method says that no body follows. */
function hasNoBody(reply: FastifyReply, status: number): boolean {
  return reply.request.method === 'HEAD' || status === 204 || status === 304
}

/** Past fastify, which takes longer than the rest of such an answer. */
function sendHead(
  reply: FastifyReply,
  status: number,
  { answer, exchange }: { readonly answer: Answer; readonly exchange: Exchange },
): void {
  exchange.answering()
  const { response, head } = takenOver(reply, answer.headers)
  response.writeHead(status, head).end()
}

/** In hand before anything leaves, and one write: streams and their timers take several times as long as such a body. */
async function sendWhole(
  reply: FastifyReply,
  answer: BytesAnswer,
  { status, exchange, onReady }: Usual,
): Promise<void> {
  const { admission } = exchange
  const body = asBuffer(await wholeBody(answer, admission))
  exchange.requireTime()
  await onReady(answer.status ?? status, answer.length)
  const held = admission?.pass('out', body.length) ?? null
  if (held !== null) await held
  exchange.sentBytes += body.length
  const { response, head } = takenOver(reply, answer.headers)
  // Not left to `end`: where Node.js counts the body itself, it changes the bytes of a content-disposition.
  head.push('content-length', `${answer.length}`)
  exchange.answering()
  response.writeHead(answer.status ?? status, head).end(body)
}

/** Read in turns with other callers. */
async function wholeBody(answer: BytesAnswer, admission: Admission | null): Promise<Uint8Array> {
  const { atHand, length } = answer
  if (atHand === undefined) {
    const pieces: Uint8Array[] = []
    for await (const piece of exactly(length, inTurns(answer.bytes, admission))) pieces.push(piece)
    const [only = NOTHING] = pieces
    return pieces.length > 1 ? Buffer.concat(pieces) : only
  }
  const body = admission === null ? atHand() : await admission.read(async () => atHand())
  if (body.length !== length) throw wrongLength(length, length - body.length)
  return body
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function textOf(answer: Answer): Buffer {
  if (answer.kind === 'json') return Buffer.from(JSON.stringify(answer.body), 'utf8')
  if (answer.kind === 'ready') return answer.bytes
  return answer.kind === 'text' ? Buffer.from(answer.text, 'utf8') : NOTHING
}

export function sendError(reply: FastifyReply, { status, headers, contentType, bytes }: ErrorAnswer): void {
  reply.code(status).headers(headers)
  sendText(reply, contentType, bytes)
}

export function problemBytes({ body }: Problem): Buffer {
  return Buffer.from(JSON.stringify(body), 'utf8')
}

/** Whole answers are not held back; what they take is missing for the next. */
function countSent(exchange: Exchange, bytes: number): void {
  exchange.sentBytes += bytes
  exchange.admission?.charge('out', bytes)
}

/** Bytes, not text: fastify appends a charset to the type of a text. */
function sendText(reply: FastifyReply, contentType: string, bytes: Buffer): void {
  const exchange = Exchange.of(reply.request.raw, reply.raw)
  exchange.answering()
  if (reply.request.method !== 'HEAD') countSent(exchange, bytes.length)
  reply.header('content-type', contentType).send(bytes)
}

/**
 * The response itself and the headers of the reply, names and values in turns, for `writeHead`: what follows goes past fastify. `own`: stand in the
 * place of those of the reply that have the same name; in lower case.
 */
export function takenOver(
  reply: FastifyReply,
  own: Answer['headers'] = {},
): {
  readonly response: RawResponse
  readonly head: OutgoingHttpHeader[]
} {
  const response: RawResponse = reply.hijack().raw
  // The callback of the write that failed reports all there is to know.
  response.on('error', () => undefined)
  const head: OutgoingHttpHeader[] = []
  const headers = reply.getHeaders()
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && own[name] === undefined) head.push(name, value)
  }
  for (const [name, value] of Object.entries(own)) head.push(name, value)
  return { response, head }
}

/**
 * Past fastify, which does not report when bytes have left. A piece is asked for when the one before has, so that a slow client
 * makes no part hold more, and its memory is given back. Never rejects.
 */
async function sendBody(
  reply: FastifyReply,
  body: AsyncIterable<Uint8Array>,
  { exchange, onBroken }: { readonly exchange: Exchange; readonly onBroken: (error: Error) => void },
): Promise<void> {
  const { response, head } = takenOver(reply)
  response.writeHead(reply.statusCode, head)
  const { admission } = exchange
  try {
    for await (const piece of body) {
      exchange.requireTime()
      exchange.answering()
      exchange.sentBytes += piece.length
      await admission?.pass('out', piece.length)
      admission?.rest()
      const own = response.own?.(piece) ?? piece
      await pacedWrite(own, response, exchange.pace)
      if (own === piece) releaseBytes(piece)
      await admission?.resume()
    }
    response.end()
  } catch (error) {
    response.destroy()
    if (!(error instanceof ClientGoneError)) onBroken(error as Error)
  }
}

/** A piece is asked for when the system has taken the one before: what a client does not read is not made. */
async function sendStream(
  reply: FastifyReply,
  { pieces, contentType, headers, status: own }: StreamAnswer,
  { status: usual, exchange, onReady, onBroken }: Usual,
): Promise<void> {
  const status = own ?? usual
  let next = await pieces.next()
  try {
    await onReady(status, 0)
  } catch (error) {
    await pieces.return(undefined)
    throw error
  }
  const { response, head } = takenOver(reply, { ...headers, 'content-type': contentType })
  response.writeHead(status, head)
  exchange.answering()
  try {
    if (reply.request.method !== 'HEAD')
      for (; next.done !== true; next = await pieces.next()) {
        exchange.sentBytes += next.value.length
        await takenSoon(next.value, response)
      }
    response.end()
  } catch (error) {
    response.destroy()
    if (!(error instanceof ClientGoneError)) onBroken(error as Error)
  } finally {
    await pieces.return(undefined)
  }
}

/** Rejects with ClientGoneError, also of a client that takes nothing for STALLED_MS. */
async function takenSoon(piece: Uint8Array, response: RawResponse): Promise<void> {
  const stalled = setTimeout(() => response.destroy(), STALLED_MS)
  try {
    await pacedWrite(piece, response, null)
  } finally {
    clearTimeout(stalled)
  }
}

/** Pieces of a body whose first piece has arrived. */
async function startBody(
  bytes: AsyncIterable<Uint8Array>,
  length: number,
): Promise<AsyncGenerator<Uint8Array>> {
  const pieces = exactly(length, bytes)
  const first = await pieces.next()
  return (async function* () {
    try {
      if (first.done !== true) yield first.value
      yield* pieces
    } finally {
      // The client may have gone in the middle: the reader below must be notified.
      await pieces.return(undefined)
    }
  })()
}

/** Throws when the pieces together have another length. An empty one would be taken for the beginning. */
async function* exactly(length: number, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = length
  for await (const piece of pieces) {
    left -= piece.length
    if (left < 0) break
    if (piece.length > 0) yield piece
  }
  if (left !== 0) throw wrongLength(length, left)
}

function wrongLength(length: number, left: number): Error {
  return new Error(`A body of ${length} bytes missed its length by ${-left}`)
}
