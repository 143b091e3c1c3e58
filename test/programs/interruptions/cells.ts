/**
 * The cells of the matrix: operation x step x victim x whether it is started again. Pure.
 *
 * Owns: the start of each operation and its allowed ends. Knows nothing of: processes.
 */
import type { MembershipKind } from '../../../src/state-machine/long-operations/records.ts'
import { STEPS_BY_KIND } from '../../../src/state-machine/members/membership.ts'
import { type Fate, FATES } from './interrupt.ts'

export interface Case {
  readonly name: string
  readonly kind: MembershipKind | 'rebalance'
  /** Null: the leader. */
  readonly node: string | null
  readonly newcomer: string | null
  /** The node that may be killed beside the leader. */
  readonly target: string | null
  /** Dead when the operation is requested. */
  readonly dead: string | null
  /** Demoted before. */
  readonly drained: string | null
  /** Joined before, when all objects were written. */
  readonly joined: string | null
}

export const VICTIMS = ['leader', 'target', 'both'] as const
export type Victim = (typeof VICTIMS)[number]

export interface Cell {
  readonly case: Case
  readonly step: string
  readonly victim: Victim
  readonly fate: Fate
}

const NONE = { newcomer: null, target: null, dead: null, drained: null, joined: null }
const STEPS: Readonly<Record<Case['kind'], readonly string[]>> = {
  ...STEPS_BY_KIND,
  rebalance: ['plan', 'wait', 'done'],
}

export const CASES: readonly Case[] = [
  { ...NONE, name: 'join', kind: 'join', node: 'n4', newcomer: 'n4', target: 'n4' },
  { ...NONE, name: 'demote', kind: 'demote', node: 'n3', target: 'n3' },
  { ...NONE, name: 'demote-leader', kind: 'demote', node: null },
  { ...NONE, name: 'replace', kind: 'replace', node: 'n3', newcomer: 'n4', target: 'n4' },
  { ...NONE, name: 'replace-old', kind: 'replace', node: 'n3', newcomer: 'n4', target: 'n3' },
  { ...NONE, name: 'replace-dead', kind: 'replace', node: 'n3', newcomer: 'n4', target: 'n4', dead: 'n3' },
  { ...NONE, name: 'remove', kind: 'remove', node: 'n3', target: 'n3', drained: 'n3' },
  { ...NONE, name: 'lost', kind: 'lost', node: 'n3', dead: 'n3' },
  { ...NONE, name: 'rebalance', kind: 'rebalance', node: null, target: 'n4', joined: 'n4' },
]

export function cells(): readonly Cell[] {
  return CASES.flatMap((one) =>
    STEPS[one.kind]
      .filter((step) => step !== 'done')
      .flatMap((step) =>
        VICTIMS.filter((victim) => victim === 'leader' || one.target !== null).flatMap((victim) =>
          FATES.filter((fate) => isSurvivable(one, step, victim, fate)).map((fate) => ({
            case: one,
            step,
            victim,
            fate,
          })),
        ),
      ),
  )
}

/** `operation,step,victim,fate`, each part may be empty. */
export function isWanted({ case: { name }, step, victim, fate }: Cell, only: string): boolean {
  const wanted = only.split(',')
  return [name, step, victim, fate.replaceAll(' ', '-')].every(
    (is, n) => (wanted[n] ?? '') === '' || wanted[n] === is,
  )
}

export const titleOf = ({ case: { name }, step, victim, fate }: Cell): string =>
  `${name},${step},${victim},${fate.replaceAll(' ', '-')}`

/** Cells that three nodes do not survive are left out: two voters that never come back, or the one that made the second majority. */
function isSurvivable(
  { dead, target, newcomer, drained, joined }: Case,
  step: string,
  victim: Victim,
  fate: Fate,
): boolean {
  if (fate === 'comes back') return true
  const votesBefore = dead === null && drained === null ? 3 : 2
  const isTargetVoter = target !== null && (target !== newcomer || step !== 'catchUp') && target !== drained
  const killed = (victim === 'target' ? 0 : 1) + (victim !== 'leader' && isTargetVoter ? 1 : 0)
  const hasMoved = step === 'drain' || step === 'verify' || step === 'exclude' || step === 'repair'
  if (killed === 0) return true
  if (joined !== null) return killed === 1
  if (newcomer !== null) return killed === 1 && (dead === null || hasMoved)
  return killed === 1 && votesBefore === 3 && !(hasMoved && victim !== 'target')
}

/** `placed` by the status of the operation; `leader` led when it was requested. */
export function endsOf(
  { kind, node, newcomer, drained, joined }: Case,
  { leader, lost }: { readonly leader: string; readonly lost: readonly string[] },
): Readonly<Record<string, string>> {
  const leavingNode = node ?? leader
  const before = ['n1', 'n2', 'n3', ...(joined === null ? [] : [joined])].map(
    (name) => `${name} ${name === drained ? 'drained learner' : 'active voter'}`,
  )
  const left = before.filter((member) => !member.startsWith(leavingNode))
  const come = newcomer === null ? [] : [`${newcomer} active voter`]
  const after: Readonly<Record<Case['kind'], readonly string[]>> = {
    rebalance: before,
    join: [...before, ...come],
    demote: before.map((member) =>
      member.startsWith(leavingNode) ? `${leavingNode} drained learner` : member,
    ),
    replace: [...left, ...come],
    lost: before.map((member) => (member.startsWith(leavingNode) ? `${leavingNode} lost none` : member)),
    remove: left,
  }
  const given = (members: readonly string[]): string =>
    members
      .map((member) =>
        lost.reduce((text, name) => (text.startsWith(name) ? `${name} lost none` : text), member),
      )
      .join(', ')
  return { succeeded: given(after[kind]), cancelled: given(before) }
}
