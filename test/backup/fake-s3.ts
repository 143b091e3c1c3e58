/**
 * An S3 store for backup targets that does as a test says: it keeps objects in memory and answers by rules of its own, which share no code with `src/`.
 *
 * Rule: without a word of the test it is an honest store, of single puts alone.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buildConnector } from 'undici'
import type { S3Outside } from '../../src/backup/targets/s3-requests.ts'
import { S3Target } from '../../src/backup/targets/s3-target.ts'

interface Teardown {
  teardown(callback: () => unknown): unknown
}

export interface FakeAsked {
  readonly method: string
  /** Without the bucket. */
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly response: ServerResponse
}

export class FakeS3 {
  readonly objects = new Map<string, Buffer>()
  readonly asked: FakeAsked[] = []
  /** True: the test has answered. */
  intercept: (asked: FakeAsked) => boolean = () => false
  endpoint = ''

  static async start(t: Teardown, tls?: { readonly cert: string; readonly key: string }): Promise<FakeS3> {
    const fake = new FakeS3()
    const server = tls === undefined ? createServer() : createTlsServer(tls)
    server.on('request', (request, response) => void fake.#answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    fake.endpoint = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    return fake
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { method = 'GET', headers } = request
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.endpoint)
    const key = decodeURIComponent(pathname.split('/').slice(2).join('/'))
    const asked = { method, key, query, headers, body: Buffer.concat(pieces), response }
    this.asked.push(asked)
    if (!this.intercept(asked)) this.#honest(asked)
  }

  #honest({ method, key, query, headers, body, response }: FakeAsked): void {
    if (key === '') return this.#list(query, response)
    if (method === 'PUT') {
      this.objects.set(key, body)
      response.writeHead(200, { etag: tagOf(body) }).end()
      return
    }
    if (method === 'DELETE') {
      this.objects.delete(key)
      response.writeHead(204).end()
      return
    }
    const found = this.objects.get(key)
    if (found === undefined) return refuse(response, 404, 'NoSuchKey')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const sent = first === undefined ? found : found.subarray(Number(first), Number(last) + 1)
    const range = first === undefined ? {} : { 'content-range': `bytes ${first}-${last}/${found.length}` }
    const all = { etag: tagOf(found), 'content-length': `${sent.length}`, ...range, ...checksumOf(found) }
    response.writeHead(first === undefined ? 200 : 206, all)
    response.end(method === 'HEAD' ? undefined : sent)
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const names = [...this.objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? ''))
    listing(
      response,
      names.toSorted().map((name) => [name, this.objects.get(name)?.length ?? 0] as const),
    )
  }
}

const checksumOf = (body: Buffer): Record<string, string> => ({
  'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64'),
})

const tagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`

export function listing(
  response: ServerResponse,
  entries: readonly (readonly [key: string, size: number])[],
  next: string | null = null,
): void {
  const contents = entries.map(([key, size]) => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`)
  const more = next === null ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`
  response.writeHead(200, { 'content-type': 'application/xml' })
  response.end(
    `<ListBucketResult><IsTruncated>${next !== null}</IsTruncated>${contents.join('')}${more}</ListBucketResult>`,
  )
}

export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/xml', ...headers })
  response.end(`<Error><Code>${code}</Code><Message>it says ${code}</Message></Error>`)
}

export interface Opened {
  readonly target: S3Target
  /** Milliseconds of each wait; none of them is waited. */
  readonly waits: readonly number[]
}

export interface OpenOptions {
  readonly endpoint: string
  readonly bucket?: string
  readonly prefix?: string
  readonly accessKeyId?: string
  readonly secretKey?: string
  readonly ca?: string
  readonly now?: () => number
  readonly partBytes?: number
}

export function openS3(t: Teardown, options: OpenOptions): Opened {
  const { endpoint, ca, partBytes, bucket = 'backups', prefix = '', now = Date.now } = options
  const { accessKeyId = 'AKID', secretKey = 'secret' } = options
  const waits: number[] = []
  const outside: S3Outside = {
    connect: buildConnector(ca === undefined ? {} : { ca }),
    now,
    wait: async (ms) => void waits.push(ms),
    random: () => 1,
  }
  const credentials = { accessKeyId, secretKey, sessionToken: null }
  const store = { endpoint: new URL(endpoint), bucket, region: 'us-east-1', credentials, prefix }
  const target = new S3Target({ ...store, description: `s3 ${endpoint}/${bucket}` }, outside, partBytes)
  t.teardown(() => target.close())
  return { target, waits }
}
