/**
 * The `propose` call: a node hands proposals to the one it believes to lead.
 *
 * Layout: request body = rows of log-entry.ts, request header = { needs: [need, ...], costs: [rows or null, ...] } with one for each row,
 * or null: all `growth`, at costs that nobody has said (older versions say nothing else, and do not look at it); answer header =
 * { term, refused: [[sequence, reason], ...] }.
 * Knows nothing of: replies. Rule: the answer says accepted or refused, never applied; each node learns of completion from its own log.
 */
import { assert } from '../../base/assert.ts'
import { collectBody } from '../../transport/collect-body.ts'
import { decodeProposals, encodeProposals, type Proposal } from '../base/log-entry.ts'
import { assertPlainMsgpack } from '../../transport/msgpack-guard.ts'
import { PeerRefusedError, type CallHandler, type Transport } from '../../transport/transport.ts'
import type { NodeId } from '../../raft/types.ts'
import type { Logger, RoomNeed } from '../../base/types.ts'
import type { Batcher, NeedyProposal, ProposalOutcome, ProposalRefusal } from './batcher.ts'
import type { NodeLimits } from '../base/limits.ts'

export const PROPOSE_METHOD = 'propose'

const REASONS: readonly string[] = [
  'notLeader',
  'leaderNotReady',
  'transferring',
  'backlogFull',
  'tooLarge',
  'diskFull',
] satisfies readonly ProposalRefusal[]

/** Resolves with one outcome per sequence. Throws PeerRefusedError (nothing happened) or PeerUnreachableError (nothing is known). */
async function callPropose(
  transport: Transport,
  leader: NodeId,
  proposals: readonly NeedyProposal[],
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<ReadonlyMap<number, ProposalOutcome>> {
  const answer = await transport.call(leader, PROPOSE_METHOD, {
    header: {
      needs: proposals.map(({ need }) => need),
      costs: proposals.map(({ cost }) => cost ?? null),
    },
    body: encodeProposals(proposals),
    ...options,
  })
  await collectBody(answer.body, 0)
  const { term, refused } = decodeAnswer(answer.header)
  return new Map(
    proposals.map(({ sequence }) => {
      const reason = refused.get(sequence)
      return [sequence, reason ? { accepted: false, reason } : { accepted: true, term }]
    }),
  )
}

/** `isOpen` false: this node is stopping or has failed and takes no more proposals. */
export function proposeHandler(batcher: Batcher, limits: NodeLimits, isOpen: () => boolean): CallHandler {
  return async ({ from, header, body }) => {
    const bytes = await collectBody(body, limits.commandBytesMax + limits.batchBytesMax)
    const proposals = withCosts(withNeeds(proposalsIn(bytes), header), header)
    if (!isOpen()) throw new PeerRefusedError('shutting_down', 'This node takes no more proposals')
    const foreign = proposals.some(({ nodeId }) => nodeId !== from)
    if (foreign) throw new PeerRefusedError('bad_request', 'A node proposes in its own name only')
    const outcomes = await Promise.all(proposals.map((proposal) => outcomeOf(batcher, proposal)))
    // The lowest term, should they differ: the asker repeats what a newer leader may have lost, and a needless repeat is harmless.
    let term = Number.MAX_SAFE_INTEGER
    const refused: (readonly [number, ProposalRefusal])[] = []
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.accepted) term = Math.min(term, outcome.term)
      else refused.push([proposals[i]?.sequence ?? 0, outcome.reason])
    }
    return { header: { term, refused } }
  }
}

/** Throws PeerRefusedError: the asker sent it. */
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

/** What a peer says of costs decides nothing but where batches end: what cannot be read is as good as absent. */
function withCosts(proposals: readonly NeedyProposal[], header: unknown): readonly NeedyProposal[] {
  const said = typeof header === 'object' && header !== null && 'costs' in header ? header.costs : null
  if (!Array.isArray(said)) return proposals
  const costs: readonly unknown[] = said
  return proposals.map((proposal, n) => {
    const cost = costs[n]
    return typeof cost === 'number' && Number.isSafeInteger(cost) && cost >= 0
      ? { ...proposal, cost }
      : proposal
  })
}

function outcomeOf(batcher: Batcher, proposal: NeedyProposal): Promise<ProposalOutcome> {
  return new Promise((resolve) => batcher.add(proposal, resolve))
}

function decodeAnswer(header: unknown): { term: number; refused: Map<number, ProposalRefusal> } {
  assert(typeof header === 'object' && header !== null, 'a propose answer has a header')
  assert('term' in header && typeof header.term === 'number', 'a propose answer names the term')
  assert('refused' in header && Array.isArray(header.refused), 'a propose answer lists refusals')
  const refused = new Map<number, ProposalRefusal>()
  for (const row of header.refused as readonly unknown[]) {
    assert(
      Array.isArray(row) && typeof row[0] === 'number' && isReason(row[1]),
      'a refusal is a sequence and a reason',
    )
    refused.set(row[0], row[1])
  }
  return { term: header.term, refused }
}

function isReason(value: unknown): value is ProposalRefusal {
  return typeof value === 'string' && REASONS.includes(value)
}

export interface ForwardParts {
  readonly transport: Transport
  readonly logger: Logger
  readonly limits: Pick<NodeLimits, 'forwardTimeoutMs'>
  readonly gate: { onRefused(peer: NodeId, code: string): void }
  readonly signal: AbortSignal
}

/** As `callPropose`; whoever is refused for what it is hears of that. Rejects when the leader took nothing that is known of. */
export async function forwardProposals(
  { transport, logger, limits, gate, signal }: ForwardParts,
  leader: NodeId,
  proposals: readonly NeedyProposal[],
): Promise<ReadonlyMap<number, ProposalOutcome>> {
  try {
    return await callPropose(transport, leader, proposals, { signal, timeoutMs: limits.forwardTimeoutMs })
  } catch (error) {
    logger.debug({ peer: leader, count: proposals.length, err: error }, 'proposals not taken')
    if (error instanceof PeerRefusedError) gate.onRefused(leader, error.code)
    throw error
  }
}
