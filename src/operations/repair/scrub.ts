/** scrub: authorize -> node is a member -> reason -> commit. Each node reads its own copies back afterwards and says how far it is. */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

export interface ScrubInput {
  /** Absent: all of them. */
  readonly node?: string
  readonly reason: string
}

export const scrub = adminOperation(
  {
    id: 'scrub',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed', 'not_found'],
    target: noTarget,
  },
  async (services, principal, input: ScrubInput): Promise<LongOperation> => {
    const nodes = scrubbedNodes(services, input)
    const reason = givenReason(input.reason, 'scrub')
    const scope = { tenantId: null, bucket: null, node: input.node ?? null, maxBytesPerSecond: null }
    const asked = { operationId: newOperationId(), kind: 'scrub', requestedBy: principal.tokenId } as const
    return settle(await services.propose({ type: 'startOperation', ...asked, reason, ...scope, nodes }))
  },
)

export function scrubbedNodes(
  { config, state }: Services,
  { node }: Pick<ScrubInput, 'node'>,
): readonly string[] {
  const known = membersOf(state).members.filter(({ phase }) => phase !== 'lost')
  const members = (known.length > 0 ? known : config.cluster.members).map(({ nodeId }) => nodeId)
  if (node === undefined) return members
  if (members.includes(node)) return [node]
  throw new Refusal(
    'not_found',
    `Cannot scrub: node "${node.slice(0, 64)}" is no member; members are ${members.join(', ')}`,
  )
}
