/**
 * Calls operations by their names: chooses a node, authenticates, repeats calls that may be repeated.
 *
 * Owns: the loop of one call. Knows nothing of: any operation; the generated tables define them. Nothing of the platform; a transport does.
 * Rules: after a 401 the client gets one new token and makes one more attempt with any method, because nothing was done. All other
 * failures are repeated as repeating.ts decides, at the next node if there is one. A stream that can be opened once is sent once.
 */
import type { Endpoints } from './endpoints.ts'
import { eventsOf } from './event-stream.ts'
import { ApiError, apiErrorOf, ArgumentError, NoAnswerError, WrongListenerError } from './errors.ts'
import { type Call, type Download, type Request, requestOf, type Route } from './operation.ts'
import { delayBefore, isPassing, mayRepeat, type RepeatPolicy } from './repeating.ts'
import type { TokenSource } from './token-source.ts'
import { type Attempted, type Clock, type Transport, unlessAborted } from './transport.ts'

export interface ClientParts<B> {
  readonly plane: 'data' | 'admin'
  readonly transport: Transport<B>
  readonly endpoints: Endpoints
  readonly policy: RepeatPolicy
  readonly clock: Clock
  /** 0 to 1. */
  readonly random: () => number
}

/** The operations: the call and the answer of each. */
type Operations = { readonly [name: string]: { readonly call: object; readonly answer: unknown } }

export type Named<O> = Extract<keyof O, string>
type CallOf<O, K extends keyof O> = O[K] extends { readonly call: infer C } ? C : never
type AnswerOf<O, K extends keyof O, B> = O[K] extends { readonly answer: infer A } ? Received<A, B> : never
type Received<A, B> = [A] extends [Download] ? B : A
/** The answer to a dry run. */
interface Planned {
  readonly dryRun: boolean
}
interface NotDry {
  readonly query?: { readonly dryRun?: false }
}
export interface CallOptions {
  readonly signal?: AbortSignal
  /** The caller states that executing the call twice does no harm. Default: decided by the method and the idempotency key. */
  readonly isRepeatable?: boolean
}
type Given<C> = object extends C ? [call?: C & CallOptions] : [call: C & CallOptions]

export interface ApiAnswer<Answer> {
  readonly status: number
  readonly requestId: string | null
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly answer: Answer
}

/** `B`: the bytes of an answer, as the transport gives them. */
export class ApiClient<O extends { readonly [K in keyof O]: Operations[string] }, B> {
  readonly #routes: Readonly<Record<Named<O>, Route>>
  readonly #parts: ClientParts<B>
  readonly #tokens: TokenSource | null

  /** `tokens` null: only for operations that need none. */
  constructor(routes: Readonly<Record<Named<O>, Route>>, parts: ClientParts<B>, tokens: TokenSource | null) {
    this.#routes = routes
    this.#parts = parts
    this.#tokens = tokens
  }

  /** Throws ApiError when the service refuses, NoAnswerError without an answer. The first overload excludes the plan of a dry run. */
  call<K extends Named<O>>(
    operation: K,
    ...given: Given<CallOf<O, K> & NotDry>
  ): Promise<ApiAnswer<Exclude<AnswerOf<O, K, B>, Planned>>>
  call<K extends Named<O>>(operation: K, ...given: Given<CallOf<O, K>>): Promise<ApiAnswer<AnswerOf<O, K, B>>>
  async call(operation: Named<O>, ...given: readonly unknown[]): Promise<ApiAnswer<never>> {
    const { signal, isRepeatable, ...call } = (given[0] ?? {}) as Call & CallOptions
    const { status, headers, answer } = await this.send(operation, call, {
      ...(signal === undefined ? {} : { signal }),
      ...(isRepeatable === undefined ? {} : { isRepeatable }),
    })
    // The table of routes and the types are generated from one document.
    return { status, headers, requestId: headers['x-request-id'] ?? null, answer: answer as never }
  }

  /** As `call`, for a call whose operation the compiler does not know. */
  async send(operation: Named<O>, call: Call, options: CallOptions): Promise<Sent> {
    const route: Route | undefined = this.#routes[operation]
    if (route === undefined) throw new ArgumentError(`There is no operation '${String(operation)}'`)
    const { signal, isRepeatable } = options
    signal?.throwIfAborted()
    const request = requestOf(route, call)
    const attempted = await this.#repeated({
      operation,
      route,
      request,
      signal,
      isRepeatable: !request.isOneWay && (isRepeatable ?? mayRepeat(request)),
    })
    const { status, headers } = attempted
    return { status, headers, answer: await answerOf(route, attempted) }
  }

  close(): Promise<void> {
    return this.#parts.transport.close()
  }

  async #repeated(prepared: Prepared): Promise<Attempted<B>> {
    const { clock, policy, random } = this.#parts
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.#authenticated(prepared)
      if ('body' in outcome) return outcome
      const retryAfter = outcome instanceof ApiError ? outcome.headers['retry-after'] : undefined
      prepared.signal?.throwIfAborted()
      const isFinal = outcome instanceof ApiError && !isPassing(outcome.status)
      // A request that no node received has changed nothing.
      const isUnreceived =
        outcome instanceof NoAnswerError && outcome.isUnreceived && !prepared.request.isOneWay
      const failed = { attempts, retryAfter, now: clock.now(), chance: random() }
      const delay = isFinal || !(prepared.isRepeatable || isUnreceived) ? null : delayBefore(policy, failed)
      if (delay === null) throw outcome
      await clock.wait(delay, prepared.signal)
    }
  }

  /** With a token if the operation takes one; a refused token is replaced once. */
  async #authenticated(prepared: Prepared): Promise<Attempted<B> | ApiError | NoAnswerError> {
    if (!prepared.route.takesToken || this.#tokens === null) return this.#once(prepared, null)
    const token = await unlessAborted(this.#tokens.token(), prepared.signal)
    const outcome = await this.#once(prepared, token)
    const isStale = outcome instanceof ApiError && outcome.status === 401 && this.#tokens.refused(token)
    if (!isStale || prepared.request.isOneWay) return outcome
    return this.#once(prepared, await unlessAborted(this.#tokens.token(), prepared.signal))
  }

  async #once(
    { operation, request, signal }: Prepared,
    token: string | null,
  ): Promise<Attempted<B> | ApiError | NoAnswerError> {
    const { transport, endpoints, plane } = this.#parts
    const endpoint = endpoints.current
    const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
    const authorized = { ...request, headers: { ...authorization, ...request.headers } }
    try {
      const attempted = await transport.attempt(endpoint, authorized, signal)
      if (attempted.status < 400) return attempted
      if (attempted.status >= 500) endpoints.failed(endpoint)
      const { status, headers } = attempted
      const refused = apiErrorOf(operation, { status, headers, bytes: await attempted.bytes() })
      if (!isOfOtherPlane(plane, refused)) return refused
      throw new WrongListenerError(endpoint, plane === 'data' ? 'admin' : 'data', refused)
    } catch (cause) {
      if (cause instanceof WrongListenerError || cause instanceof ArgumentError) throw cause
      if (signal?.aborted !== true) endpoints.failed(endpoint)
      return new NoAnswerError(operation, endpoint, { cause })
    }
  }
}

export interface Sent {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly answer: unknown
}

interface Prepared {
  readonly operation: string
  readonly route: Route
  readonly request: Request
  readonly signal: AbortSignal | undefined
  readonly isRepeatable: boolean
}

/** The admin listener knows no other credentials than admin tokens; the data listener answers unknown paths as S3 does, in XML. */
function isOfOtherPlane(
  plane: 'data' | 'admin',
  { status, code, operation, headers, problem }: ApiError,
): boolean {
  if (plane === 'admin')
    return headers['content-type'] === 'application/xml' && headers['x-served-by'] !== undefined
  if (status !== 401) return false
  if (operation === 'createToken') return code === 'unauthorized'
  return code === 'token_invalid' && /\badmin token\b/i.test(String(problem['message']))
}

async function answerOf<B>(route: Route, { status, body, pieces, bytes }: Attempted<B>): Promise<unknown> {
  if (route.answer === 'bytes' && status < 300) return body
  if (route.answer === 'events' && status < 300) return eventsOf(pieces())
  const whole = await bytes()
  if (whole.length === 0 || route.answer === 'empty') return undefined
  const text = new TextDecoder().decode(whole)
  return route.answer === 'json' ? (JSON.parse(text) as unknown) : text
}
