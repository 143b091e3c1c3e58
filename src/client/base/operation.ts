/**
 * The parts of a call of any operation: the types of the generated tables.
 */
import type { Readable } from 'node:stream'

export interface Route {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  /** The parameter that is the rest of the path; its slashes are not escaped. */
  readonly rest: string | null
  readonly body: 'none' | 'json' | 'bytes'
  readonly answer: 'json' | 'bytes' | 'text' | 'empty'
  readonly takesToken: boolean
}

/** Bytes to send. A call may be repeated, so a stream is given as a function that opens it. */
export type Body = Uint8Array | string | ByteSource

export interface ByteSource {
  open(): AsyncIterable<Uint8Array>
  /** Sent as Content-Length; without it the body is sent chunked. */
  readonly length?: number
}

/** Bytes as they arrive. Read them to the end or destroy the stream; otherwise the connection stays busy. */
export type Download = Readable

/** The parts of any call. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Method, target, headers and body of a call as they are sent. */
export interface Request {
  readonly method: Route['method']
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | ByteSource | null
}

export function requestOf(route: Route, call: Call): Request {
  const { params = {}, query = {}, headers = {} } = call
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? ''
    return name === route.rest
      ? value.split('/').map(encodeURIComponent).join('/')
      : encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) search.append(name, `${value}`)
  const { body, headers: ofBody } = bodyOf(route, call.body)
  return {
    method: route.method,
    path: search.size === 0 ? path : `${path}?${search.toString()}`,
    headers: { ...ofBody, ...headers },
    body,
  }
}

function bodyOf(route: Route, body: unknown): Pick<Request, 'body' | 'headers'> {
  if (body === undefined) return { body: null, headers: {} }
  if (route.body === 'json')
    return { body: Buffer.from(JSON.stringify(body)), headers: { 'content-type': 'application/json' } }
  if (typeof body === 'string') return { body: Buffer.from(body), headers: {} }
  const given = body as Uint8Array | ByteSource
  const length = given instanceof Uint8Array ? undefined : given.length
  return { body: given, headers: length === undefined ? {} : { 'content-length': `${length}` } }
}
