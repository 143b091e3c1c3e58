/**
 * One request at one endpoint over the platform's `fetch`.
 *
 * Owns: the time limits of a request. Knows nothing of: tokens, repeating, the meaning of an answer.
 * Rules: a redirect is no answer, because a node sends none and the token is for nodes only. A URL parser resolves `.` and `..`, so the
 * slashes of a key that contains them are escaped; a key that consists of dots alone cannot be sent.
 */
import { ArgumentError } from './errors.ts'
import { type ByteSource, piecesOf, type Request } from './operation.ts'
import { type Attempted, collected, type Transport } from './transport.ts'

export interface FetchLimits {
  /** From the end of the request to the headers of the answer. */
  readonly answerMs: number
  /** Between two pieces of an answer. */
  readonly silenceMs: number
}

/** A body of known size may take a further second for each. `fetch` does not say when a request has been sent. */
const SLOWEST_BYTES_PER_SECOND = 16 * 1024

const LATE = 'There was no answer in time'

export class FetchTransport implements Transport<ReadableStream<Uint8Array>> {
  readonly #fetch: typeof fetch
  readonly #limits: FetchLimits
  readonly #userAgent: string | null

  /** `userAgent` null: the platform sets its own. */
  constructor(ownFetch: typeof fetch, limits: FetchLimits, userAgent: string | null) {
    this.#fetch = ownFetch
    this.#limits = limits
    this.#userAgent = userAgent
  }

  async attempt(
    endpoint: string,
    request: Request,
    signal: AbortSignal | undefined,
  ): Promise<Attempted<ReadableStream<Uint8Array>>> {
    const url = endpoint.replace(/\/$/, '') + sendableTarget(request)
    const limit = new TimeLimit(signal)
    const onEnd = (): void => limit.start(this.#limits.answerMs, LATE)
    try {
      limit.start(this.#answerMs(request.body), LATE)
      const named: Record<string, string> = this.#userAgent === null ? {} : { 'user-agent': this.#userAgent }
      const answer = await this.#fetch.call(globalThis, url, {
        method: request.method,
        headers: { ...named, ...request.headers },
        // Not 'error', which runtimes at the edge refuse.
        redirect: 'manual',
        signal: limit.signal,
        ...bodyOptions(request.body, onEnd),
        ...PLATFORM_OPTIONS,
      })
      limit.stop()
      await refuseRedirect(answer)
      const body = this.#watched(answer.body, limit)
      const headers = Object.fromEntries(answer.headers)
      const pieces = (): AsyncIterable<Uint8Array> => piecesOf(body)
      return { status: answer.status, headers, body, pieces, bytes: () => collected(pieces()) }
    } catch (cause) {
      limit.end()
      throw cause
    }
  }

  async close(): Promise<void> {
    // Connections belong to the platform.
  }

  /** Null: the end of the request is known, and the time runs from there. */
  #answerMs(body: Request['body']): number | null {
    const { answerMs } = this.#limits
    if (body === null) return answerMs
    if ('open' in body) return null
    const bytes = body instanceof Blob ? body.size : body.length
    return answerMs + (bytes / SLOWEST_BYTES_PER_SECOND) * 1000
  }

  /** The body, until a piece of it does not come in time. */
  #watched(body: ReadableStream<Uint8Array> | null, limit: TimeLimit): ReadableStream<Uint8Array> {
    const reader = body?.getReader()
    const { silenceMs } = this.#limits
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            limit.start(silenceMs, 'The answer stopped arriving')
            const next = await reader?.read()
            limit.stop()
            if (next === undefined || next.done) {
              limit.end()
              controller.close()
            } else controller.enqueue(next.value)
          } catch (cause) {
            limit.end()
            throw cause
          }
        },
        async cancel(reason) {
          limit.end()
          await reader?.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

/** A browser does not show the status of a redirect. */
async function refuseRedirect({ type, status, body }: Response): Promise<void> {
  if (type !== 'opaqueredirect' && !REDIRECTS.includes(status)) return
  await body?.cancel()
  throw new Error('The answer is a redirect, which no node sends and which the token must not follow')
}

/** Aborts a request when the caller does, or when a time is over. */
class TimeLimit {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #onAbort = (): void => this.#controller.abort(this.#outer?.reason)
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer
    if (outer?.aborted) this.#onAbort()
    else outer?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  start(ms: number | null, message: string): void {
    this.stop()
    if (ms !== null) this.#timer = setTimeout(() => this.#controller.abort(new Error(message)), ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  end(): void {
    this.stop()
    this.#outer?.removeEventListener('abort', this.#onAbort)
  }
}

/** Cookies and caches are of no use here. Some edge runtimes refuse options that they do not have. */
const PLATFORM_OPTIONS: RequestInit =
  'credentials' in globalThis.Request.prototype && 'cache' in globalThis.Request.prototype
    ? { credentials: 'omit', cache: 'no-store' }
    : {}

function bodyOptions(body: Request['body'], onEnd: () => void): RequestInit & { duplex?: 'half' } {
  if (body === null) return {}
  if (body instanceof Blob) return { body }
  if (body instanceof Uint8Array) return { body: sendable(body) }
  if (!CAN_STREAM)
    throw new ArgumentError(
      'This platform cannot send a stream as a body: give a Blob or a Uint8Array, or use upload(), which sends a stream in parts',
    )
  return { body: streamOf(body, onEnd), duplex: 'half' }
}

/** A platform that ignores `duplex` turns a stream into text. */
const CAN_STREAM: boolean = canStream()

function canStream(): boolean {
  let isRead = false
  const options = {
    method: 'POST',
    body: new ReadableStream<Uint8Array>(),
    get duplex() {
      isRead = true
      return 'half'
    },
  }
  try {
    const { headers } = new globalThis.Request('http://localhost', options)
    return isRead && !headers.has('content-type')
  } catch {
    return false
  }
}

function streamOf(source: ByteSource, onEnd: () => void): ReadableStream<Uint8Array> {
  const pieces = source.open()[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done !== true) return controller.enqueue(value)
        onEnd()
        return controller.close()
      },
      async cancel(reason) {
        await pieces.return?.(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

function sendable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = bytes
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, length) : new Uint8Array(bytes)
}

const DOTS = /(?:^|\/)\.\.?(?=\/|$)/

/** Throws ArgumentError for a target that no URL can carry. */
function sendableTarget({ path: target, restAt }: Request): string {
  const [path = '', search = ''] = target.split(/(?=\?)/)
  const [start, rest] = restAt === null ? [path, ''] : [path.slice(0, restAt), path.slice(restAt)]
  const escaped = DOTS.test(rest) ? rest.replaceAll('/', '%2F') : rest
  if (DOTS.test(start) || DOTS.test(escaped))
    throw new ArgumentError(`fetch cannot request '${path}', because '.' and '..' have a meaning in URLs`)
  return start + escaped + search
}
