/**
 * Network addresses and ranges of them, as policies, access keys and admin tokens name them.
 *
 * Owns: what is a range, and which addresses lie in it. Knows nothing of: where the address of a caller comes from.
 * Rule: an IPv4 range holds for the same addresses written as IPv6, in which a socket for both shows them.
 */
import { BlockList, isIP } from 'node:net'

/** What addressRange takes, as JSON Schema says it: an address, or one with the bits of a prefix. [RFC 3986 3.2.2] */
export const ADDRESS_RANGE_PATTERN = addressRangePattern()

function addressRangePattern(): string {
  const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
  const ipv4 = `${octet}(\\.${octet}){3}`
  const group = '[0-9A-Fa-f]{1,4}'
  const last = `(${group}:${group}|${ipv4})`
  const atMost = (groups: number): string => (groups === 0 ? '' : `((${group}:){0,${groups - 1}}${group})?`)
  const ipv6 = [
    `(${group}:){6}${last}`,
    ...[0, 1, 2, 3, 4, 5].map((groups) => `${atMost(groups)}::(${group}:){${5 - groups}}${last}`),
    `${atMost(6)}::${group}`,
    `${atMost(7)}::`,
  ].join('|')
  return `^(${ipv4}(/([0-9]|[12][0-9]|3[0-2]))?|(${ipv6})(/([1-9]?[0-9]|1[01][0-9]|12[0-8]))?)$`
}

/** Whether an address lies in the range `value`, such as 203.0.113.0/24; null: `value` is no address and no range. */
export function addressRange(value: string): ((address: string) => boolean) | null {
  const [address = '', bits, ...rest] = value.split('/')
  const version = isIP(address)
  const bitsMax = version === 4 ? 32 : 128
  const length = bits === undefined ? bitsMax : /^(0|[1-9]\d{0,2})$/.test(bits) ? Number(bits) : Number.NaN
  if (version === 0 || address.includes('%') || rest.length > 0 || !(length <= bitsMax)) return null
  const list = new BlockList()
  list.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6')
  return (given) => list.check(given, isIP(given) === 4 ? 'ipv4' : 'ipv6')
}

/** As ranges compare it; undefined for what is no address, such as the name of a local socket. */
export function comparableAddress(address: string): string | undefined {
  const [bare = ''] = address.split('%')
  return isIP(bare) === 0 ? undefined : bare
}
