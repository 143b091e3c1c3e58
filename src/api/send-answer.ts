/**
 * Puts an answer or a problem on the wire.
 *
 * Rules: the first piece of a body is in hand before the status leaves, so that a body that cannot be read at all is an
 * honest error; a body that breaks later, or turns out short, destroys the connection and never ends cleanly.
 */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Exchange } from './exchange.ts'
import type { Problem } from './problem.ts'
import type { Answer } from './route.ts'

export async function sendAnswer(
  reply: FastifyReply,
  answer: Answer,
  usual: { readonly status: number; readonly exchange: Exchange; readonly onBroken: (error: Error) => void },
): Promise<void> {
  // Pulled first: it may throw, and then nothing of this answer may have touched the reply.
  const { exchange } = usual
  const body = answer.kind === 'bytes' ? await startBody(answer.bytes, answer.length, exchange) : null
  body?.once('error', usual.onBroken)
  reply.code(answer.status ?? usual.status).headers(answer.headers ?? {})
  switch (answer.kind) {
    case 'json':
      return sendText(reply, 'application/json', JSON.stringify(answer.body))
    case 'text':
      return sendText(reply, answer.contentType, answer.text)
    case 'bytes':
      return void reply.header('content-length', `${answer.length}`).send(body)
    case 'empty':
      return void reply.send()
  }
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  reply.code(problem.status).headers(problem.headers)
  sendText(reply, 'application/problem+json', JSON.stringify(problem.body))
}

function sendText(reply: FastifyReply, contentType: string, text: string): void {
  // Bytes, not text: fastify appends a charset to the type of a text.
  const bytes = Buffer.from(text, 'utf8')
  if (reply.request.method !== 'HEAD') Exchange.of(reply.request.raw, reply.raw).sentBytes += bytes.length
  reply.header('content-type', contentType).send(bytes)
}

async function startBody(
  bytes: AsyncIterable<Uint8Array>,
  length: number,
  exchange: Exchange,
): Promise<Readable> {
  const pieces = bytes[Symbol.asyncIterator]()
  const first = await pieces.next()
  return Readable.from(counted(exactly(length, first, pieces), exchange), {
    objectMode: false,
    highWaterMark: 64 * 1024,
  })
}

async function* counted(pieces: AsyncIterable<Uint8Array>, exchange: Exchange): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece
    exchange.sentBytes += piece.length
  }
}

async function* exactly(
  length: number,
  first: IteratorResult<Uint8Array>,
  pieces: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let left = length
  try {
    for (let piece = first; piece.done !== true; piece = await pieces.next()) {
      left -= piece.value.length
      if (left < 0) break
      // An empty piece would end the stream.
      if (piece.value.length > 0) yield piece.value
    }
  } finally {
    // The client may have gone in the middle: the reader below must hear of it.
    await pieces.return?.()
  }
  if (left !== 0) throw new Error(`A body of ${length} bytes missed its length by ${-left}`)
}
