/**
 * Answers that take longer than clients wait: they begin before their end is known. [AWS S3 API reference: CompleteMultipartUpload, CopyObject]
 *
 * Owns: how long is waited, and what is sent meanwhile. How: status 200 and the XML declaration leave, then a blank from time to time, then the
 * rest of the document, which may be an error; SDKs look for one. Rules: an answer that comes in time is sent as any other, with its own
 * status and headers; a document that has started is ended, or its connection is destroyed.
 */
import assert from 'node:assert/strict'
import type { FastifyReply } from 'fastify'
import { ClientGoneError, type Exchange, type TimeLimit } from '../../exchange.ts'
import { pacedWrite } from '../../paced-write.ts'
import type { RawResponse } from '../../raw/raw-pair.ts'
import type { Answer } from '../../route.ts'
import { takenOver } from '../../send-answer.ts'
import { DECLARATION } from '../xml/write-xml.ts'

/** The first byte comes after so long, and then one each time: clients and proxies give up after 30 or 60 seconds of silence. */
const SILENCE_MS_MAX = 10_000
const OPENING = Buffer.from(DECLARATION)
const BLANK = Buffer.from(' ')

type After = TimeLimit['after']

/** Resolves once it is known: false: the answer has come, or failed. */
export async function isLate(answering: Promise<Answer>, after: After): Promise<boolean> {
  return (await within(answering, after)) === 'silence'
}

function within(work: Promise<unknown>, after: After): Promise<'settled' | 'silence'> {
  return new Promise((resolve) => {
    const timer = after(SILENCE_MS_MAX, () => resolve('silence'))
    const settle = (): void => {
      timer.cancel()
      resolve('settled')
    }
    work.then(settle, settle)
  })
}

export interface LateParts {
  readonly exchange: Exchange
  readonly after: After
  /** Awaited before the end of the document leaves. May throw. */
  readonly onReady: (status: number, bytes: number) => Promise<void>
  readonly onBroken: (error: Error) => void
  /** The document that reports the error. */
  readonly failed: (error: unknown) => Buffer
}

/** `answering`: a document. Never rejects. */
export async function sendLate(
  reply: FastifyReply,
  answering: Promise<Answer>,
  { exchange, after, onReady, onBroken, failed }: LateParts,
): Promise<void> {
  const document = answering.then(bytesOf).catch(failed)
  const { response, head } = takenOver(reply.header('content-type', 'application/xml'))
  response.writeHead(200, head)
  const send = (bytes: Buffer): Promise<void> => sendPiece(bytes, response, exchange)
  try {
    await send(OPENING)
    while ((await within(document, after)) === 'silence') await send(BLANK)
    const whole = await document
    await onReady(200, whole.length)
    await send(whole.subarray(OPENING.length))
    response.end()
  } catch (error) {
    response.destroy()
    if (!(error instanceof ClientGoneError)) onBroken(error as Error)
  }
}

function bytesOf(answer: Answer): Buffer {
  assert(answer.kind === 'ready' && answer.bytes.subarray(0, OPENING.length).equals(OPENING), 'a document')
  return answer.bytes
}

function sendPiece(bytes: Buffer, response: RawResponse, exchange: Exchange): Promise<void> {
  exchange.sentBytes += bytes.length
  exchange.admission?.charge('out', bytes.length)
  return pacedWrite(bytes, response, exchange.pace)
}
