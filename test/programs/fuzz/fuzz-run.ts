/**
 * Many nearly right requests at one cluster, each answer checked against the document.
 *
 * Owns: what counts as a fault, and a report that reproduces it. Knows nothing of: the contents of requests.
 * Rule: every request has a bound, and every fault names the request in full.
 */
import http from 'node:http'
import { STATUS_OF } from '../../../src/api/problem.ts'
import { exampleOf, operationOf } from '../../api/example-story.ts'
import { ApiDocument, type DescribedOperation } from '../../helpers/api-document.ts'
import { Random } from '../simulator/random.ts'
import { exampleRequest, type FuzzedRequest, fuzzedRequest } from './fuzzed-request.ts'

export interface FuzzTarget {
  /** Asked in turn. */
  readonly nodes: readonly { readonly dataUrl: string; readonly adminUrl: string }[]
  /** Whole headers. */
  readonly dataAuthorization: () => Promise<string>
  readonly adminAuthorization: string
}

export interface FuzzReport {
  requests: number
  readonly statuses: Map<number, number>
  readonly codes: Map<string, number>
  readonly operations: Set<string>
  readonly faults: string[]
  slowestMs: number
}

interface ApiAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
}

const ANSWER_MS_MAX = 15_000
const FAULTS_MAX = 20
/** How often the prerequisites of the examples are made again, in requests. */
const RENEW_EVERY = 250
const RENEWED = [
  ...(['createTenant', 'createTenantKey', 'createBucket', 'putObject', 'createMultipartUpload'] as const),
  ...([
    'uploadPart',
    'rebalance',
    'setBucketCORS',
    'setTenantBucketPolicy',
    'signURL',
    'signUpload',
  ] as const),
]

export class FuzzRun {
  readonly report: FuzzReport = {
    requests: 0,
    statuses: new Map(),
    codes: new Map(),
    operations: new Set(),
    faults: [],
    slowestMs: 0,
  }
  readonly #target: FuzzTarget
  readonly #random: Random
  readonly #documents = { data: new ApiDocument('data'), admin: new ApiDocument('admin') }
  readonly #operations: readonly DescribedOperation[]
  readonly #drawn: readonly DescribedOperation[]
  readonly #answers: Record<string, unknown> = {}
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 4 })
  #authorization = ''

  constructor(target: FuzzTarget, seed: number) {
    this.#target = target
    this.#random = new Random(seed, 'fuzz')
    this.#operations = [...this.#documents.data.operations, ...this.#documents.admin.operations]
    // One that takes more is asked more often.
    this.#drawn = this.#operations.flatMap((operation) =>
      Array<DescribedOperation>(1 + (operation.parameters?.length ?? 0)).fill(operation),
    )
  }

  /** Until `isOver` says so, or there is nothing more to learn from faults. */
  async run(isOver: (report: FuzzReport) => boolean): Promise<FuzzReport> {
    const { report } = this
    try {
      while (!isOver(report) && report.faults.length < FAULTS_MAX) {
        if (report.requests % RENEW_EVERY === 0) await this.#renew()
        await this.#try(fuzzedRequest(this.#random, this.#random.pick(this.#drawn), this.#answers))
      }
      return report
    } finally {
      this.#agent.destroy()
    }
  }

  /** The examples that others need, as they are: refused when they are there already. */
  async #renew(): Promise<void> {
    for (const id of RENEWED) {
      const received = await this.#try(exampleRequest(operationOf(id), exampleOf(id), this.#answers))
      if (received !== null && received.status < 300)
        this.#answers[id] = JSON.parse(received.bytes.toString())
    }
  }

  async #try(request: FuzzedRequest): Promise<ApiAnswer | null> {
    const { report } = this
    report.requests += 1
    report.operations.add(request.operation.operationId)
    const started = performance.now()
    const received = await this.#send(request).catch((error: unknown) => error as Error)
    report.slowestMs = Math.max(report.slowestMs, performance.now() - started)
    const fault =
      received instanceof Error ? `no answer: ${received.message}` : this.#faultOf(request, received)
    if (fault !== null) report.faults.push(`${fault}\n  ${reported(request)}`)
    return received instanceof Error ? null : received
  }

  #faultOf(request: FuzzedRequest, received: ApiAnswer): string | null {
    const { status, headers, bytes } = received
    const { report } = this
    report.statuses.set(status, (report.statuses.get(status) ?? 0) + 1)
    const summary = `${status} ${bytes.subarray(0, 400).toString()}`
    if (status === 500 || status === 503) return `a healthy cluster answered ${summary}`
    if (headers['x-request-id'] === undefined) return `no request id: ${summary}`
    if (headers['x-injected'] !== undefined) return `a header was injected: ${summary}`
    const { operation, isRouted, method } = request
    if (status >= 400 && method !== 'HEAD') {
      const code = codeOf(bytes)
      if (code === null || !(code in STATUS_OF)) return `no problem: ${summary}`
      report.codes.set(code, (report.codes.get(code) ?? 0) + 1)
    }
    if (!isRouted) return null
    const document = isAdmin(operation) ? this.#documents.admin : this.#documents.data
    const { 'content-type': contentType, 'content-encoding': contentEncoding } = headers
    const fault = document.faultOf(operation, { status, contentType, contentEncoding, bytes })
    return fault === null ? null : `${fault}: ${summary}`
  }

  async #send(request: FuzzedRequest): Promise<ApiAnswer> {
    const { operation, method, path, body } = request
    const node = this.#random.pick(this.#target.nodes)
    const base = new URL(isAdmin(operation) ? node.adminUrl : node.dataUrl)
    const authorization = request.authorization ?? (await this.#good(operation))
    const headers = {
      ...(authorization === '' ? {} : { authorization }),
      ...(body === null ? {} : { 'content-length': `${body.length}` }),
      ...request.headers,
    }
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX)
      const options = {
        host: base.hostname,
        port: base.port,
        method,
        path,
        headers,
        agent: this.#agent,
        signal,
      }
      const outgoing = http.request(options, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode = 0 } = response
          resolve({ status: statusCode, headers: response.headers, bytes: Buffer.concat(pieces) })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body ?? undefined)
    })
  }

  async #good(operation: DescribedOperation): Promise<string> {
    if (isAdmin(operation)) return this.#target.adminAuthorization
    if (!operation.security.some((way) => 'bearer' in way)) return ''
    if (this.report.requests % RENEW_EVERY === 1 || this.#authorization === '')
      this.#authorization = await this.#target.dataAuthorization()
    return this.#authorization
  }
}

const isAdmin = ({ path }: DescribedOperation): boolean => path.startsWith('/admin/') || path === '/metrics'

function codeOf(bytes: Buffer): string | null {
  try {
    const { code } = JSON.parse(bytes.toString()) as { readonly code?: unknown }
    return typeof code === 'string' ? code : null
  } catch {
    // Then it is no problem, and that is the fault.
    return null
  }
}

function reported({ operation, method, path, headers, body, authorization }: FuzzedRequest): string {
  const sent =
    body === null ? 'no body' : `${body.length} bytes ${JSON.stringify(body.toString().slice(0, 300))}`
  const who = authorization === null ? '' : ` as ${JSON.stringify(authorization)}`
  return `${operation.operationId}${who}: ${method} ${path} ${JSON.stringify(headers)} ${sent}`
}
