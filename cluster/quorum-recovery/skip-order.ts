/**
 * Orders a stopped node to skip an entry, according to a plan.
 *
 * Owns: the comparison of the node with the plan. Knows nothing of: how the plan was made, sealed or confirmed.
 * Rules: the entry that stops this directory is the entry of the plan, and the state before it is that of the plan; a node whose log
 * ends before the entry gets the order only if its state is proved equal so far; nothing else in the directory changes.
 */
import { StartError } from '../base/types.ts'
import type { NodeFacts } from './node-facts.ts'
import type { Rehearsal } from './rehearsal.ts'
import { comparison } from './reports.ts'
import type { SkipDecision } from './skip-plan.ts'
import type { StoppedNode } from './stopped-node.ts'

export interface SkipOrder {
  readonly planId: string
  readonly decision: SkipDecision
  /** The service's command, applied in place of the entry. */
  readonly command: Uint8Array
}

export type Ordered = 'ordered' | 'ordered already'

/**
 * Idempotent by the id of the plan. Throws StartError `skip_ordered`, `already_applied`, `report_unusable`, `node_changed`,
 * `states_differ` or `not_comparable`.
 */
export async function orderSkip(
  node: StoppedNode,
  rehearsal: () => Rehearsal,
  { planId, decision, command }: SkipOrder,
): Promise<Ordered> {
  const { index, term, digest } = decision
  const known = node.skipFile.skips.find((skip) => skip.index === index && skip.term === term)
  if (known?.planId === planId) return 'ordered already'
  if (known !== undefined) throw orderedByAnother(known.planId)
  const facts = await node.facts(rehearsal)
  requireFit(facts, decision)
  node.skipFile.add({ planId, index, term, digest, command }, facts.applied.index)
  return 'ordered'
}

function requireFit(facts: NodeFacts, decision: SkipDecision): void {
  const { nodeId, fault, obstacle, applied, last, checksums, recoveryEpoch } = facts
  const { index, term, digest, before } = decision
  if (fault !== null) throw unusable(nodeId, fault)
  if (applied.index >= index) throw passed(nodeId, index)
  if (recoveryEpoch !== decision.recoveryEpoch) throw changed(nodeId)
  if (obstacle?.index === index && obstacle.term === term && obstacle.digest === digest) {
    const own = checksums.at(-1)
    if (own?.index !== before.index || own.checksum !== before.checksum) throw different(nodeId, index)
    return
  }
  const isBehind = obstacle === null && (last.index < index || last.term < term)
  if (!isBehind) throw changed(nodeId)
  const compared = comparison(decision, facts)
  if (compared === 'different') throw different(nodeId, index)
  if (compared === 'unknown') throw incomparable(nodeId, index)
}

function orderedByAnother(planId: string): StartError {
  return new StartError('skip_ordered', `On this node plan ${planId} skips this entry already`, {
    hint: 'Apply that plan on the other nodes: all of them must skip the entry by the same plan.',
  })
}

function unusable(nodeId: string, fault: string): StartError {
  return new StartError('report_unusable', `${nodeId} cannot be compared: ${fault}`, {
    hint: 'Start it when the others run: it takes their state, which is past the entry, and needs no order.',
  })
}

function passed(nodeId: string, index: number): StartError {
  return new StartError(
    'already_applied',
    `${nodeId} is past entry ${index}: its state contains a later entry`,
    {
      hint: 'It needs no order. Start it.',
    },
  )
}

function changed(nodeId: string): StartError {
  return new StartError('node_changed', `${nodeId} does not stop at the entry of the plan`, {
    hint: 'Start it with the others. If it stops at an entry, collect on every node and plan again.',
  })
}

function different(nodeId: string, index: number): StartError {
  return new StartError(
    'states_differ',
    `The state of ${nodeId} before entry ${index} differs from that of the others`,
    {
      hint: 'Start the others without it, keep its data directory, and replace the node: see deploy/runbooks/skip-entry.md.',
    },
  )
}

function incomparable(nodeId: string, index: number): StartError {
  return new StartError(
    'not_comparable',
    `The log of ${nodeId} ends long before entry ${index}: its state cannot be compared yet`,
    {
      hint: 'Start it with the others. If it ends with apply_failed at the entry, apply the plan on it then; otherwise nothing is missing.',
    },
  )
}
