/**
 * The parts of a call of any operation: the types of the generated tables, and the request that a call becomes.
 *
 * Owns: targets, headers and bodies of requests. Knows nothing of: connections, tokens.
 */

/** Where an option of a method is sent. */
export interface OptionPlace {
  readonly in: 'path' | 'query' | 'header'
  /** The name on the wire. Ends with `*`: the option is a record, and each of its names takes the place of the star. */
  readonly name: string
  readonly required?: true
  /** A record that is written like the query of a URL. */
  readonly form?: true
}

export interface Route {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  /** The parameter that is the rest of the path; its slashes are not escaped. */
  readonly rest: string | null
  readonly body: 'none' | 'json' | 'bytes'
  readonly answer: 'json' | 'bytes' | 'text' | 'events' | 'empty'
  readonly takesToken: boolean
  /** The options of the method, by their names; fields of a JSON body are not among them. */
  readonly options: Readonly<Record<string, OptionPlace>>
  /** The fields of a JSON body. */
  readonly fields: readonly string[]
  /** The query parameters of the next page: each is the member of an answer called `next` and its name. */
  readonly cursors: readonly string[]
  /** The list of a page. Null: the operation has no pages. */
  readonly items: string | null
}

/** Bytes to send. What a stream gives can be sent once; everything else is sent again when a call is repeated. */
export type Body =
  | string
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | ByteSource

/** A stream that can be opened again. */
export interface ByteSource {
  open(): AsyncIterable<Uint8Array>
  /** Sent as Content-Length; without it the body is sent in chunks. */
  readonly length?: number
}

/** Stands in the generated types for the bytes of an answer; each transport has its own type for them. */
export interface Download {
  readonly bytesOfAnswer: never
}

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
  /** With its query. */
  readonly path: string
  /** Where the parameter starts that is the rest of the path; null: there is none. */
  readonly restAt: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | Blob | ByteSource | null
  /** The body is a stream that can be opened once. */
  readonly isOneWay: boolean
}

export function requestOf(route: Route, call: Call): Request {
  const { params = {}, query = {}, headers = {} } = call
  const [start = route.path, ...afterRest] = route.path.split(`{${route.rest ?? ''}}`)
  const filled = start.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const rest = route.rest === null ? '' : (params[route.rest] ?? '')
  const path = filled + rest.split('/').map(encodeURIComponent).join('/')
  if (afterRest.join('') !== '') throw new Error(`The rest of a path is its end: ${route.path}`)
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) search.append(name, `${value}`)
  const { body, headers: ofBody, isOneWay } = bodyOf(route, call.body)
  return {
    method: route.method,
    path: search.size === 0 ? path : `${path}?${search.toString()}`,
    restAt: route.rest === null ? null : filled.length,
    headers: { ...ofBody, ...headers },
    body,
    isOneWay,
  }
}

const ENCODER = new TextEncoder()

function bodyOf(route: Route, body: unknown): Pick<Request, 'body' | 'headers' | 'isOneWay'> {
  const plain = (bytes: Request['body']) => ({ body: bytes, headers: {}, isOneWay: false })
  if (body === undefined) return plain(null)
  if (route.body === 'json') {
    const headers = { 'content-type': 'application/json' }
    return { body: ENCODER.encode(JSON.stringify(body)), headers, isOneWay: false }
  }
  const given = body as Body
  if (typeof given === 'string') return plain(ENCODER.encode(given))
  if (given instanceof Uint8Array || given instanceof Blob) return plain(given)
  if (given instanceof ArrayBuffer) return plain(new Uint8Array(given))
  if (!('open' in given)) return { body: openedOnce(given), headers: {}, isOneWay: true }
  const { length } = given
  const headers: Record<string, string> = length === undefined ? {} : { 'content-length': `${length}` }
  return { body: given, headers, isOneWay: false }
}

function openedOnce(stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): ByteSource {
  return { open: () => ('getReader' in stream ? piecesOf(stream) : stream) }
}

/** The pieces of a stream; not every browser can iterate over one. The stream is cancelled when the loop ends early. */
export async function* piecesOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader()
  let isRead = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isRead = done
      if (done) return
      yield value
    }
  } finally {
    // A source that cannot be cancelled has failed already, and its failure was thrown above.
    if (!isRead) await reader.cancel().catch(() => undefined)
    reader.releaseLock()
  }
}
