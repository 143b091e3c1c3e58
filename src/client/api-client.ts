/**
 * Calls operations by their names: chooses a node, authenticates, repeats calls that may be repeated.
 *
 * Owns: the loop of one call. Knows nothing of: any operation; the generated tables define them.
 * Rules: after a 401 the client gets one new token and makes one more attempt with any method, because nothing was done. All other
 * failures are repeated as repeating.ts decides, at the next node if there is one.
 */
import type { Readable } from 'node:stream'
import { ApiError, NoAnswerError } from './api-error.ts'
import type { Attempted, Connections } from './attempt.ts'
import type { Endpoints } from './endpoints.ts'
import { type Call, type Request, requestOf, type Route } from './base/operation.ts'
import { delayBefore, isPassing, mayRepeat, type RepeatPolicy } from './repeating.ts'
import type { TokenSource } from './token-source.ts'

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Rejects when the signal is aborted. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>
}

export interface ClientParts {
  readonly connections: Connections
  readonly endpoints: Endpoints
  readonly policy: RepeatPolicy
  readonly clock: Clock
  /** 0 to 1. */
  readonly random: () => number
}

/** The operations: the call and the answer of each. */
type Operations = { readonly [name: string]: { readonly call: object; readonly answer: unknown } }

type Named<O> = Extract<keyof O, string>
type CallOf<O, K extends keyof O> = O[K] extends { readonly call: infer C } ? C : never
type AnswerOf<O, K extends keyof O> = O[K] extends { readonly answer: infer A } ? A : never
/** The answer to a dry run. */
interface Planned {
  readonly dryRun: boolean
}
interface NotDry {
  readonly query?: { readonly dryRun?: false }
}
interface Options {
  readonly signal?: AbortSignal
  /** The caller states that executing the call twice does no harm. Default: decided by the method and the idempotency key. */
  readonly isRepeatable?: boolean
}
type Given<C> = object extends C ? [call?: C & Options] : [call: C & Options]

export interface ApiAnswer<Answer> {
  readonly status: number
  readonly requestId: string | null
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly answer: Answer
}

export class ApiClient<O extends { readonly [K in keyof O]: Operations[string] }> {
  readonly #routes: Readonly<Record<Named<O>, Route>>
  readonly #parts: ClientParts
  readonly #tokens: TokenSource | null

  /** `tokens` null: only for operations that need none. */
  constructor(routes: Readonly<Record<Named<O>, Route>>, parts: ClientParts, tokens: TokenSource | null) {
    this.#routes = routes
    this.#parts = parts
    this.#tokens = tokens
  }

  /** Throws ApiError when the service refuses, NoAnswerError without an answer. The first overload excludes the plan of a dry run. */
  call<K extends Named<O>>(
    operation: K,
    ...given: Given<CallOf<O, K> & NotDry>
  ): Promise<ApiAnswer<Exclude<AnswerOf<O, K>, Planned>>>
  call<K extends Named<O>>(operation: K, ...given: Given<CallOf<O, K>>): Promise<ApiAnswer<AnswerOf<O, K>>>
  async call(operation: Named<O>, ...given: readonly unknown[]): Promise<ApiAnswer<never>> {
    const { signal, isRepeatable, ...call } = (given[0] ?? {}) as Call & Options
    const route = this.#routes[operation]
    const request = requestOf(route, call)
    const prepared = { operation, route, request, signal, isRepeatable: isRepeatable ?? mayRepeat(request) }
    const attempted = await this.#repeated(prepared)
    const { status, headers, body } = attempted
    // The table of routes and the types are generated from one document.
    const answer = (await answerOf(route, status, body)) as never
    return { status, headers, requestId: headers['x-request-id'] ?? null, answer }
  }

  close(): Promise<void> {
    return this.#parts.connections.close()
  }

  async #repeated(prepared: Prepared): Promise<Attempted> {
    const { clock, policy, random } = this.#parts
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.#authenticated(prepared)
      if ('body' in outcome) return outcome
      const retryAfter = outcome instanceof ApiError ? outcome.headers['retry-after'] : undefined
      const isFinal = outcome instanceof ApiError && !isPassing(outcome.status)
      // A request that no node received has changed nothing.
      const isUnreceived = outcome instanceof NoAnswerError && outcome.isUnreceived
      const failed = { attempts, retryAfter, now: clock.now(), chance: random() }
      const delay =
        isFinal || !(prepared.isRepeatable || isUnreceived) || prepared.signal?.aborted
          ? null
          : delayBefore(policy, failed)
      if (delay === null) throw outcome
      await clock.wait(delay, prepared.signal)
    }
  }

  /** With a token if the operation takes one; a refused token is replaced once. */
  async #authenticated(prepared: Prepared): Promise<Attempted | ApiError | NoAnswerError> {
    if (!prepared.route.takesToken || this.#tokens === null) return this.#once(prepared, null)
    const token = await this.#tokens.token()
    const outcome = await this.#once(prepared, token)
    const isStale = outcome instanceof ApiError && outcome.status === 401 && this.#tokens.refused(token)
    return isStale ? this.#once(prepared, await this.#tokens.token()) : outcome
  }

  async #once(
    { operation, request, signal }: Prepared,
    token: string | null,
  ): Promise<Attempted | ApiError | NoAnswerError> {
    const { connections, endpoints } = this.#parts
    const endpoint = endpoints.current
    const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
    const authorized = { ...request, headers: { ...authorization, ...request.headers } }
    try {
      const attempted = await connections.attempt(endpoint, authorized, signal)
      if (attempted.status < 400) return attempted
      if (attempted.status >= 500) endpoints.failed(endpoint)
      return new ApiError(operation, { ...attempted, bytes: await collected(attempted.body) })
    } catch (cause) {
      if (signal?.aborted !== true) endpoints.failed(endpoint)
      return new NoAnswerError(operation, endpoint, { cause })
    }
  }
}

interface Prepared {
  readonly operation: string
  readonly route: Route
  readonly request: Request
  readonly signal: AbortSignal | undefined
  readonly isRepeatable: boolean
}

async function answerOf(route: Route, status: number, body: Readable): Promise<unknown> {
  if (route.answer === 'bytes' && status < 300) return body
  const bytes = await collected(body)
  if (bytes.length === 0 || route.answer === 'empty') return undefined
  return route.answer === 'json' ? (JSON.parse(bytes.toString()) as unknown) : bytes.toString()
}

async function collected(body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
