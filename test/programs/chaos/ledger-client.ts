/**
 * Sends the requests of ledger clients, repeated until there is a real answer.
 *
 * Owns: what counts as no answer, and the failures meanwhile. Knows nothing of: what is stored.
 * Rule: a 503 or no answer at all is allowed; everything else is an answer, which the caller checks.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { DATA_ROUTES, type DataOperations } from '../../../packages/client/src/generated/data-operations.ts'
import { requestOf } from '../../../packages/client/src/call/operation.ts'
import type { Answer, ProcessCluster } from '../../helpers/process-cluster.ts'
import type { Random } from '../simulator/random.ts'

const TIMEOUT_MS = 10_000
const PAUSE_MS = 50
/** Far more than any fault of a run lasts. */
const WAIT_MS = 120_000
const BELOW = '/api/v1'

export interface LedgerRequest {
  readonly operation: Extract<keyof DataOperations, string>
  readonly params: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | object
}

/** Null: not now. */
export interface LedgerClient {
  /** For messages: the last contacted node. */
  readonly nodeId: string
  once(request: LedgerRequest): Promise<Answer | null>
  close(): Promise<void>
}

/** There was no answer for far too long. */
export class SilenceError extends Error {}

export async function askUntilAnswered(client: LedgerClient, request: LedgerRequest): Promise<Answer> {
  const giveUpAt = performance.now() + WAIT_MS
  while (performance.now() < giveUpAt) {
    const answer = await client.once(request)
    if (answer !== null) return answer
    await wait(PAUSE_MS)
  }
  throw new SilenceError(`${describe(request)}: no answer from any node in ${WAIT_MS / 1000} s`)
}

export function describe({ operation, params }: LedgerRequest): string {
  return `${operation} ${Object.values(params).join(' ')}`
}

/** Each attempt goes to any member, without retries of its own. */
export class PlainLedgerClient implements LedgerClient {
  nodeId = ''
  readonly #cluster: ProcessCluster
  readonly #random: Random
  readonly #hasFailed: (code: string) => void

  constructor(cluster: ProcessCluster, random: Random, hasFailed: (code: string) => void) {
    this.#cluster = cluster
    this.#random = random
    this.#hasFailed = hasFailed
  }

  async once({ operation, ...call }: LedgerRequest): Promise<Answer | null> {
    this.nodeId = this.#random.pick(this.#cluster.plan).nodeId
    const { method, path, headers, body } = requestOf(DATA_ROUTES[operation], call)
    const asked = { method, path: path.slice(BELOW.length), headers, body: body as Uint8Array | null }
    try {
      const answer = await this.#cluster.ask(this.nodeId, { ...asked, timeoutMs: TIMEOUT_MS })
      const code = answer.status >= 400 ? codeIn(answer.body) : ''
      if (answer.status !== 503 && code !== 'idempotency_in_progress') return answer
      this.#hasFailed(code)
    } catch (error) {
      this.#hasFailed(error instanceof Error && 'code' in error ? String(error.code) : 'no answer')
    }
    return null
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

function codeIn(body: Buffer): string {
  return body.length === 0 ? '' : (JSON.parse(body.toString()) as { code: string }).code
}
