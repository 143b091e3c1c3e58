/**
 * Which IP addresses are of the public internet: the only ones a webhook may reach unless an operator says otherwise.
 *
 * Owns: the ranges. Knows nothing of: names, sockets.
 * Rule: what is not known to be public is not. Addresses that carry another one inside (IPv4-mapped, NAT64, 6to4, Teredo) are
 * never public, regardless of what they carry. [RFC 6890] [RFC 8190]
 */
import { BlockList, isIP } from 'node:net'

const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Of the host below a virtual machine, in one large cloud: public only by its number.
  '168.63.129.16/32',
]
/** Of what is global unicast. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']
/** Never a machine that an operator means: of one link, of many machines, or the metadata of a cloud, which holds credentials. */
const NO_STORE_V4 = ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32']
const NO_STORE_V6 = ['::/128', '::ffff:0:0/96', '64:ff9b::/96', 'fe80::/10', 'ff00::/8', 'fd00:ec2::254/128']
const GLOBAL_UNICAST_V6 = '2000::/3'

function blocked(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [net = '', bits] = range.split('/')
    list.addSubnet(net, Number(bits), family)
  }
  return list
}

const V4 = blocked('ipv4', NOT_PUBLIC_V4)
const V6 = blocked('ipv6', NOT_PUBLIC_V6)
const GLOBAL_V6 = blocked('ipv6', [GLOBAL_UNICAST_V6])

const NO_STORE = [blocked('ipv4', NO_STORE_V4), blocked('ipv6', NO_STORE_V6)] as const

/** Whether a store that an owner of the cluster names may have this address: a private network is where backups mostly go. False for any text that is no address. */
export function isStoreAddress(text: string): boolean {
  const family = isIP(text)
  if (family === 0 || text.includes('%')) return false
  return family === 4 ? !NO_STORE[0].check(text, 'ipv4') : !NO_STORE[1].check(text, 'ipv6')
}

/** False for any text that is no address. */
export function isPublicAddress(text: string): boolean {
  switch (isIP(text)) {
    case 4:
      return !V4.check(text, 'ipv4')
    case 6:
      return !text.includes('%') && GLOBAL_V6.check(text, 'ipv6') && !V6.check(text, 'ipv6')
    default:
      return false
  }
}
