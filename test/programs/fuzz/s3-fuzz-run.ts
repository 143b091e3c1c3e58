/**
 * Many nearly right requests of the S3 API at one cluster, each answer checked against the table of S3's codes.
 *
 * Owns: what counts as a fault of S3. Knows nothing of: the contents of requests, the loop.
 */
import { S3_CODES, type S3Code } from '../../../src/api/s3/base/s3-codes.ts'
import { MalformedXmlError, readXml, type ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import type { SigningSecret } from '../../api/s3/s3-signer.ts'
import { S3_ROUTES } from '../../api/s3/s3-samples.ts'
import { Random } from '../simulator/random.ts'
import { FuzzFrame, type FuzzReport, type Received } from './fuzz-frame.ts'
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

/** How often the buckets and the object of the samples are made again, in requests. */
const RENEW_EVERY = 200
const RENEWED = ['CreateBucket', 'PutObject']
const BOUNDS = { bytesMax: 2 ** 26, elementsMax: 1e6, depthMax: 32 }

export class S3FuzzRun {
  readonly #frame = new FuzzFrame()
  readonly #target: S3FuzzTarget
  readonly #random: Random

  constructor(target: S3FuzzTarget, seed: number) {
    this.#target = target
    this.#random = new Random(seed, 's3-fuzz')
  }

  /** Until `isOver` says so, or there is nothing more to learn from faults. */
  run(isOver: (report: FuzzReport) => boolean): Promise<FuzzReport> {
    return this.#frame.run(isOver, async () => {
      if (this.#frame.report.requests % RENEW_EVERY === 0) await this.#renew()
      const signer = this.#signer()
      await this.#try(s3FuzzedRequest(this.#random, signer), signer)
    })
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
    await this.#frame.ask({
      operation: request.action,
      send: () => this.#frame.send(host, request),
      faultOf: (received, summary) => this.#faultOf(request, received, summary),
      shown: () => reported(request),
    })
  }

  async #faultOf(request: S3FuzzedRequest, received: Received, summary: string): Promise<string | null> {
    const { status, headers, bytes } = received
    if (status >= 500 && status !== 501) return `a healthy cluster answered ${summary}`
    const requestId = headers['x-amz-request-id']
    if (requestId === undefined || requestId !== headers['x-request-id']) return `no request id: ${summary}`
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
    this.#frame.countCode(code)
    if (!Object.hasOwn(S3_CODES, code)) return `not a code of the table: ${summary}`
    // A slow answer has left with its status before it failed.
    const isRight = S3_CODES[code as S3Code].status === status || status === 200
    if (!isRight) return `another status than that of ${code}: ${summary}`
    return root.textOf('RequestId') === requestId ? null : `another request id: ${summary}`
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
