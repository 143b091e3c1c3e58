/**
 * The address of the client of a request: the only place that decides it, for policies, audit rows, limits and logs.
 *
 * Owns: which proxies are believed, and how far. Knows nothing of: what an address may do.
 * Rules: the word of a peer that is no trusted proxy counts for nothing. Headers are read from the right, proxy by proxy, up to the first
 * address that is no trusted proxy: what stands left of it was written by the client. [RFC 7239 8.1]
 */
import type { FastifyRequest } from 'fastify'
import { Attached } from '../../base/attached.ts'
import { parseRange, rangesOf } from '../../base/network-address.ts'
import { Refusal } from '../../base/refusal.ts'
import type { Config } from '../../config/types.ts'
import { placeOf } from '../raw/place-of.ts'
import type { RawRequest, RawSocket } from '../raw/raw-pair.ts'
import { bareAddress, type Hops, hopsOfForwarded, hopsOfForwardedFor } from './forwarded-for.ts'

/** What the audit log and limits see where a socket has no address, as one that is closed. */
const NO_ADDRESS = 'unknown'
const isLoopback = rangesOf([parseRange('127.0.0.0/8'), parseRange('::1')].filter((range) => range !== null))

interface Side {
  readonly address: string
  /** The other side of the connection is this machine or a trusted proxy. */
  readonly isSheltered: boolean
}

/** By connection: its requests share it. */
const CONNECTED = new Attached<RawSocket, Side>()
/** By request: a connection may be gone when its address is written down. */
const SIDES = new Attached<RawRequest, Side>()

/** An IPv4 or IPv6 address without port, or "unknown". IPv4 in the spelling of IPv6 is written as IPv4. */
export function clientAddress({ raw }: Pick<FastifyRequest, 'raw'>): string {
  return SIDES.get(raw)?.address ?? peerAddress(raw.socket)
}

/** Whether the other side of the connection is this machine or a trusted proxy. */
export function isSheltered({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return SIDES.get(raw)?.isSheltered ?? false
}

/** The other side of a connection, before any header is believed. */
function peerAddress({ remoteAddress }: RawSocket): string {
  return remoteAddress === undefined ? NO_ADDRESS : (bareAddress(remoteAddress) ?? remoteAddress)
}

export class ClientAddresses {
  readonly isTrusted: (address: string) => boolean
  readonly #places = new Map<string, { readonly socket: RawSocket; readonly address: string }>()
  readonly hasTrusted: boolean

  constructor({ trustedProxies }: Pick<Config['listeners'], 'trustedProxies'>) {
    this.hasTrusted = trustedProxies.length > 0
    this.isTrusted = rangesOf(trustedProxies.map(parseRange).filter((range) => range !== null))
  }

  isTrustedPeer(socket: RawSocket): boolean {
    return this.isTrusted(peerAddress(socket))
  }

  /** What the header of the PROXY protocol said, until the connection closes. TLS puts another socket around each: the place is the same. */
  connectedFrom(socket: RawSocket, address: string): void {
    const place = placeOf(socket)
    this.#places.set(place, { socket, address })
    socket.once('close', () => {
      if (this.#places.get(place)?.socket === socket) this.#places.delete(place)
    })
  }

  /** Of a connection: as the PROXY protocol says, or of its other side. */
  ofConnection(socket: RawSocket): string {
    const place = this.#places.size === 0 ? undefined : this.#places.get(placeOf(socket))
    return place?.address ?? peerAddress(socket)
  }

  /**
   * Decides it for `clientAddress`, before anything else looks at the request.
   * Throws Refusal invalid_request when both headers are there and name two clients: one of them was written by the client.
   */
  admit(request: RawRequest): void {
    const side = CONNECTED.get(request.socket) ?? this.#meet(request.socket)
    SIDES.set(request, side)
    const { address: peer } = side
    if (!this.hasTrusted || !this.isTrusted(peer)) return
    const found = claimsOf(request).map((hops) => this.#firstUntrusted(peer, hops))
    const [address = peer, other = address] = found
    if (other !== address)
      throw new Refusal(
        'invalid_request',
        'The headers Forwarded and X-Forwarded-For name different clients: the proxy has to remove the one that it does not write',
      )
    SIDES.set(request, { ...side, address })
  }

  #meet(socket: RawSocket): Side {
    const other = peerAddress(socket)
    const isSheltered = isLoopback(other) || this.isTrusted(other)
    const side = { address: this.ofConnection(socket), isSheltered }
    CONNECTED.set(socket, side)
    return side
  }

  /** From the right: each trusted proxy is believed about the hop before it. All trusted: the leftmost is the client. */
  #firstUntrusted(peer: string, hops: Hops): string {
    let believed = peer
    for (const hop of hops.toReversed()) {
      if (hop === null) return believed
      believed = hop
      if (!this.isTrusted(hop)) return believed
    }
    return believed
  }
}

function claimsOf({ headers }: RawRequest): readonly Hops[] {
  const { forwarded } = headers
  const forwardedFor = headers['x-forwarded-for']
  return [
    ...(forwarded === undefined ? [] : [hopsOfForwarded(forwarded)]),
    ...(forwardedFor === undefined ? [] : [hopsOfForwardedFor(String(forwardedFor))]),
  ]
}
