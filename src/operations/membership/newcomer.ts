/** Who is to be taken in, as an operator names it and as it answers. */
import type { MembershipPort } from '../../../cluster/index.ts'
import { Refusal } from '../../refusal.ts'
import type { NewMember } from '../../state-machine/records.ts'
import { askNewcomer } from './survey.ts'

export interface NewcomerWish {
  readonly nodeId: string
  /** host:port */
  readonly peerAddress: string
  readonly dataAddress?: string
  readonly adminAddress?: string
  readonly zone?: string
  readonly weight?: number
}

const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
const ADDRESS = /^(\[[0-9a-f:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/i

/** Throws Refusal. */
export async function newcomerOf(membership: MembershipPort, wish: NewcomerWish): Promise<NewMember> {
  const { nodeId, peerAddress, dataAddress = null, adminAddress = null, zone = 'default', weight = 1 } = wish
  if (!NODE_ID.test(nodeId))
    throw new Refusal(
      'invalid_request',
      '"nodeId" has 1 to 63 letters, digits, dots, hyphens and underscores',
    )
  const port = Number(ADDRESS.exec(peerAddress)?.[2] ?? 0)
  if (!(port >= 1 && port <= 65_535))
    throw new Refusal('invalid_request', '"peerAddress" is host:port, such as 10.0.0.4:9002')
  const { incarnation, version } = await askNewcomer(membership, wish)
  return { nodeId, peerAddress, dataAddress, adminAddress, zone, weight, incarnation, version }
}
