/**
 * Bugs in changes of the members: in the driver, in what rows decide, in who is heard.
 *
 * `V..`; what kills them is a walk of membership in the simulator. `ME..`: what operators met, killed by the tests named there.
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
    'a step is told before the vote has moved',
    MOVES,
    '      return old === null || !voters.includes(old)\n    default:',
    '      return old === null || !voters.includes(old) || voters.length > 2\n    default:',
  ],
  [
    'V2',
    'a newcomer that was sent away stays in the configuration',
    DRIVER,
    '    if (left.length < learners.length)\n',
    "    if (left.length < learners.length && newcomer === '')\n",
  ],
  [
    'V3',
    'a newcomer gets its vote before it has kept up',
    DRIVER,
    "    if (lack !== null) return this.#say(operation, lack)\n    return this.#tell(operation, 'promoting')\n",
    "    if (lack?.phase === '') return this.#say(operation, lack)\n    return this.#tell(operation, 'promoting')\n",
  ],
  [
    'V4',
    'a member is excluded in the rows alone',
    MOVES,
    '      return old === null || !(voters.includes(old) || learners.includes(old))\n',
    '      return old === null || !voters.includes(old)\n',
  ],
  [
    'V19',
    'whoever answers under the name of a newcomer gets its vote',
    DRIVER,
    'if (its.incarnation !== invited)',
    "if (its.incarnation === '')",
  ],
]

const RULES: readonly Row[] = [
  [
    'V7',
    'the right to change votes is given back too early',
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
    `${ROWS}operations/cancelling.ts`,
    "|| cursor === 'catchUp' ||",
    "|| cursor !== 'done' ||",
  ],
  [
    'V13',
    'a copy of a member that leaves goes before another can be read',
    `${ROWS}chunks/evacuation.ts`,
    '  const replicas = readable.length >= needed ? others : before.replicas\n',
    '  const replicas = others\n',
  ],
]

const HEARING: readonly Row[] = [
  [
    'V14',
    'whoever left is still heard',
    'cluster/membership/directory.ts',
    '    if (!this.#departed.has(nodeId)) return null\n',
    "    if (!this.#departed.has('')) return null\n",
  ],
  [
    'V15',
    'an emptied disk is heard under the name it had',
    'cluster/node/peers/peer-gate.ts',
    '    if (registered.incarnation !== incarnation) {\n',
    "    if (registered.incarnation === '') {\n",
  ],
  [
    'V16',
    'an old copy of a disk is heard',
    'cluster/node/peers/peer-gate.ts',
    '    if (descendsFrom({ boot, before }, registered.boot)) return null\n',
    '    if (descendsFrom({ boot, before }, 0)) return null\n',
  ],
]

/** What operators met: names that are taken, answers to what is asked twice. */
const OPERATORS = killedByTests([
  [
    'ME1',
    'a name that another data directory owns is joined all the same, and stalls for ever',
    'src/operations/membership/member-statuses.ts',
    '  if (registered !== null && registered !== said.incarnation)\n',
    "  if (registered === '')\n",
    'api/membership-operators',
  ],
  [
    'ME6',
    'a lost member is forgotten, whom a chunk may still name',
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
    'a join is answered with an operation that was given up',
    'src/operations/membership/running-change.ts',
    '  if (!isFinished(operation.status) && operation.isRevoked !== true) return\n',
    '  if (operation.status !== null) return\n',
    'api/membership-operators',
  ],
  [
    'ME10',
    'a replacement stands in the zone of nobody',
    'src/operations/membership/replace-voter.ts',
    "named.zone ?? old?.zone ?? 'default'",
    "named.zone ?? 'default'",
    'api/membership-operators',
  ],
])

/** Walks come there hardly ever, or never: other layers stand before it. */
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
    'a joint configuration, or one that is not committed, is told of as if it were the last word',
    DRIVER,
    '    if (!isSettled(status)) return false\n    if (hasMoved(',
    '    if (hasMoved(',
    'workers/membership',
  ],
  [
    'V6',
    'the only voter waits for somebody to hand over to',
    DRIVER,
    'if (leavingNode === nodeId && !isAlone)',
    'if (leavingNode === nodeId)',
    'workers/membership',
  ],
  [
    'V9',
    'a name that left comes back',
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
    'what members answered allows a change of others',
    'src/operations/membership/change-members.ts',
    'requested.expectedConfigIndex ?? lookedAt ?? null',
    'requested.expectedConfigIndex ?? null',
    'api/membership',
  ],
  [
    'V20',
    'votes move to where nobody could decide any more',
    MOVES,
    '  if (silent.length < voters.length / 2) return null\n',
    '  if (silent.length >= 0) return null\n',
    'workers/membership',
  ],
  [
    'V21',
    'what is to be given up goes on',
    DRIVER,
    '    if (operation.isRevoked === true) return this.#giveUp(operation)\n',
    '',
    'workers/membership',
  ],
  [
    'V10',
    'another directory takes over the name of a member',
    `${ROWS}members/members.ts`,
    '  if (member.incarnation !== null && member.incarnation !== said.incarnation) {\n',
    '  if (member.incarnation === said.nodeId) {\n',
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
