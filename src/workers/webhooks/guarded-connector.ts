/**
 * Connections to webhooks: a name is resolved here, each of its addresses is checked, and one of exactly these addresses is
 * connected to.
 *
 * Owns: which address a socket may go to. Knows nothing of: HTTP.
 * Rules: one address that is not public refuses the name, so that no answer of a name server leads inside; the name is not resolved
 * a second time. Only targets that an operator has opened are spared the check, and their connections serve no others.
 */
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { isPublicAddress } from '../../operations/notifications/public-address.ts'
import { hostOf } from '../../operations/notifications/target-url.ts'

const CONNECT_MS_MAX = 5000
const ADDRESSES_TRIED_MAX = 3
const DNS_TIMEOUT_MS = 2000
const DNS_TRIES = 2

/** All addresses of a name, best first. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>

export interface Guard {
  readonly resolve: Resolve
  /** Certificates to trust beside those of Node. */
  readonly ca?: string
  /** Whether an address may be connected to; default: it is public. */
  readonly isAllowed?: (address: string) => boolean
}

/** One sentence for names that are unknown and those that lead inside: two would tell a tenant which internal names exist. */
export const NOT_REACHABLE = 'the name does not exist or leads to an address that is not public'

/** Connections to the target are not allowed. */
export class TargetRefusedError extends Error {}

/**
 * Queries the name servers of the machine. Not the resolver of the system: its calls block threads that every file access of the
 * process needs, for as long as a name server delays its answer. So /etc/hosts has no effect here, except for `localhost`.
 */
export function systemResolve(): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  return async (host) => {
    if (/(^|\.)localhost\.?$/i.test(host)) return ['127.0.0.1', '::1']
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const [first] = found
    if (addresses.length === 0 && first.status === 'rejected') throw first.reason
    return addresses
  }
}

/** `mayBeInside`: addresses need not be public. */
export function guardedConnector(guard: Guard, mayBeInside: boolean): buildConnector.connector {
  const { ca } = guard
  const connect = buildConnector({
    allowH2: false,
    timeout: CONNECT_MS_MAX,
    ...(ca === undefined ? {} : { ca }),
  })
  return (options, callback) => {
    const { protocol, hostname, port } = options
    const url = new URL(
      `${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port || defaultPort(protocol)}`,
    )
    addressesOf(url, guard, mayBeInside).then(
      (addresses) => tryInOrder(addresses),
      (error: Error) => callback(error, null),
    )

    function tryInOrder([address = '', ...others]: readonly string[]): void {
      const name = hostOf(url)
      const target = { ...options, hostname: address, ...(isIP(name) === 0 ? { servername: name } : {}) }
      connect(target, (...outcome) => {
        if (outcome[0] !== null && others.length > 0) tryInOrder(others)
        else callback(...outcome)
      })
    }
  }
}

/** The addresses that connections are allowed to. Throws TargetRefusedError. */
export async function addressesOf(
  url: URL,
  { resolve, isAllowed = isPublicAddress }: Omit<Guard, 'ca'>,
  mayBeInside: boolean,
): Promise<readonly string[]> {
  const host = hostOf(url)
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  if (addresses.length === 0) throw new TargetRefusedError(NOT_REACHABLE)
  if (!mayBeInside && !addresses.every(isAllowed)) throw new TargetRefusedError(NOT_REACHABLE)
  return addresses.slice(0, ADDRESSES_TRIED_MAX)
}

function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80'
}
