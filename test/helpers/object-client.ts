/**
 * Requests on buckets and objects, each at the node that the test names or a random one.
 *
 * Owns: which requests are repeated. Knows nothing of: the expected answers.
 * Rule: only a "nothing was done" is repeated; an unknown outcome is thrown.
 */
import { until } from './async.ts'
import type { Answer, Asked } from './process-cluster.ts'

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
  /** Absent: the native one. */
  readonly api?: 's3'
}

export interface ObjectAsk {
  readonly method: Asked['method']
  /** Below /api/v1/buckets. */
  readonly path: string
  readonly body?: Uint8Array | object
  readonly headers?: Readonly<Record<string, string>>
}

/** Nodes, or one of them. */
export interface ObjectServer {
  ask(nodeId: string, asked: Asked): Promise<Answer>
}

/** The same request in another API, with its answer as the native one gives it; null: it is asked in the native API. */
export type Translate = (ask: ObjectAsk, nodeId: string) => Promise<ApiAnswer> | null

/** The commit may or may not take effect: its leader was lost. */
export class OutcomeUnknown extends Error {}

const LINES_KEPT = 30
/** Codes that mean "nothing was done" according to docs/errors.md. */
const NOTHING_DONE = ['no_leader', 'no_quorum', 'leader_not_ready', 'not_enough_replicas', 'slow_down']

export class ObjectClient {
  /** The last requests and answers, for the report of a failure. */
  readonly lines: string[] = []
  requests = 0
  readonly #server: ObjectServer
  readonly #pickNode: () => string
  readonly #translate: Translate

  constructor(server: ObjectServer, pickNode: () => string, translate: Translate = () => null) {
    this.#server = server
    this.#pickNode = pickNode
    this.#translate = translate
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

  async #once(ask: ObjectAsk, nodeId: string): Promise<ApiAnswer> {
    this.requests += 1
    const answer = await (this.#translate(ask, nodeId) ?? this.#natively(ask, nodeId))
    this.#note(ask, nodeId, answer)
    const { status, code } = answer
    if (status === 503 && !NOTHING_DONE.includes(code ?? '')) throw new OutcomeUnknown(`${status} ${code}`)
    return answer
  }

  async #natively({ method, path, body, headers = {} }: ObjectAsk, nodeId: string): Promise<ApiAnswer> {
    const sent = isBytes(body) ? (body ?? null) : JSON.stringify(body)
    const answer = await this.#server.ask(nodeId, { method, path: `/buckets${path}`, body: sent, headers })
    const isJson = String(answer.headers['content-type']).includes('json')
    const json = isJson ? (JSON.parse(answer.body.toString()) as Json) : {}
    const code = answer.status < 400 ? null : String(json['code'])
    return { status: answer.status, code, headers: answer.headers, bytes: answer.body, json }
  }

  #note({ method, path, body, headers = {} }: ObjectAsk, nodeId: string, answer: ApiAnswer): void {
    const { status, code, json, api = 'native' } = answer
    const text = isBytes(body) ? `${body?.length ?? 0} bytes` : JSON.stringify(body)
    const got = `${status} ${code ?? ''} ${JSON.stringify(json).slice(0, 300)}`
    this.lines.push(`${nodeId} ${api} ${method} ${path} ${JSON.stringify(headers)} ${text} -> ${got}`)
    if (this.lines.length > LINES_KEPT) this.lines.shift()
  }
}

const isBytes = (body: ObjectAsk['body']): body is Uint8Array | undefined =>
  body === undefined || body instanceof Uint8Array

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
