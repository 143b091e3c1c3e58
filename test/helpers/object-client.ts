/**
 * Requests on buckets and objects, each at the node that the test names or a random one.
 *
 * Owns: which requests are repeated. Knows nothing of: the expected answers.
 * Rule: only a "nothing was done" is repeated; an unknown outcome is thrown.
 */
import { until } from './async.ts'
import type { Asked, ProcessCluster } from './process-cluster.ts'

/** As they are written, so that the client and the model speak of the same things. */
export type Json = Readonly<Record<string, unknown>>

export interface ApiAnswer {
  readonly status: number
  /** Null unless it is a refusal. */
  readonly code: string | null
  readonly headers: Readonly<Record<string, unknown>>
  readonly bytes: Buffer
  /** Empty unless the answer is JSON. */
  readonly json: Json
}

export interface ObjectAsk {
  readonly method: Asked['method']
  /** Below /api/v1/buckets. */
  readonly path: string
  readonly body?: Uint8Array | object
  readonly headers?: Readonly<Record<string, string>>
}

/** The commit may or may not take effect: its leader was lost. */
export class OutcomeUnknown extends Error {}

const LINES_KEPT = 30
/** Codes that mean "nothing was done" according to docs/errors.md. */
const NOTHING_DONE = ['no_leader', 'no_quorum', 'leader_not_ready', 'not_enough_replicas', 'slow_down']

export class ObjectClient {
  /** The last requests and answers, for the report of a failure. */
  readonly lines: string[] = []
  requests = 0
  readonly #cluster: ProcessCluster
  readonly #pickNode: () => string

  constructor(cluster: ProcessCluster, pickNode: () => string) {
    this.#cluster = cluster
    this.#pickNode = pickNode
  }

  /** Throws OutcomeUnknown. */
  async ask(ask: ObjectAsk, nodeId: string = this.#pickNode()): Promise<ApiAnswer> {
    let received: ApiAnswer | undefined
    await until(`${nodeId} answers`, async () => {
      received = await this.#once(ask, nodeId)
      return received.status !== 503
    })
    if (received === undefined) throw new Error('until ended without an answer')
    return received
  }

  async #once({ method, path, body, headers = {} }: ObjectAsk, nodeId: string): Promise<ApiAnswer> {
    const isBytes = body === undefined || body instanceof Uint8Array
    const sent = isBytes ? (body ?? null) : JSON.stringify(body)
    const asked = { method, path: `/buckets${path}`, body: sent, headers }
    this.requests += 1
    const answer = await this.#cluster.ask(nodeId, asked)
    const isJson = String(answer.headers['content-type']).includes('json')
    const json = isJson ? (JSON.parse(answer.body.toString()) as Json) : {}
    const code = answer.status < 400 ? null : String(json['code'])
    const sentText = body === undefined ? '' : isBytes ? `${body.length} bytes` : (sent?.toString() ?? '')
    const got = `${answer.status} ${isJson ? answer.body.toString().slice(0, 300) : ''}`
    this.lines.push(`${nodeId} ${method} ${path} ${JSON.stringify(headers)} ${sentText} -> ${got}`)
    if (this.lines.length > LINES_KEPT) this.lines.shift()
    if (answer.status === 503 && !NOTHING_DONE.includes(code ?? '')) throw new OutcomeUnknown(got)
    return { status: answer.status, code, headers: answer.headers, bytes: answer.body, json }
  }
}

/** A key as a path: slashes stay slashes. */
export function pathOf(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}

export function queryOf(query: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [[name, `${value}`] as [string, string]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
