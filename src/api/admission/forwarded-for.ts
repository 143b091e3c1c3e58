/**
 * The addresses that proxies say a request came through, as they wrote them into its headers. [RFC 7239]
 *
 * Owns: reading `Forwarded` and `X-Forwarded-For`; pure. Knows nothing of: which proxy is believed, sockets.
 * Rule: what does not read as an address is null, never a guess; a reader stops there.
 */
import { isIP, SocketAddress } from 'node:net'

/** Hops behind these are not looked at. Count. */
const HOPS_MAX = 32

/** The client first, the last proxy before this node's peer last; null: a hop that is hidden or unreadable. */
export type Hops = readonly (string | null)[]

/** An address without brackets, port, zone and the IPv6 spelling of IPv4; null: none. */
export function bareAddress(text: string): string | null {
  const [, bracketed, rest = ''] = /^\[([^\]]*)\](:\d{1,5})?$/.exec(text) ?? []
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(text) ?? []
  const [address = ''] = (bracketed ?? withPort ?? text).split('%')
  const version = isIP(address)
  if (version === 0 || (bracketed !== undefined && version !== 6) || rest.length > 6) return null
  if (version === 4) return address
  // One spelling for one address.
  const known = new SocketAddress({ address, family: 'ipv6' }).address
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(known) ?? []
  return mapped ?? known
}

export function hopsOfForwardedFor(header: string): Hops {
  return header
    .split(',')
    .slice(-HOPS_MAX)
    .map((text) => bareAddress(text.trim()))
}

/** One pair of an element: `;` and `,` inside of quotes belong to the text. */
const PAIR = /\s*([!#$%&'*+.^_`|~\w-]+)=("(?:[^"\\]|\\.)*"|[!#$%&'*+.^_`|~\w-]*)\s*([;,]|$)/y

/** A header that breaks the grammar ends in a hop that is unreadable: nothing to its left is believed. */
export function hopsOfForwarded(header: string): Hops {
  const hops: (string | null)[] = []
  let current: string | null = null
  let isNamed = false
  PAIR.lastIndex = 0
  while (PAIR.lastIndex < header.length) {
    const pair = PAIR.exec(header)
    if (pair === null) return [null]
    const [, name = '', value = '', end = ''] = pair
    if (name.toLowerCase() === 'for') {
      // Named twice in one element, it names no address.
      current = isNamed ? null : bareAddress(unquoted(value))
      isNamed = true
    }
    if (end === ';') continue
    hops.push(current)
    current = null
    isNamed = false
    if (end === '') break
  }
  return hops.length === 0 ? [null] : hops.slice(-HOPS_MAX)
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value
}
