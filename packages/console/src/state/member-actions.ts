/**
 * The changes of members as data: what each asks for, how it is planned, how it is done.
 *
 * Rule: a plan and what follows it name the same configuration, so that nothing is done that was not shown.
 */
import type { AdminOperations, HoldfastAdmin, Operation } from '../../../client/src/admin.ts'

/** Each with its operation. */
export const MEMBER_OPERATIONS = {
  join: 'joinVoter',
  demote: 'demoteVoter',
  lost: 'markVoterLost',
  remove: 'removeMember',
  replace: 'replaceVoter',
  transfer: 'transferLeadership',
} as const

export type MemberAction = keyof typeof MEMBER_OPERATIONS

export const isMemberAction = (text: string): text is MemberAction => Object.hasOwn(MEMBER_OPERATIONS, text)

export interface Answers {
  /** The member that is changed; '' for a join, and for a transfer to the best follower. */
  readonly member: string
  readonly newcomer: string
  readonly peerAddress: string
  readonly zone: string
  readonly fingerprint: string
  readonly reason: string
  readonly configIndex: number
}

type Plan = Extract<AdminOperations['joinVoter']['answer'], { readonly dryRun: boolean }>

/** The part of a plan that is shown; a transfer has less of it. */
export type Planned = Pick<Plan, 'allowed' | 'blockers' | 'warnings'> & {
  readonly plan: Partial<Plan['plan']> & { readonly target?: string | null }
}

/** null: there was nothing to do, or it is done already. */
export type Started = Operation | null

export const takesNewcomer = (action: MemberAction): boolean => action === 'join' || action === 'replace'
/** There is no way back: a member that lost its vote never gets one again. */
export const takesConfirmation = (action: MemberAction): boolean => action !== 'join' && action !== 'transfer'

function newcomerOf({ newcomer, peerAddress, zone, fingerprint }: Answers) {
  return {
    nodeId: newcomer,
    peerAddress,
    ...(zone === '' ? {} : { zone }),
    ...(fingerprint.trim() === '' ? {} : { fingerprint: fingerprint.trim() }),
  }
}

export function plan(api: HoldfastAdmin, action: MemberAction, given: Answers): Promise<Planned> {
  const { member, reason, configIndex: expectedConfigIndex } = given
  const common = { reason, expectedConfigIndex }
  const confirm = member
  switch (action) {
    case 'join':
      return api.dryRun.joinVoter({ ...newcomerOf(given), ...common })
    case 'demote':
      return api.dryRun.demoteVoter({ nodeId: member, ...common })
    case 'lost':
      return api.dryRun.markVoterLost({ nodeId: member, confirm, ...common })
    case 'remove':
      return api.dryRun.removeMember({ nodeId: member, confirm, ...common })
    case 'replace':
      return api.dryRun.replaceVoter({ nodeId: member, replacement: newcomerOf(given), confirm, ...common })
    case 'transfer':
      return api.dryRun.transferLeadership({ reason, ...(member === '' ? {} : { nodeId: member }) })
  }
}

export async function run(api: HoldfastAdmin, action: MemberAction, given: Answers): Promise<Started> {
  const { member, reason, configIndex: expectedConfigIndex } = given
  const common = { reason, expectedConfigIndex }
  // The dialog lets this through when its name was typed.
  const confirm = member
  switch (action) {
    case 'join':
      return started(await api.joinVoter({ ...newcomerOf(given), ...common }))
    case 'demote':
      return started(await api.demoteVoter({ nodeId: member, ...common }))
    case 'lost':
      return started(await api.markVoterLost({ nodeId: member, confirm, ...common }))
    case 'remove':
      return started(await api.removeMember({ nodeId: member, confirm, ...common }))
    case 'replace':
      return started(
        await api.replaceVoter({ nodeId: member, replacement: newcomerOf(given), confirm, ...common }),
      )
    case 'transfer':
      await api.transferLeadership({ reason, ...(member === '' ? {} : { nodeId: member }) })
      return null
  }
}

const started = (answer: Operation | { readonly noop: boolean }): Started =>
  'operationId' in answer ? answer : null
