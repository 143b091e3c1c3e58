/**
 * What is wrong with a member, and what is to be done about it.
 *
 * Owns: whose word counts, and the sentences. Knows nothing of: how a disk is proved, who asks. Pure.
 * Rules: of a disk in doubt the member itself and the leader know, because others had their last report in some election; of a member
 * without contact the node that asked it just now.
 */
import { expulsionOf, expulsionText, type MemberDoubt, type MemberStatus } from '../../../cluster/index.ts'

export interface MemberCondition {
  readonly code: string
  readonly message: string
}

export interface Witnesses {
  /** The asked node, after it has asked the others. */
  readonly asked: MemberStatus
  readonly leader: MemberStatus
  /** Null: it did not answer, or was not asked. */
  readonly member: MemberStatus | null
}

/** At most one. */
export function conditionsOf(nodeId: string, { asked, leader, member }: Witnesses): MemberCondition[] {
  const found = (status: MemberStatus | null): readonly MemberDoubt['what'][] =>
    (status?.doubts ?? []).filter((doubt) => doubt.nodeId === nodeId).map(({ what }) => what)
  const [expulsion] =
    member === null
      ? found(asked)
          .map(expulsionOf)
          .filter((one) => one !== null)
      : []
  if (expulsion !== undefined) return [{ code: expulsion, message: expulsionText(nodeId, expulsion) }]
  const doubts = new Set([...found(leader), ...found(member)])
  if (doubts.has('rolledBack'))
    return [
      {
        code: 'member_rolled_back',
        message: `The disk of ${nodeId} has lost entries that it acknowledged: its vote counts only together with those of all other voters until it holds them again. Keep the others up, and find out what took it back: deploy/runbooks/disk-went-back.md`,
      },
    ]
  if (doubts.has('suspect'))
    return [
      {
        code: 'disk_not_proved_current',
        message: `The disk of ${nodeId} is not proved current: a decision that leans on it needs one voter more until it has caught up. Keep the others up; if one of them never comes back: deploy/runbooks/disk-went-back.md`,
      },
    ]
  return []
}
