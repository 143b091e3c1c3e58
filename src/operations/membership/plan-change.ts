/**
 * What a change of the members would do, in figures: votes and tolerated failures before and after each step, bytes to move.
 *
 * Owns: the steps as a plan, and what to think of first. Knows nothing of: whether it would be allowed; the rehearsal says that.
 */
import { membersOf } from '../../state-machine/members/members.ts'
import { isMembership } from '../../state-machine/members/membership.ts'
import type { MembershipKind } from '../../state-machine/long-operations/records.ts'
import type { Services } from '../base/services.ts'
import type { StartedChange } from './change-members.ts'
import { type Held, heldBeforeChange } from './held-copies.ts'
import type { SeenNewcomer } from './newcomer.ts'
import { unfinishedOperations } from '../../state-machine/long-operations/operations.ts'

export interface PlannedStep {
  readonly step: string
  readonly voters: string[]
  readonly majority: number
  readonly failureTolerance: number
}

export interface ChangePlan extends Held {
  readonly steps: PlannedStep[]
  /** The node that waits to be taken in; null: none does, or a blocker prevents it. */
  readonly newcomer: SeenNewcomer | null
}

export interface PlannedChange {
  readonly kind: MembershipKind
  readonly nodeId: string
  /** Of a replacement. */
  readonly newcomer?: string
  /** Of the joining node. */
  readonly zone?: string
}

export async function planChange(
  services: Services,
  change: PlannedChange,
  started: StartedChange | null,
): Promise<{ readonly plan: ChangePlan; readonly warnings: readonly string[] }> {
  const steps = stepsOf(services, change)
  const moves = await heldBeforeChange(services, change)
  const plan = { steps, ...moves, newcomer: started?.newcomer ?? null }
  const warnings = [
    ...finalWarnings(change),
    ...overlapWarnings(services, change),
    ...votesWarnings(steps),
    ...zoneWarnings(services, change, steps),
    ...lossWarnings(change, moves),
  ]
  return { plan, warnings }
}

export function votesOf(voters: readonly string[]): Omit<PlannedStep, 'step'> {
  const majority = Math.floor(voters.length / 2) + 1
  return { voters: [...voters], majority, failureTolerance: Math.max(0, voters.length - majority) }
}

function stepsOf({ state }: Services, { kind, nodeId, newcomer }: PlannedChange): PlannedStep[] {
  const { members } = membersOf(state)
  const voters = members.filter(({ phase }) => phase === 'active').map((member) => member.nodeId)
  const left = voters.filter((voter) => voter !== nodeId)
  const at = (step: string, names: readonly string[]): PlannedStep => ({ step, ...votesOf(names) })
  const now = at('now', voters)
  switch (kind) {
    case 'join':
      return [now, at('learner', voters), at('voter', [...left, nodeId])]
    case 'demote':
      return [now, at('learner', left), at('drained', left)]
    case 'lost':
    case 'remove':
      return [now, at('outside', left)]
    case 'replace': {
      const after = [...left, newcomer ?? '']
      return [now, at('learner', voters), at('exchanged', after), at('drained', after), at('removed', after)]
    }
  }
}

function votesWarnings(steps: readonly PlannedStep[]): readonly string[] {
  const [first, last] = [steps[0], steps.at(-1)]
  if (first === undefined || last === undefined) return []
  const warnings: string[] = []
  if (last.failureTolerance < first.failureTolerance)
    warnings.push(
      `Afterwards ${last.failureTolerance} of ${last.voters.length} voters may fail, now ${first.failureTolerance} may`,
    )
  if (last.voters.length % 2 === 0)
    warnings.push(`${last.voters.length} voters bear no more failures than ${last.voters.length - 1}`)
  if (last.failureTolerance === 0 && first.failureTolerance === 0)
    warnings.push(`Afterwards as now none of ${last.voters.length} voters may fail`)
  return warnings
}

/** Where all members are in one zone there is nothing to warn of. */
function zoneWarnings(
  { state }: Services,
  { kind, nodeId, newcomer = nodeId, zone }: PlannedChange,
  steps: readonly PlannedStep[],
): readonly string[] {
  const { members } = membersOf(state)
  const zones = new Map(members.map((member) => [member.nodeId, member.zone]))
  const present = kind === 'replace' ? zones.get(nodeId) : undefined
  if (kind === 'join' || kind === 'replace') zones.set(newcomer, zone ?? present ?? 'default')
  const last = steps.at(-1)
  if (last === undefined || new Set(zones.values()).size < 2) return []
  const counts = new Map<string, number>()
  for (const voter of last.voters) {
    const its = zones.get(voter) ?? ''
    counts.set(its, (counts.get(its) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => last.voters.length - count < last.majority)
    .map(([name, count]) => {
      const without = `without it there is no majority`
      return `Afterwards zone "${name}" holds ${count} of ${last.voters.length} voters: ${without}`
    })
}

/** From where on there is no way back. */
function finalWarnings({ kind, nodeId, newcomer }: PlannedChange): readonly string[] {
  switch (kind) {
    case 'demote':
      return [
        `This cannot be taken back: once the vote of "${nodeId}" has moved, neither its name nor its data directory gets one again; until then the operation can be cancelled`,
      ]
    case 'replace':
      return [
        `This cannot be taken back once votes have moved: "${nodeId}" leaves forever; until "${newcomer}" has its vote the operation can be cancelled`,
      ]
    case 'lost':
    case 'remove':
      return [`This cannot be taken back: the name "${nodeId}" and its data directory do not come back`]
    case 'join':
      return []
  }
}

/** Votes change one operation at a time; moving copies continues beside it. */
function overlapWarnings({ state }: Services, { nodeId }: PlannedChange): readonly string[] {
  const { change } = membersOf(state)
  return unfinishedOperations(state)
    .filter(({ kind, operationId, node }) => isMembership(kind) && operationId !== change && node !== nodeId)
    .map(
      ({ operationId, node }) =>
        `Operation ${operationId} still moves copies of "${node}": both share the disks and the network until it has ended`,
    )
}

/** Only the copies of a member that answers can be moved. */
function lossWarnings({ kind, nodeId }: PlannedChange, { lastCopies }: Held): readonly string[] {
  if (kind !== 'lost' || lastCopies === 0) return []
  return [`Of ${lastCopies} chunks the only listed copy is on "${nodeId}": they are lost with it`]
}
