/**
 * Network addresses and ranges of them, as policies, access keys and admin tokens name them.
 *
 * Owns: what is a range, and which addresses lie in it. Knows nothing of: where the address of a caller comes from.
 * Rule: an IPv4 range holds for the same addresses written as IPv6, in which a socket for both shows them.
 */
import { BlockList, isIP } from 'node:net'

/** Whether an address lies in the range `value`, such as 203.0.113.0/24; null: `value` is no address and no range. */
export function addressRange(value: string): ((address: string) => boolean) | null {
  const [address = '', bits, ...rest] = value.split('/')
  const version = isIP(address)
  const bitsMax = version === 4 ? 32 : 128
  const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
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
