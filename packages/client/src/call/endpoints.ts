/**
 * The nodes of a client: any node serves any request, so one is used until it fails.
 *
 * Rules: an endpoint that cannot work is refused at once; a call that fails at one node continues at the next; two calls that fail at
 * the same node advance by one place, not two.
 */
import { ArgumentError } from './errors.ts'

const ENDPOINTS_MAX = 64

export class Endpoints {
  readonly #all: readonly [string, ...string[]]
  #at = 0

  /** Throws ArgumentError when one of them is no address of a node. */
  constructor(endpoints: readonly string[]) {
    const [first, ...others] = endpoints.map(endpointOf)
    if (first === undefined)
      throw new ArgumentError('A client needs at least one endpoint, such as http://localhost:9000')
    if (endpoints.length > ENDPOINTS_MAX)
      throw new ArgumentError(`A client has at most ${ENDPOINTS_MAX} endpoints, not ${endpoints.length}`)
    this.#all = [first, ...others]
  }

  get count(): number {
    return this.#all.length
  }

  get current(): string {
    return this.#all[this.#at] ?? this.#all[0]
  }

  failed(endpoint: string): void {
    if (endpoint === this.current) this.#at = (this.#at + 1) % this.#all.length
  }
}

function endpointOf(text: unknown): string {
  if (typeof text !== 'string')
    throw new ArgumentError(`An endpoint is a text such as http://localhost:9000, not ${String(text)}`)
  const url = parsed(text)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ArgumentError(notOne(text))
  if (url.username !== '' || url.password !== '')
    throw new ArgumentError(
      `'${url.host}' has credentials in its URL: give them as accessKeyId and secretKey`,
    )
  if (url.search !== '' || url.hash !== '')
    throw new ArgumentError(
      `'${text}' is no endpoint: leave out everything from '${url.search === '' ? '#' : '?'}' on`,
    )
  return url.href.replace(/\/$/, '')
}

function notOne(text: string): string {
  const guess = /^[a-z][a-z+.-]*:\/\//i.test(text) ? null : parsed(`http://${text}`)
  const isPlausible = guess !== null && guess.pathname === '/' && guess.hostname !== ''
  const advice = isPlausible ? `did you mean http://${text}?` : 'expected one such as http://localhost:9000'
  return `'${text}' is no endpoint: ${advice}`
}

function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
