/**
 * Claims of peers that cannot be true.
 *
 * Owns: how such a claim is reported. Knows nothing of: what the driver does with the report.
 * Rule: a message with such a claim changes nothing here. It proves damage or a fault at the peer, and stopping this member for it
 * would add an outage to the damage.
 */
import { emit } from './core.ts'
import type { Core } from './core.ts'
import type { ImpossibleClaim, NodeId } from './types.ts'

/** `what` completes the sentence "<peer> ...". */
export function doubt(core: Core, peer: NodeId, claim: ImpossibleClaim, what: string): void {
  emit(core, { type: 'peerDoubted', peer, claim, what })
}
