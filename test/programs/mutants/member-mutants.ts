/**
 * Bugs in changes of the members: in the driver, in the decisions of the rows, in the accepted peers.
 *
 * `V..`; killed by a walk of membership in the simulator. `ME..`: bugs that operators met, killed by the tests named there.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests } from './rows.ts'

type Row = readonly [id: string, bug: string, file: string, find: string, replace: string]

const DRIVER = 'src/workers/membership.ts'
const MOVES = 'src/workers/vote-moves.ts'
const ROWS = 'src/state-machine/'

const ORDER: readonly Row[] = [
  [
    'V1',
    'a step is reported before the vote has moved',
    MOVES,
    '      return old === null || !voters.includes(old)\n    default:',
    '      return old === null || !voters.includes(old) || voters.length > 2\n    default:',
  ],
  [
    'V2',
    'a joining node that was removed stays in the configuration',
    DRIVER,
    '    if (left.length < learners.length)\n',
    "    if (left.length < learners.length && newcomer === '')\n",
  ],
  [
    'V3',
    'a joining node gets its vote before it has kept up',
    DRIVER,
    "    if (blocker !== null) return this.#reportPhase(operation, blocker)\n    return this.#takeStep(operation, 'promoting')\n",
    "    if (blocker?.phase === '') return this.#reportPhase(operation, blocker)\n    return this.#takeStep(operation, 'promoting')\n",
  ],
  [
    'V4',
    'a member is excluded only in the rows',
    MOVES,
    '      return old === null || !(voters.includes(old) || learners.includes(old))\n',
    '      return old === null || !voters.includes(old)\n',
  ],
]

const RULES: readonly Row[] = [
  [
    'V7',
    'the right to change votes is released too early',
    `${ROWS}members/membership.ts`,
    '  return change === operationId ? null : change\n',
    '  return null\n',
  ],
  [
    'V8',
    'two operations may change votes at once',
    `${ROWS}members/membership.ts`,
    '  if (present.change !== null) return inProgress(present.change)\n',
    '',
  ],
  [
    'V11',
    'a change of members is cancelled after votes have moved',
    `${ROWS}long-operations/cancelling.ts`,
    "|| cursor === 'catchUp' ||",
    "|| cursor !== 'done' ||",
  ],
  [
    'V13',
    'a copy of a leaving member is removed before another can be read',
    `${ROWS}chunks/evacuation.ts`,
    '  const replicas = readable.length >= needed ? others : before.replicas\n',
    '  const replicas = others\n',
  ],
]

const HEARING: readonly Row[] = [
  [
    'V14',
    'a removed node is still accepted',
    'cluster/directory/directory.ts',
    '    if (!this.#departed.has(nodeId)) return null\n',
    "    if (!this.#departed.has('')) return null\n",
  ],
  [
    'V15',
    'an emptied disk is accepted under its old name',
    'cluster/node/peers/peer-gate.ts',
    '    if (registered.incarnation !== incarnation) {\n',
    "    if (registered.incarnation === '') {\n",
  ],
  [
    'V16',
    'an old copy of a disk is accepted',
    'cluster/node/peers/peer-gate.ts',
    '    if (descendsFrom({ boot, before }, registered.boot)) return null\n',
    '    if (descendsFrom({ boot, before }, 0)) return null\n',
  ],
]

/** Bugs that operators met: names that are taken, answers to repeated requests. */
const OPERATORS = killedByTests([
  [
    'ME1',
    'a name that another data directory owns is joined all the same, and stalls forever',
    'src/operations/membership/member-statuses.ts',
    '  if (registered !== null && registered !== said.incarnation)\n',
    "  if (registered === '')\n",
    'api/membership-operators',
  ],
  [
    'ME6',
    'a lost member that a chunk may still name is forgotten',
    `${ROWS}members/members.ts`,
    "  const emptied = departed.filter(({ how }) => how === 'removed')\n",
    '  const emptied = departed\n',
    'state-machine/member-rules',
  ],
  [
    'ME7',
    'a lost member is replaced before all members know that rule',
    `${ROWS}members/membership.ts`,
    " && context.featureLevel >= MEMBER_RULES_LEVEL\n  if (kind !== 'lost'",
    "\n  if (kind !== 'lost'",
    'state-machine/member-rules',
  ],
  [
    'ME8',
    'a join to another address is answered with the one that runs',
    'src/operations/membership/running-change.ts',
    'member?.peerAddress === newcomer.peerAddress && member.zone === zone',
    'member?.zone === zone',
    'api/membership-operators',
  ],
  [
    'ME9',
    'a join is answered with an operation that was cancelled',
    'src/operations/membership/running-change.ts',
    '  if (!isFinished(operation.status) && operation.isRevoked !== true) return\n',
    '  if (operation.status !== null) return\n',
    'api/membership-operators',
  ],
  [
    'ME10',
    'a replacement is in no zone',
    'src/operations/membership/replace-voter.ts',
    "named.zone ?? old?.zone ?? 'default'",
    "named.zone ?? 'default'",
    'api/membership-operators',
  ],
])

/** Walks rarely or never reach these: other checks come first. */
const BEHIND_OTHERS = killedByTests([
  [
    'V18',
    'a voter that cannot be reached is demoted away from the last majority',
    'src/operations/membership/member-statuses.ts',
    '  if (voters.length - silent.length > voters.length / 2) return\n',
    '  if (silent.length >= 0) return\n',
    'api/membership',
  ],
  [
    'V5',
    'a joint configuration, or one that is not committed, is reported as if it were final',
    DRIVER,
    '    if (!isSettled(status)) return false\n    if (hasMoved(',
    '    if (hasMoved(',
    'workers/membership',
  ],
  [
    'V6',
    'the only voter waits for another voter to take over',
    DRIVER,
    'if (leavingNode === nodeId && !isAlone)',
    'if (leavingNode === nodeId)',
    'workers/membership',
  ],
  [
    'V9',
    'a removed name comes back',
    `${ROWS}members/members.ts`,
    '  if (present.departed.some((gone) => gone.nodeId === nodeId))\n    return refuse(',
    "  if (nodeId === '')\n    return refuse(",
    'state-machine/members',
  ],
  [
    'V12',
    'a member is removed before its copies are elsewhere',
    `${ROWS}members/membership.ts`,
    "  if (phase !== 'draining' && leaving === undefined) return null\n",
    "  if (leaving?.cursor !== 'verify') return null\n",
    'state-machine/members',
  ],
  [
    'V22',
    'a member is removed before its demotion has looked for copies once more',
    `${ROWS}members/membership.ts`,
    "  if (phase !== 'draining' && leaving === undefined) return null\n",
    "  if (phase === 'drained' || leaving === undefined) return null\n",
    'state-machine/members',
  ],
  [
    'V23',
    'answers of members allow a change of others',
    'src/operations/membership/change-members.ts',
    'requested.expectedConfigIndex ?? lookedAt ?? null',
    'requested.expectedConfigIndex ?? null',
    'api/membership',
  ],
  [
    'V20',
    'votes move to members that form no quorum',
    MOVES,
    '  if (silent.length < voters.length / 2) return null\n',
    '  if (silent.length >= 0) return null\n',
    'workers/membership',
  ],
  [
    'V21',
    'a cancelled operation continues',
    DRIVER,
    '    if (operation.isRevoked === true) return this.#giveUp(operation)\n',
    '',
    'workers/membership',
  ],
  [
    'V19',
    'any process that answers under the name of a joining node gets its vote',
    DRIVER,
    'if (reported.incarnation !== invited)',
    "if (reported.incarnation === '')",
    'workers/membership',
  ],
  [
    'V10',
    'another directory takes over the name of a member',
    `${ROWS}members/introducing.ts`,
    '  if (member.incarnation !== null && member.incarnation !== reported.incarnation) {\n',
    '  if (member.incarnation === reported.nodeId) {\n',
    'state-machine/members',
  ],
  [
    'V17',
    'an answer of an emptied disk counts towards a majority',
    'src/operations/membership/member-statuses.ts',
    '    return known === null || known === incarnation\n',
    "    return known === null || incarnation !== ''\n",
    'api/membership',
  ],
])

export const MEMBER_MUTANTS: readonly Mutant[] = [
  ...[...ORDER, ...RULES, ...HEARING].map(([id, bug, file, find, replace]): Mutant => {
    return { id, bug, file, find, replace, killers: 'members' }
  }),
  ...OPERATORS,
  ...BEHIND_OTHERS,
]
