/**
 * Request headers that ask for something that this version does not do: each is refused by its name.
 *
 * Owns: the table. Rule: a header that would change what a request means is carried out or refused; a client that sends one relies on
 * it. What RFC 9110 lets a server ignore, such as `Accept` and `Prefer`, is not in the table.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Recent } from '../base/recent.ts'
import { Refusal } from '../base/refusal.ts'
import type { RouteDefinition } from './route.ts'

interface Refused {
  readonly name: RegExp
  /** What to do instead: the end of a sentence. */
  readonly instead: string
}

export const REFUSED_HEADERS: readonly Refused[] = [
  { name: /^digest$/, instead: 'it is obsolete, send Content-Digest or Repr-Digest' },
  { name: /^want-(digest|content-digest|repr-digest)$/, instead: 'answers carry X-Service-Checksum-*' },
  // CloudFront marks what it passes on with x-amz-cf-id, which asks for nothing.
  { name: /^x-amz-(?!cf-)/, instead: 'this is not the S3 API, its headers begin with X-Service-' },
  { name: /^x-(http-method|http-method-override|method-override)$/, instead: 'send the method itself' },
  { name: /^(if|lock-token|overwrite|destination)$/, instead: 'this is not WebDAV' },
]

const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since']
const OWN_PREFIX = 'x-service-'
/** Taken with every request, as the same request may be sent again. */
const OWN_ANYWHERE = 'x-service-idempotency-key'

/** Names that no route looks at, as far as clients have sent them: those of one client are the same with each request. */
const PLAIN = new Recent<true>({ countMax: 256, weightMax: 16 * 1024 })

interface Taken {
  readonly names: readonly string[]
  readonly takesOwn: boolean
}

const TAKEN = new WeakMap<RouteDefinition, Taken>()

function takenBy(route: RouteDefinition): Taken {
  const known = TAKEN.get(route)
  if (known !== undefined) return known
  const names = (route.requestHeaders ?? []).map(({ name }) => name.toLowerCase())
  const taken = { names, takesOwn: names.some((name) => name.startsWith(OWN_PREFIX)) }
  TAKEN.set(route, taken)
  return taken
}

/** Throws Refusal not_implemented; invalid_request for a header of this service that belongs to other routes. */
export function refuseUnsupportedHeaders(route: RouteDefinition, headers: IncomingHttpHeaders): void {
  for (const name in headers) if (PLAIN.get(name) === undefined) refuseUnsupported(route, name)
}

function refuseUnsupported(route: RouteDefinition, name: string): void {
  const { method, body } = route
  const { names: taken, takesOwn } = takenBy(route)
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  const refused = REFUSED_HEADERS.find((one) => one.name.test(name))
  if (refused !== undefined) refuse(name, refused.instead)
  // The routes that take some of these refuse the others themselves, and say which they take.
  if (!isRead && !takesOwn && CONDITIONS.includes(name) && !taken.includes(name))
    refuse(name, 'this operation has no such condition')
  if (name === 'trailer' && body.kind !== 'bytes') refuse(name, 'trailers belong to uploads')
  if (name.startsWith(OWN_PREFIX) && name !== OWN_ANYWHERE && !takesOwn)
    throw new Refusal('invalid_request', `The header ${name.slice(0, 80)} is not taken by this operation`)
  const isOfSome = CONDITIONS.includes(name) || name === 'trailer' || name.startsWith(OWN_PREFIX)
  if (!isOfSome) PLAIN.set(name, true, name.length)
}

function refuse(name: string, instead: string): never {
  throw new Refusal(
    'not_implemented',
    `The header ${name.slice(0, 80)} is not supported here: ${instead}; it is refused rather than ignored`,
  )
}
