/** Addresses of simulated machines: the name of each is its host. */
import type { Member } from '../../../cluster/base/types.ts'
import type { FirstMember } from '../../../src/state-machine/members/records.ts'

interface PlaceOfMachine extends FirstMember {
  readonly dataAddress: string
  readonly adminAddress: string
}

export function placeOf(nodeId: string): PlaceOfMachine {
  return {
    nodeId,
    peerAddress: `${nodeId}:7000`,
    dataAddress: `http://${nodeId}:9000`,
    adminAddress: `http://${nodeId}:9001`,
    zone: 'default',
    weight: 1,
  }
}

export function foundersOf(names: readonly string[]): readonly FirstMember[] {
  return names.map(placeOf)
}

export function asConfigured(names: readonly string[]): readonly Member[] {
  return names.map((name) => {
    const { nodeId, peerAddress, zone, weight } = placeOf(name)
    return { nodeId, peerAddress, zone, weight }
  })
}
