/**
 * The leader's side of the `propose` call: decodes it and offers its proposals to the batcher of this node.
 *
 * Rule: a node proposes in its own name only; what is wrong with a call is refused before anything of it is offered.
 */
import { collectBody } from '../../transport/collect-body.ts'
import { decodeProposals, type Proposal } from '../base/log-entry.ts'
import { assertPlainMsgpack } from '../../transport/msgpack-guard.ts'
import { PeerRefusedError, type CallHandler } from '../../transport/transport.ts'
import type { RoomNeed } from '../../base/types.ts'
import type { CoreLoop } from '../base/core-loop.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { NeedyProposal, ProposalRefusal } from './intents.ts'
import type { ProposalPath } from './proposal-path.ts'

/** `loop` mute: this node is stopping or has failed and takes no more proposals. */
export function proposeHandler(
  path: Pick<ProposalPath, 'offer'>,
  limits: NodeLimits,
  loop: Pick<CoreLoop, 'isMute'>,
): CallHandler {
  return async ({ from, header, body }) => {
    const bytes = await collectBody(body, limits.commandBytesMax + limits.batchBytesMax)
    const proposals = withCosts(withNeeds(proposalsIn(bytes), header), header)
    if (loop.isMute) throw new PeerRefusedError('shutting_down', 'This node takes no more proposals')
    const foreign = proposals.some(({ nodeId }) => nodeId !== from)
    if (foreign) throw new PeerRefusedError('bad_request', 'A node proposes in its own name only')
    const outcomes = await Promise.all(proposals.map((proposal) => path.offer(proposal)))
    // The lowest term, should they differ: the caller repeats what a newer leader may have lost, and a needless repeat is harmless.
    let term = Number.MAX_SAFE_INTEGER
    const refused: (readonly [number, ProposalRefusal])[] = []
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.accepted) term = Math.min(term, outcome.term)
      else refused.push([proposals[i]?.sequence ?? 0, outcome.reason])
    }
    return { header: { term, refused } }
  }
}

/** Throws PeerRefusedError. */
function proposalsIn(bytes: Uint8Array): readonly Proposal[] {
  try {
    assertPlainMsgpack(bytes)
    return decodeProposals(bytes)
  } catch (cause) {
    throw new PeerRefusedError('bad_request', 'The body of a propose call is no list of proposals', { cause })
  }
}

/** Throws PeerRefusedError. */
function withNeeds(proposals: readonly Proposal[], header: unknown): readonly NeedyProposal[] {
  const needs = typeof header === 'object' && header !== null && 'needs' in header ? header.needs : null
  if (needs === null) return proposals.map((proposal) => ({ ...proposal, need: 'growth' }))
  if (!Array.isArray(needs) || needs.length !== proposals.length || !needs.every(isNeed))
    throw new PeerRefusedError('bad_request', 'A propose call names the need of each proposal, or of none')
  return proposals.map((proposal, row) => ({ ...proposal, need: needs[row] ?? 'growth' }))
}

function isNeed(value: unknown): value is RoomNeed {
  return value === 'growth' || value === 'upkeep' || value === 'relief'
}

/** Costs only decide where batches end: what cannot be decoded counts as absent. */
function withCosts(proposals: readonly NeedyProposal[], header: unknown): readonly NeedyProposal[] {
  const stated = typeof header === 'object' && header !== null && 'costs' in header ? header.costs : null
  if (!Array.isArray(stated)) return proposals
  const costs: readonly unknown[] = stated
  return proposals.map((proposal, n) => {
    const cost = costs[n]
    return typeof cost === 'number' && Number.isSafeInteger(cost) && cost >= 0
      ? { ...proposal, cost }
      : proposal
  })
}
