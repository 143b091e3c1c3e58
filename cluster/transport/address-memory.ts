/**
 * A cache of the addresses of peers' names.
 *
 * Owns: at most one lookup per name at a time, and its last good answer. Knows nothing of: peers, connections.
 * Rule: a name that was resolved once never waits for a name server again. Followers hold no connection to each other, so they
 * resolve each other at the very moment when the leader has failed, and perhaps the name server with it. Each use refreshes the
 * cached addresses, and the caller does so periodically. A peer that moved is found with the next connection; an unknown peer at
 * its old address is refused by certificate, cluster and node id.
 */
import { type LookupAddress, lookup as resolveName } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

/** Asks the system; `all` and `callback` as in dns.lookup. */
export type ResolveName = (
  name: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

type Waiter = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** Connections that wait for the first answer about one name. */
const WAITERS_MAX = 64

export class AddressMemory {
  readonly #resolve: ResolveName
  /** Both maps are bounded by the number of names that members ever had. */
  readonly #known = new Map<string, LookupAddress[]>()
  readonly #asking = new Map<string, Waiter[]>()

  constructor(resolve: ResolveName = resolveName) {
    this.#resolve = resolve
  }

  /** For the `lookup` option of net.connect and tls.connect. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    const answer: Waiter = (error, addresses) => {
      const wanted = addresses.filter(({ family }) => !options.family || family === familyOf(options.family))
      const [first] = wanted
      if (error !== null) callback(error, '')
      else if (first === undefined) callback(notFound(name), '')
      else if (options.all) callback(null, wanted)
      else callback(null, first.address, first.family)
    }
    const known = this.#known.get(name)
    if (known === undefined) return this.#ask(name, answer)
    // Never within the call: the socket is not ready for its address yet.
    process.nextTick(answer, null, known)
    this.#ask(name)
  }

  /** Resolves a name before it is needed, so that the cache has a recent answer. */
  remember(name: string): void {
    if (isIP(name) === 0) this.#ask(name)
  }

  #ask(name: string, waiter?: Waiter): void {
    const asking = this.#asking.get(name)
    if (asking === undefined) {
      this.#asking.set(name, waiter === undefined ? [] : [waiter])
      this.#resolve(name, { all: true }, (error, addresses) => this.#answered(name, error, addresses ?? []))
    } else if (waiter !== undefined) {
      if (asking.length < WAITERS_MAX) asking.push(waiter)
      else process.nextTick(waiter, notFound(name), [])
    }
  }

  #answered(name: string, error: NodeJS.ErrnoException | null, addresses: LookupAddress[]): void {
    const waiters = this.#asking.get(name) ?? []
    this.#asking.delete(name)
    if (error === null && addresses.length > 0) this.#known.set(name, addresses)
    for (const waiter of waiters) waiter(error, addresses)
  }
}

const familyOf = (family: number | string): number => (family === 'IPv6' || family === 6 ? 6 : 4)

function notFound(name: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`No address of '${name}' was found in time`)
  error.code = 'ENOTFOUND'
  return error
}
