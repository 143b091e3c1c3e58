/**
 * The header of the PROXY protocol, version 2, with which a proxy begins a connection. [PROXY protocol 2.2]
 *
 * Owns: the bytes; pure. Knows nothing of: sockets, which proxy is believed.
 * Layout: 12 bytes signature | version and command | family and transport | length of the rest, 16 bits | addresses, ports, further fields.
 * Rule: the first byte that cannot belong to a header ends the reading, so that no connection waits for bytes that never come.
 */
const SIGNATURE = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a)
export const PROXY_HEADER_BYTES_MIN = 16
/** Addresses take 36 bytes; proxies of clouds append fields of some hundred bytes. */
const REST_BYTES_MAX = 2048
const FAMILIES = { unspecified: 0x0, inet: 0x1, inet6: 0x2, unix: 0x3 } as const
const STREAM = 0x1

export type ProxyHeader =
  /** So many bytes must be there before it can be read again. */
  | { readonly kind: 'short'; readonly bytesMin: number }
  | { readonly kind: 'broken'; readonly why: string }
  /** `address` null: the connection is the proxy's own, or has no address of a network. */
  | { readonly kind: 'whole'; readonly bytes: number; readonly address: string | null }

export function readProxyHeader(given: Uint8Array): ProxyHeader {
  const known = Math.min(given.length, SIGNATURE.length)
  for (let at = 0; at < known; at++)
    if (given[at] !== SIGNATURE[at]) return broken('it does not begin with the signature')
  if (given.length < PROXY_HEADER_BYTES_MIN) return { kind: 'short', bytesMin: PROXY_HEADER_BYTES_MIN }
  const view = new DataView(given.buffer, given.byteOffset, given.byteLength)
  const version = view.getUint8(12) >> 4
  const command = view.getUint8(12) & 0xf
  const rest = view.getUint16(14)
  if (version !== 2) return broken(`it is of version ${version}, expected 2`)
  if (command > 1) return broken(`command ${command} is unknown`)
  if (rest > REST_BYTES_MAX) return broken(`it announces ${rest} bytes, at most ${REST_BYTES_MAX} are taken`)
  const bytes = PROXY_HEADER_BYTES_MIN + rest
  if (given.length < bytes) return { kind: 'short', bytesMin: bytes }
  // Local: a health check of the proxy itself. What the rest says is to be ignored.
  if (command === 0) return { kind: 'whole', bytes, address: null }
  return withAddress(view, rest)
}

function withAddress(view: DataView, rest: number): ProxyHeader {
  const bytes = PROXY_HEADER_BYTES_MIN + rest
  const family = view.getUint8(13) >> 4
  const transport = view.getUint8(13) & 0xf
  if (family === FAMILIES.unspecified || family === FAMILIES.unix)
    return { kind: 'whole', bytes, address: null }
  if (transport !== STREAM) return broken(`transport ${transport} is no stream`)
  if (family === FAMILIES.inet)
    return rest < 12 ? broken('it ends within an address') : { kind: 'whole', bytes, address: ipv4(view) }
  if (family === FAMILIES.inet6)
    return rest < 36 ? broken('it ends within an address') : { kind: 'whole', bytes, address: ipv6(view) }
  return broken(`address family ${family} is unknown`)
}

function ipv4(view: DataView): string {
  return [0, 1, 2, 3].map((at) => view.getUint8(PROXY_HEADER_BYTES_MIN + at)).join('.')
}

function ipv6(view: DataView): string {
  return Array.from({ length: 8 }, (_, n) =>
    view.getUint16(PROXY_HEADER_BYTES_MIN + 2 * n).toString(16),
  ).join(':')
}

const broken = (why: string): ProxyHeader => ({ kind: 'broken', why })
