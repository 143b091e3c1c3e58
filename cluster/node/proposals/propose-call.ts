/**
 * The `propose` call: a node hands proposals to the node that it believes to be the leader.
 *
 * Layout: request body = rows of log-entry.ts, request header = { needs: [need, ...], costs: [rows or null, ...] } with one for each row,
 * or null: all `growth`, at unstated costs (older versions send nothing else, and ignore it); answer header =
 * { term, refused: [[sequence, reason], ...] }.
 * Knows nothing of: replies. Rule: the answer is accepted or refused, never applied; each node learns of completion from its own log.
 */
import { assert } from '../../base/assert.ts'
import { collectBody } from '../../transport/collect-body.ts'
import { encodeProposals } from '../base/log-entry.ts'
import { PeerRefusedError, type Transport } from '../../transport/transport.ts'
import type { NodeId } from '../../raft/types.ts'
import type { Logger } from '../../base/types.ts'
import type { NodeLimits } from '../base/limits.ts'
import type { ForwardAnswer, NeedyProposal, ProposalOutcome, ProposalRefusal } from './intents.ts'

export const PROPOSE_METHOD = 'propose'

const REASONS: readonly string[] = [
  'notLeader',
  'leaderNotReady',
  'transferring',
  'backlogFull',
  'tooLarge',
  'diskFull',
] satisfies readonly ProposalRefusal[]

/** Resolves with one outcome per sequence. Throws PeerRefusedError (nothing happened) or another error (anything may have happened). */
async function callPropose(
  transport: Pick<Transport, 'call'>,
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
  readonly transport: Pick<Transport, 'call'>
  readonly logger: Logger
  readonly limits: Pick<NodeLimits, 'forwardTimeoutMs'>
  readonly gate: { onRefused(peer: NodeId, code: string): void }
  readonly signal: AbortSignal
}

/** Never rejects. The gate is informed where the leader refuses this node. */
export async function forwardProposals(
  { transport, logger, limits, gate, signal }: ForwardParts,
  leader: NodeId,
  proposals: readonly NeedyProposal[],
): Promise<ForwardAnswer> {
  try {
    const timeoutMs = limits.forwardTimeoutMs
    const outcomes = await callPropose(transport, leader, proposals, { signal, timeoutMs })
    return { kind: 'answered', outcomes }
  } catch (error) {
    logger.debug({ peer: leader, count: proposals.length, err: error }, 'proposals not taken')
    if (!(error instanceof PeerRefusedError)) return { kind: 'unknown' }
    gate.onRefused(leader, error.code)
    return { kind: 'refused' }
  }
}
