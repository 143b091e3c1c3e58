/**
 * Another S3 store on a real socket, with the peculiarities of many: what it sends is written here and in no file of `src/`.
 *
 * Owns: buckets in memory, what was asked. Rule: a test says how it is odd; without that it answers as AWS does.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface FakeObject {
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** Without quotes; default: the MD5 of the body. */
  readonly etag?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly modified?: string
}

export interface Asked {
  readonly method: string
  /** Percent-encoded, with the query. */
  readonly path: string
  readonly range: string | undefined
  readonly ifMatch: string | undefined
  readonly headers: IncomingMessage['headers']
}

interface Odd {
  /** True: it has answered. */
  readonly intercept?: (asked: Asked, response: ServerResponse) => boolean | Promise<boolean>
  readonly pageKeys?: number
  readonly ignoresIfMatch?: boolean
  /** It ignores `encoding-type`. */
  readonly isPlainXml?: boolean
  /** The order of its listing, instead of that of the bytes. */
  readonly order?: (one: string, other: string) => number
}

const MODIFIED = '2026-03-04T05:06:07.890Z'
const md5 = (body: Buffer): string => createHash('md5').update(body).digest('hex')

export class FakeSource {
  readonly buckets = new Map<string, Map<string, FakeObject>>()
  readonly asked: Asked[] = []
  odd: Odd = {}
  readonly endpoint: string

  /** `tls`: PEM. */
  static async start(
    t: { teardown(end: () => unknown): unknown },
    tls?: { readonly cert: string; readonly key: string },
  ): Promise<FakeSource> {
    const server = tls === undefined ? createServer() : createTlsServer(tls)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const source = new FakeSource(server, tls === undefined ? 'http' : 'https')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    return source
  }

  private constructor(server: Server, scheme: 'http' | 'https') {
    this.endpoint = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (request, response) => void this.#answer(request, response))
  }

  put(bucket: string, key: string, object: FakeObject | string): void {
    const objects = this.buckets.get(bucket) ?? new Map<string, FakeObject>()
    this.buckets.set(
      bucket,
      objects.set(key, typeof object === 'string' ? { body: Buffer.from(object) } : object),
    )
  }

  /** Requests for bytes of objects, such as `GET /photos/a bytes=0-4`. */
  get reads(): readonly string[] {
    return this.asked
      .filter(({ method, path }) => method === 'GET' && !path.includes('?') && path.split('/').length > 2)
      .map(({ path, range }) => (range === undefined ? path : `${path} ${range}`))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request
    const asked = { method, path, range: headers.range, ifMatch: headers['if-match'], headers }
    this.asked.push(asked)
    if (!/^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\//.test(headers.authorization ?? ''))
      return refuse(response, 403, 'InvalidAccessKeyId')
    if ((await this.odd.intercept?.(asked, response)) === true) return
    const { pathname, searchParams } = new URL(path, this.endpoint)
    const [bucket = '', ...rest] = pathname.slice(1).split('/').map(decodeURIComponent)
    const key = rest.join('/')
    if (bucket === '') return this.#listBuckets(response)
    const objects = this.buckets.get(bucket)
    if (objects === undefined) return refuse(response, 404, 'NoSuchBucket')
    if (key === '') return this.#list(response, objects, searchParams)
    const object = objects.get(key)
    if (object === undefined) return refuse(response, 404, 'NoSuchKey')
    if (searchParams.has('tagging')) return tagging(response, object)
    this.#object(response, object, asked)
  }

  #listBuckets(response: ServerResponse): void {
    const names = [...this.buckets.keys()].map((name) => `<Bucket><Name>${name}</Name></Bucket>`)
    xml(
      response,
      200,
      `<ListAllMyBucketsResult><Buckets>${names.join('')}</Buckets></ListAllMyBucketsResult>`,
    )
  }

  #list(response: ServerResponse, objects: ReadonlyMap<string, FakeObject>, query: URLSearchParams): void {
    const { isPlainXml = false, order = byBytes, pageKeys = 1000 } = this.odd
    const prefix = query.get('prefix') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted(order)
    const from = Number(query.get('continuation-token') ?? 0)
    const page = keys.slice(from, from + pageKeys)
    const isTruncated = from + pageKeys < keys.length
    const entries = page.map((key) => {
      const { body, etag = md5(body), modified = MODIFIED } = objects.get(key) ?? { body: Buffer.alloc(0) }
      const shown = isPlainXml ? escaped(key) : encodeURIComponent(key).replaceAll('%20', '+')
      return `<Contents><Key>${shown}</Key><LastModified>${modified}</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${body.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`
    })
    const next = isTruncated ? `<NextContinuationToken>${from + pageKeys}</NextContinuationToken>` : ''
    const encoding = isPlainXml ? '' : '<EncodingType>url</EncodingType>'
    xml(
      response,
      200,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${encoding}<IsTruncated>${isTruncated}</IsTruncated>${entries.join('')}${next}</ListBucketResult>`,
    )
  }

  #object(response: ServerResponse, object: FakeObject, { ifMatch, method, range }: Asked): void {
    const { body, etag = md5(body), headers = {}, modified = MODIFIED, tags = {} } = object
    const isAsked = this.odd.ignoresIfMatch !== true && ifMatch !== undefined
    if (isAsked && ifMatch !== `"${etag}"`) return refuse(response, 412, 'PreconditionFailed')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
    const start = Number(first ?? 0)
    const sent = body.subarray(start, last === undefined ? body.length : Number(last) + 1)
    const count = Object.keys(tags).length
    const all = {
      etag: `"${etag}"`,
      'last-modified': new Date(modified).toUTCString(),
      'content-length': `${sent.length}`,
      ...(count === 0 ? {} : { 'x-amz-tagging-count': `${count}` }),
      ...(range === undefined
        ? {}
        : { 'content-range': `bytes ${start}-${start + sent.length - 1}/${body.length}` }),
      ...headers,
    }
    // A first piece of bytes, because Node writes the headers in the encoding of a first text.
    response.writeHead(range === undefined ? 200 : 206, all)
    response.end(method === 'HEAD' ? undefined : sent)
  }
}

export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  { inside = '', headers = {} }: { readonly inside?: string; readonly headers?: Record<string, string> } = {},
): void {
  const body = `<Error><Code>${code}</Code><Message>it says ${code}</Message>${inside}</Error>`
  xml(response, status, body, headers)
}

function tagging(response: ServerResponse, { tags = {} }: FakeObject): void {
  const set = Object.entries(tags).map(
    ([name, value]) => `<Tag><Key>${escaped(name)}</Key><Value>${escaped(value)}</Value></Tag>`,
  )
  xml(response, 200, `<Tagging><TagSet>${set.join('')}</TagSet></Tagging>`)
}

export function xml(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/xml', ...headers })
  response.end(Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`))
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
