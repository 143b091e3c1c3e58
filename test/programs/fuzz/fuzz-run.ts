/**
 * Many nearly right requests at one cluster, each answer checked against the document.
 *
 * Owns: what counts as a fault of both planes. Knows nothing of: the contents of requests, the loop.
 */
import { STATUS_OF } from '../../../src/api/problem.ts'
import { exampleOf, operationOf } from '../../api/example-story.ts'
import { ApiDocument, type DescribedOperation } from '../../helpers/api-document.ts'
import { Random } from '../simulator/random.ts'
import { FuzzFrame, type FuzzReport, type Received } from './fuzz-frame.ts'
import { exampleRequest, type FuzzedRequest, fuzzedRequest } from './fuzzed-request.ts'

export interface FuzzTarget {
  /** Asked in turn. */
  readonly nodes: readonly { readonly dataUrl: string; readonly adminUrl: string }[]
  /** Whole headers. */
  readonly dataAuthorization: () => Promise<string>
  readonly adminAuthorization: string
}

/** How often the prerequisites of the examples are made again, in requests. */
const RENEW_EVERY = 250
const RENEWED = [
  ...(['createTenant', 'createTenantKey', 'createBucket', 'putObject', 'createMultipartUpload'] as const),
  ...([
    'uploadPart',
    'rebalance',
    'setBucketCORS',
    'setBucketLifecycle',
    'setTenantBucketPolicy',
    'signURL',
    'signUpload',
  ] as const),
]

export class FuzzRun {
  readonly #frame = new FuzzFrame()
  readonly #target: FuzzTarget
  readonly #random: Random
  readonly #documents = { data: new ApiDocument('data'), admin: new ApiDocument('admin') }
  readonly #operations: readonly DescribedOperation[]
  readonly #drawn: readonly DescribedOperation[]
  readonly #answers: Record<string, unknown> = {}
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
  run(isOver: (report: FuzzReport) => boolean): Promise<FuzzReport> {
    return this.#frame.run(isOver, async () => {
      if (this.#frame.report.requests % RENEW_EVERY === 0) await this.#renew()
      await this.#try(fuzzedRequest(this.#random, this.#random.pick(this.#drawn), this.#answers))
    })
  }

  /** The examples that others need, as they are: refused when they are there already. */
  async #renew(): Promise<void> {
    for (const id of RENEWED) {
      const received = await this.#try(exampleRequest(operationOf(id), exampleOf(id), this.#answers))
      if (received !== null && received.status < 300)
        this.#answers[id] = JSON.parse(received.bytes.toString())
    }
  }

  #try(request: FuzzedRequest): Promise<Received | null> {
    return this.#frame.ask({
      operation: request.operation.operationId,
      send: () => this.#send(request),
      faultOf: (received, summary) => this.#faultOf(request, received, summary),
      shown: () => reported(request),
    })
  }

  #faultOf(request: FuzzedRequest, { status, headers, bytes }: Received, summary: string): string | null {
    if (status === 500 || status === 503) return `a healthy cluster answered ${summary}`
    if (headers['x-request-id'] === undefined) return `no request id: ${summary}`
    const { operation, isRouted, method } = request
    if (status >= 400 && method !== 'HEAD') {
      const code = codeOf(bytes)
      if (code === null || !(code in STATUS_OF)) return `no problem: ${summary}`
      this.#frame.countCode(code)
    }
    if (!isRouted) return null
    const document = isAdmin(operation) ? this.#documents.admin : this.#documents.data
    const { 'content-type': contentType, 'content-encoding': contentEncoding } = headers
    const fault = document.faultOf(operation, { status, contentType, contentEncoding, bytes })
    return fault === null ? null : `${fault}: ${summary}`
  }

  async #send(request: FuzzedRequest): Promise<Received> {
    const { operation, method, path, body } = request
    const node = this.#random.pick(this.#target.nodes)
    const { host } = new URL(isAdmin(operation) ? node.adminUrl : node.dataUrl)
    const authorization = request.authorization ?? (await this.#good(operation))
    const headers = { ...(authorization === '' ? {} : { authorization }), ...request.headers }
    return this.#frame.send(host, { method, path, headers, body })
  }

  async #good(operation: DescribedOperation): Promise<string> {
    if (isAdmin(operation)) return this.#target.adminAuthorization
    if (!operation.security.some((way) => 'bearer' in way)) return ''
    if (this.#frame.report.requests % RENEW_EVERY === 1 || this.#authorization === '')
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
