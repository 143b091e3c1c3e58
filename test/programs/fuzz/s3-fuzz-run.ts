/**
 * Many nearly right requests of the S3 API at one cluster, each answer checked against the table of S3's codes.
 *
 * Owns: what counts as a fault, and a report that reproduces it. Knows nothing of: the contents of requests.
 * Rule: every request has a bound, and every fault names the request in full.
 */
import http from 'node:http'
import { S3_CODES, type S3Code } from '../../../src/api/s3/base/s3-codes.ts'
import { MalformedXmlError, readXml, type ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import type { SigningSecret } from '../../api/s3/s3-signer.ts'
import { S3_ROUTES } from '../../api/s3/s3-samples.ts'
import { Random } from '../simulator/random.ts'
import type { FuzzReport } from './fuzz-run.ts'
import {
  s3ExampleRequests,
  type S3FuzzedRequest,
  s3FuzzedRequest,
  type S3Signer,
} from './s3-fuzzed-request.ts'

export interface S3FuzzTarget {
  /** Asked in turn. */
  readonly nodes: readonly { readonly dataUrl: string }[]
  readonly secret: SigningSecret
}

interface Received {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
}

const ANSWER_MS_MAX = 15_000
const FAULTS_MAX = 20
/** How often the buckets and the object of the samples are made again, in requests. */
const RENEW_EVERY = 200
const RENEWED = ['CreateBucket', 'PutObject']
const BOUNDS = { bytesMax: 2 ** 26, elementsMax: 1e6, depthMax: 32 }

export class S3FuzzRun {
  readonly report: FuzzReport = {
    requests: 0,
    statuses: new Map(),
    codes: new Map(),
    operations: new Set(),
    faults: [],
    slowestMs: 0,
  }
  readonly #target: S3FuzzTarget
  readonly #random: Random
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 4 })

  constructor(target: S3FuzzTarget, seed: number) {
    this.#target = target
    this.#random = new Random(seed, 's3-fuzz')
  }

  /** Until `isOver` says so, or there is nothing more to learn from faults. */
  async run(isOver: (report: FuzzReport) => boolean): Promise<FuzzReport> {
    const { report } = this
    try {
      while (!isOver(report) && report.faults.length < FAULTS_MAX) {
        if (report.requests % RENEW_EVERY === 0) await this.#renew()
        const signer = this.#signer()
        await this.#try(s3FuzzedRequest(this.#random, signer), signer)
      }
      return report
    } finally {
      this.#agent.destroy()
    }
  }

  async #renew(): Promise<void> {
    for (const route of S3_ROUTES.filter(({ action }) => RENEWED.includes(action))) {
      const signer = this.#signer()
      for (const request of s3ExampleRequests(route, signer, this.#random)) await this.#try(request, signer)
    }
  }

  #signer(): S3Signer {
    const { nodes, secret } = this.#target
    return { secret, host: new URL(this.#random.pick(nodes).dataUrl).host, at: new Date() }
  }

  async #try(request: S3FuzzedRequest, { host }: S3Signer): Promise<void> {
    const { report } = this
    report.requests += 1
    report.operations.add(request.action)
    const started = performance.now()
    const received = await this.#send(request, host).catch((error: unknown) => error as Error)
    report.slowestMs = Math.max(report.slowestMs, performance.now() - started)
    const fault =
      received instanceof Error ? `no answer: ${received.message}` : await this.#faultOf(request, received)
    if (fault !== null) report.faults.push(`${fault}\n  ${reported(request)}`)
  }

  async #faultOf(request: S3FuzzedRequest, received: Received): Promise<string | null> {
    const { status, headers, bytes } = received
    const { report } = this
    report.statuses.set(status, (report.statuses.get(status) ?? 0) + 1)
    const summary = `${status} ${bytes.subarray(0, 400).toString()}`
    if (status >= 500 && status !== 501) return `a healthy cluster answered ${summary}`
    const requestId = headers['x-amz-request-id']
    if (requestId === undefined || requestId !== headers['x-request-id']) return `no request id: ${summary}`
    if (headers['x-injected'] !== undefined) return `a header was injected: ${summary}`
    if (request.method === 'HEAD') return bytes.length === 0 ? null : `a HEAD has a body: ${summary}`
    if (headers['content-type'] !== 'application/xml' || bytes.length === 0)
      return status < 400 ? null : `no error document: ${summary}`
    const root = await documentOf(bytes)
    if (root === null) return status < 400 ? null : `no XML: ${summary}`
    return root.name === 'Error' ? this.#errorFault(root, { status, requestId }, summary) : null
  }

  #errorFault(
    root: ReadElement,
    { status, requestId }: { readonly status: number; readonly requestId: unknown },
    summary: string,
  ): string | null {
    const code = root.textOf('Code') ?? ''
    this.report.codes.set(code, (this.report.codes.get(code) ?? 0) + 1)
    if (!Object.hasOwn(S3_CODES, code)) return `not a code of the table: ${summary}`
    // A slow answer has left with its status before it failed.
    const isRight = S3_CODES[code as S3Code].status === status || status === 200
    if (!isRight) return `another status than that of ${code}: ${summary}`
    return root.textOf('RequestId') === requestId ? null : `another request id: ${summary}`
  }

  #send({ method, path, headers, body }: S3FuzzedRequest, host: string): Promise<Received> {
    return new Promise((resolve, reject) => {
      const [hostname = '', port = ''] = host.split(':')
      const length = body === null ? {} : { 'content-length': `${body.length}` }
      const signal = AbortSignal.timeout(ANSWER_MS_MAX)
      const options = { host: hostname, port, method, path, agent: this.#agent, signal }
      const outgoing = http.request({ ...options, headers: { ...headers, ...length } }, (response) => {
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
}

/** Null: an answer holds a key that no XML of version 1.0 can. */
async function documentOf(bytes: Buffer): Promise<ReadElement | null> {
  try {
    return await readXml([bytes], BOUNDS)
  } catch (error) {
    if (error instanceof MalformedXmlError) return null
    throw error
  }
}

function reported({ action, method, path, headers, body }: S3FuzzedRequest): string {
  const sent =
    body === null ? 'no body' : `${body.length} bytes ${JSON.stringify(body.toString().slice(0, 400))}`
  return `${action}: ${method} ${path.slice(0, 1000)} ${JSON.stringify(headers).slice(0, 2000)} ${sent}`
}
