/**
 * A ledger client over the client library; a request has failed when the library gives up.
 *
 * Owns: its failed requests and their times. Knows nothing of: kills.
 * Rule: one call is one request, with all its attempts; the client uses one member until it fails, and
 * learns of other members only between two calls.
 */
import type { Readable } from 'node:stream'
import { ApiError, type DataClient, dataClient, NoAnswerError } from '../../../src/client/clients.ts'
import type { Answer } from '../../helpers/process-cluster.ts'
import { type LedgerClient, describe, type LedgerRequest } from './ledger-client.ts'

const ANSWER_MS_MAX = 30_000

/** Times of performance.now(). */
export interface FailedRequest {
  readonly what: string
  readonly startedAt: number
  readonly endedAt: number
}

export interface Credentials {
  readonly accessKeyId: string
  readonly secretKey: string
}

type AnyCall = (operation: string, call: object) => Promise<{ status: number; answer: unknown }>

export class HttpLedgerClient implements LedgerClient {
  readonly failed: FailedRequest[] = []
  readonly #credentials: Credentials
  /** Data URLs of the members of now, its own first. */
  readonly #members: () => readonly string[]
  #known = ''
  #client: DataClient | null = null

  constructor(members: () => readonly string[], credentials: Credentials) {
    this.#members = members
    this.#credentials = credentials
  }

  get nodeId(): string {
    return this.#known
  }

  async once(request: LedgerRequest): Promise<Answer | null> {
    const { operation, ...call } = request
    const client = await this.#present()
    const startedAt = performance.now()
    try {
      // Each of them may be carried out twice. [LedgerWork]
      const asked = (client.call as AnyCall).bind(client)
      const { status, answer } = await asked(operation, { ...call, isRepeatable: true })
      return { status, headers: {}, body: await bytesOf(answer) }
    } catch (error) {
      const isKnown =
        error instanceof ApiError && error.status < 500 && error.code !== 'idempotency_in_progress'
      if (isKnown)
        return { status: error.status, headers: {}, body: Buffer.from(JSON.stringify(error.problem)) }
      if (!(error instanceof ApiError || error instanceof NoAnswerError || isBroken(error))) throw error
      const what = `${describe(request)}: ${String(error)}`
      this.failed.push({ what, startedAt, endedAt: performance.now() })
      return null
    }
  }

  async close(): Promise<void> {
    await this.#client?.close()
  }

  async #present(): Promise<DataClient> {
    const endpoints = this.#members()
    const known = endpoints.join(' ')
    if (this.#client !== null && known === this.#known) return this.#client
    await this.close()
    this.#known = known
    this.#client = dataClient({ endpoints, ...this.#credentials, answerMs: ANSWER_MS_MAX })
    return this.#client
  }
}

async function bytesOf(answer: unknown): Promise<Buffer> {
  if (answer === undefined) return Buffer.alloc(0)
  if (!isStream(answer)) return Buffer.from(JSON.stringify(answer))
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

function isStream(answer: unknown): answer is Readable {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
}

/** A download that broke off. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error
}
