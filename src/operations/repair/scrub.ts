/** scrub: authorize -> node is a member -> reason -> commit. Each node reads its own copies back afterwards and says how far it is. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export interface ScrubInput {
  /** Absent: all of them. */
  readonly node?: string
  readonly reason: string
}

export async function scrub(
  services: Services,
  principal: AdminTokenPrincipal,
  input: ScrubInput,
): Promise<OperationRecord> {
  authorize(principal, 'scrub', {})
  const nodes = scrubbedNodes(services, input)
  const reason = givenReason(input.reason, 'scrub')
  const scope = { tenantId: null, bucket: null, node: input.node ?? null, maxBytesPerSecond: null }
  const asked = { operationId: newOperationId(), kind: 'scrub', requestedBy: principal.tokenId } as const
  return settle(await services.propose({ type: 'startOperation', ...asked, reason, ...scope, nodes }))
}

export function scrubbedNodes(
  { config, state }: Services,
  { node }: Pick<ScrubInput, 'node'>,
): readonly string[] {
  const known = membersOf(state.view).members.filter(({ phase }) => phase !== 'lost')
  const members = (known.length > 0 ? known : config.cluster.members).map(({ nodeId }) => nodeId)
  if (node === undefined) return members
  if (members.includes(node)) return [node]
  throw new Refusal(
    'not_found',
    `Cannot scrub: node "${node.slice(0, 64)}" is no member; members are ${members.join(', ')}`,
  )
}
