/**
 * Network addresses: ranges of them, as settings, policies, access keys and admin tokens name them, and the network that one client has for itself.
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

export interface ParsedRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly bits: number
}

/** `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`; null: no address and no range. */
export function parseRange(text: string): ParsedRange | null {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  const bitsMax = version === 4 ? 32 : 128
  const length = bits === undefined ? bitsMax : /^(0|[1-9]\d{0,2})$/.test(bits) ? Number(bits) : Number.NaN
  if (version === 0 || address.includes('%') || rest.length > 0 || !(length <= bitsMax)) return null
  return { address, family: version === 4 ? 'ipv4' : 'ipv6', bits: length }
}

/** All of them at once, so that many ranges are asked in one step. */
export function rangesOf(ranges: readonly ParsedRange[]): (address: string) => boolean {
  const list = new BlockList()
  for (const { address, bits, family } of ranges) list.addSubnet(address, bits, family)
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Whether an address lies in the range `text`; null: it is no address and no range. */
export function addressRange(text: string): ((address: string) => boolean) | null {
  const range = parseRange(text)
  return range === null ? null : rangesOf([range])
}

/** As ranges compare it; undefined for what is no address, such as the name of a local socket. */
export function comparableAddress(address: string): string | undefined {
  const [bare = ''] = address.split('%')
  return isIP(bare) === 0 ? undefined : bare
}

/** A client has as many IPv6 addresses as it likes within its /64, which has one spelling here. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length)
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...after]
  const prefix = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${prefix.join(':')}::/64`
}
