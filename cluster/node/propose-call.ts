/**
 * The `propose` call: a node hands proposals to the one it believes to lead.
 *
 * Layout: request body = rows of log-entry.ts; answer header = { term, refused: [[sequence, reason], ...] }.
 * Knows nothing of: replies. Rule: the answer says accepted or refused, never applied; each node learns of completion from its own log.
 */
import { assert } from './assert.ts'
import { decodeProposals, encodeProposals, type Proposal } from './log-entry.ts'
import { PeerRefusedError, type CallHandler, type Transport } from '../transport/transport.ts'
import type { NodeId, RefusalReason } from '../raft/types.ts'
import type { Batcher, ProposalOutcome } from './batcher.ts'
import type { NodeLimits } from './limits.ts'

export const PROPOSE_METHOD = 'propose'

const REASONS: readonly string[] = [
  'notLeader',
  'leaderNotReady',
  'transferring',
  'backlogFull',
  'tooLarge',
] satisfies readonly RefusalReason[]

/** Resolves with one outcome per sequence. Throws PeerRefusedError (nothing happened) or PeerUnreachableError (nothing is known). */
export async function callPropose(
  transport: Transport,
  leader: NodeId,
  proposals: readonly Proposal[],
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<ReadonlyMap<number, ProposalOutcome>> {
  const answer = await transport.call(leader, PROPOSE_METHOD, {
    header: null,
    body: encodeProposals(proposals),
    ...options,
  })
  await collect(answer.body, 0)
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
  return async ({ from, body }) => {
    const bytes = await collect(body, limits.commandBytesMax + limits.batchBytesMax)
    const proposals = decodeProposals(bytes)
    if (!isOpen()) throw new PeerRefusedError('shutting_down', 'This node takes no more proposals')
    const foreign = proposals.some(({ nodeId }) => nodeId !== from)
    if (foreign) throw new PeerRefusedError('bad_request', 'A node proposes in its own name only')
    const outcomes = await Promise.all(proposals.map((proposal) => outcomeOf(batcher, proposal)))
    // The lowest term, should they differ: the asker repeats what a newer leader may have lost, and a needless repeat is harmless.
    let term = Number.MAX_SAFE_INTEGER
    const refused: (readonly [number, RefusalReason])[] = []
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.accepted) term = Math.min(term, outcome.term)
      else refused.push([proposals[i]?.sequence ?? 0, outcome.reason])
    }
    return { header: { term, refused } }
  }
}

function outcomeOf(batcher: Batcher, proposal: Proposal): Promise<ProposalOutcome> {
  return new Promise((resolve) => batcher.add(proposal, resolve))
}

function decodeAnswer(header: unknown): { term: number; refused: Map<number, RefusalReason> } {
  assert(typeof header === 'object' && header !== null, 'a propose answer has a header')
  assert('term' in header && typeof header.term === 'number', 'a propose answer names the term')
  assert('refused' in header && Array.isArray(header.refused), 'a propose answer lists refusals')
  const refused = new Map<number, RefusalReason>()
  for (const row of header.refused as readonly unknown[]) {
    assert(
      Array.isArray(row) && typeof row[0] === 'number' && isReason(row[1]),
      'a refusal is a sequence and a reason',
    )
    refused.set(row[0], row[1])
  }
  return { term: header.term, refused }
}

function isReason(value: unknown): value is RefusalReason {
  return typeof value === 'string' && REASONS.includes(value)
}

async function collect(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > bytesMax)
      throw new PeerRefusedError('too_large', `A propose call carries more than ${bytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}
