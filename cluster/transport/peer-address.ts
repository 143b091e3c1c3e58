/**
 * host:port of a node, and whether plain TCP is permitted there.
 *
 * Owns: parsing and the loopback rule. Rule: without TLS nothing leaves this machine and nothing comes in from outside; otherwise
 * any machine that reaches the peer port could vote and write.
 */
import { BlockList, isIP } from 'node:net'
import { type PeerAddress, StartError } from '../base/types.ts'

export interface HostPort {
  readonly host: string
  readonly port: number
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

export function parsePeerAddress(address: PeerAddress): HostPort {
  const parts = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<name>[^\s:/[\]]+)):(?<port>\d{1,5})$/.exec(address)?.groups
  const host = parts?.['six'] ?? parts?.['name']
  const port = Number(parts?.['port'])
  if (host !== undefined && port <= 65_535) return { host, port }
  throw new StartError('invalid_peer_address', `Cannot use peer address '${address}': it is not host:port`, {
    hint: 'Write it as 10.0.0.1:7400, node1.example.net:7400 or [fd00::1]:7400.',
  })
}

/** Throws StartError `peer_tls_required` for an address that other machines can reach. */
export function requireLoopback(address: PeerAddress): void {
  if (isLoopbackAddress(address)) return
  throw new StartError(
    'peer_tls_required',
    `Cannot use plain TCP on peer address '${address}': it is not loopback`,
    {
      hint: 'Give the node its cluster CA, certificate and key (README, "Three machines", shows how to make them), or use 127.0.0.1 for a trial on one machine.',
    },
  )
}

/** Whether only this machine can reach it. `address`: host:port. Throws StartError `invalid_peer_address` for another form. */
export function isLoopbackAddress(address: string): boolean {
  const { host } = parsePeerAddress(address)
  const family = isIP(host)
  if (family === 0) return host === 'localhost'
  return LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
