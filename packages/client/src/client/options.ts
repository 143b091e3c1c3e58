/**
 * What a client is made of, and the parts that both clients make from it.
 */
import { Endpoints } from '../call/endpoints.ts'
import { ArgumentError } from '../call/errors.ts'
import { FetchTransport } from '../call/fetch-transport.ts'
import type { ClientParts } from '../call/api-client.ts'
import { closest } from '../call/closest.ts'
import { REPEAT_POLICY, type RepeatPolicy } from '../call/repeating.ts'
import { type Clock, SYSTEM_CLOCK } from '../call/transport.ts'
import { VERSION } from '../call/version.ts'

export interface HoldfastOptions {
  /** URLs of nodes, such as `https://store.example:9000`; the first is used until it fails. At most 64. */
  readonly endpoints: string | readonly string[]
  /** From the end of a request to the headers of the answer; 60,000 unless given. */
  readonly answerMs?: number
  /** Between two pieces of an answer; 60,000 unless given. */
  readonly silenceMs?: number
  /** How often and how fast calls are repeated. */
  readonly repeat?: Partial<RepeatPolicy>
  /** Stands before the name of this client in the User-Agent; a browser sends its own. */
  readonly userAgent?: string
  /** In the place of the platform's. */
  readonly fetch?: typeof fetch
  readonly clock?: Clock
  /** 0 to 1; spreads repeated calls. */
  readonly random?: () => number
}

const NAMES = ['endpoints', 'answerMs', 'silenceMs', 'repeat', 'userAgent', 'fetch', 'clock', 'random']

/** Throws ArgumentError for an option that does not exist or cannot work. `more`: the names of the credentials. */
export function partsOf(
  plane: 'data' | 'admin',
  options: HoldfastOptions,
  more: readonly string[],
): ClientParts<ReadableStream<Uint8Array>> {
  for (const name of Object.keys(options)) {
    const known = [...NAMES, ...more]
    if (known.includes(name)) continue
    const near = closest(name, known)
    throw new ArgumentError(
      `A client has no option '${name}': ${near === null ? `it has ${known.join(', ')}` : `did you mean '${near}'?`}`,
    )
  }
  const { endpoints, answerMs = 60_000, silenceMs = 60_000 } = options
  if (endpoints === undefined) throw new ArgumentError("A client needs the option 'endpoints'")
  for (const [name, ms] of Object.entries({ answerMs, silenceMs }))
    if (!(Number.isFinite(ms) && ms > 0))
      throw new ArgumentError(`'${name}' is a time in milliseconds, not ${ms}`)
  const ownFetch = options.fetch ?? globalThis.fetch
  if (typeof ownFetch !== 'function')
    throw new ArgumentError("This platform has no fetch: give one as the option 'fetch'")
  return {
    plane,
    transport: new FetchTransport(ownFetch, { answerMs, silenceMs }, userAgentOf(options.userAgent)),
    endpoints: new Endpoints(typeof endpoints === 'string' ? [endpoints] : endpoints),
    policy: { ...REPEAT_POLICY, ...options.repeat },
    clock: options.clock ?? SYSTEM_CLOCK,
    random: options.random ?? Math.random,
  }
}

/** Null in browsers: a User-Agent of its own would need the leave of CORS rules. */
function userAgentOf(own: string | undefined): string | null {
  const { document, WorkerGlobalScope, Deno, process } = globalThis as Readonly<Record<string, unknown>>
  const isBrowser =
    document !== undefined || (WorkerGlobalScope !== undefined && Deno === undefined && process === undefined)
  if (isBrowser) return null
  return `${own === undefined ? '' : `${own} `}holdfast-client/${VERSION}`
}
