/**
 * Bugs in the detection and counting of disks that went back: `RB..`, in any component.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const RAFT = 'cluster/raft/'
const NODE = 'cluster/node/'

const rows: readonly TestedRow[] = [
  [
    'RB1',
    'a quorum that relies on a suspect is a majority',
    `${RAFT}quorum.ts`,
    '  return Math.min(majorityCount(half) + 1, half.length)\n',
    '  return majorityCount(half)\n',
    'node/disk-went-back',
  ],
  [
    'RB2',
    'a vote of a suspect counts like any other',
    `${RAFT}election.ts`,
    '(core.votes.get(nodeId)?.doubt ?? null) === null\n',
    'core.votes.get(nodeId) !== undefined\n',
    'node/disk-went-back',
  ],
  [
    'RB3',
    'the own vote of a suspect counts like any other',
    `${RAFT}election.ts`,
    'doubt: ownDoubt(core) }',
    'doubt: null }',
    'node/disk-went-back',
  ],
  [
    'RB4',
    'entries acknowledged by a suspect commit by a majority',
    `${RAFT}progress.ts`,
    '    if (doubt === null && !this.hasForgotten',
    '    if (!this.hasForgotten',
    'raft/forgotten-log',
  ],
  [
    'RB5',
    'a suspect confirms a read round like any other',
    `${RAFT}leader.ts`,
    '  if (message.doubt === undefined) peer.provedToken',
    '  peer.provedToken',
    'raft/forgotten-log',
  ],
  [
    'RB6',
    'a suspect that asks for a read index confirms it',
    `${RAFT}read-index.ts`,
    'nodeId === requester && doubt === undefined',
    'nodeId === requester',
    'raft/forgotten-log',
  ],
  [
    'RB7',
    'the first rejection below an acknowledgement is believed, however old it is',
    `${RAFT}progress.ts`,
    '    if (echoedToken < this.#proofToken) return false\n',
    '',
    'raft/forgotten-log',
  ],
  [
    'RB8',
    'a leader never accepts that a peer lost acknowledged entries',
    `${RAFT}leader.ts`,
    '  const hasLost = message.index <= acknowledged && hasLostAcknowledged(core, peer, message)\n',
    '  const hasLost = message.index < 0 && hasLostAcknowledged(core, peer, message)\n',
    'raft/forgotten-log',
  ],
  [
    'RB9',
    'a log that ends before its state is taken for an install',
    `${NODE}disk-proof/disk-findings.ts`,
    '  return termIn(log, appliedIndex) !== appliedTerm\n',
    '  return termIn(log, appliedIndex) === null && appliedTerm < 0\n',
    'node/disk-went-back',
  ],
  [
    'RB10',
    'a second start on the same host proves the first',
    'cluster/raft-half/disk-proof-file.ts',
    "    await this.#write(trust === 'proved' ? 'running' : trust)\n",
    "    await this.#write('running')\n",
    'node/disk-proof-file',
  ],
  [
    'RB11',
    'a copy of a directory that was stopped cleanly is proved',
    `${NODE}disk-proof/disk-verdict.ts`,
    "  if (noted.marker !== marker) return suspect('the directory is a copy')\n",
    '',
    'node/disk-proof-file',
  ],
  [
    'RB12',
    'a state that was applied to still counts as just installed',
    'src/store/apply/level-state-machine.ts',
    '      await this.#endInstalled()\n',
    '',
    'store/state-install-contract',
  ],
  [
    'RB13',
    'an acknowledgement beyond the log is counted',
    `${RAFT}leader.ts`,
    '  if (index <= lastIndex) return false\n',
    '  if (index >= 0) return false\n',
    'raft/forgotten-log',
  ],
  [
    'RB14',
    'two suspects wait for the vote of a node that is a learner by now',
    `${RAFT}election.ts`,
    '  if (core.log.matches(committed.index, committed.term)) commitTo(core, committed.index)\n',
    '',
    'raft/forgotten-log',
  ],
  [
    'RB15',
    'the commit index of a voter is applied to the own entry at that index',
    `${RAFT}election.ts`,
    '  if (core.log.matches(committed.index, committed.term)) commitTo',
    '  if (committed.index <= core.log.lastIndex) commitTo',
    'raft/forgotten-log',
  ],
  [
    'RB22',
    'what follows a new configuration waits for one more answer',
    `${RAFT}leader.ts`,
    '    commitTo(core, index)\n  }\n',
    '    return commitTo(core, index)\n  }\n',
    'raft/forgotten-log',
  ],
]

/** Killed by seeds of the simulator in which disks go back. */
const SIMULATED: readonly (readonly [
  id: string,
  bug: string,
  file: string,
  find: string,
  replace: string,
])[] = [
  [
    'RB16',
    'one voter more than a majority is not required',
    `${RAFT}quorum.ts`,
    '  return Math.min(majorityCount(half) + 1, half.length)\n',
    '  return majorityCount(half)\n',
  ],
  [
    'RB17',
    'a vote of a suspect counts like those of proved disks',
    `${RAFT}election.ts`,
    '(core.votes.get(nodeId)?.doubt ?? null) === null\n',
    'core.votes.get(nodeId) !== undefined\n',
  ],
  [
    'RB18',
    'no node reports that its disk is in doubt',
    `${RAFT}core.ts`,
    "  return trust === 'proved' ? header : { ...header, doubt: trust }\n",
    "  return trust !== 'proved' && term < 0 ? { ...header, doubt: trust } : header\n",
  ],
  [
    'RB19',
    'acknowledgements of a suspect count as proved',
    `${RAFT}progress.ts`,
    '    if (doubt === null && !this.hasForgotten',
    '    if (doubt !== undefined && !this.hasForgotten',
  ],
  [
    'RB20',
    'another host counts as the same',
    `${NODE}disk-proof/disk-verdict.ts`,
    'noted.hostBoot !== null && noted.hostBoot === hostBoot\n',
    'noted.hostBoot !== null && hostBoot !== null\n',
  ],
  [
    'RB21',
    'the witness is not read',
    `${NODE}disk-proof/disk-verdict.ts`,
    '  if (seen !== null && lastBatch !== null && seen > lastBatch)\n',
    '  if (seen !== null && lastBatch !== null && seen < 0)\n',
  ],
]

export const ROLLBACK_MUTANTS: readonly Mutant[] = [
  ...killedByTests(rows),
  ...SIMULATED.map(([id, bug, file, find, replace]) => {
    return { id, bug, file, find, replace, killers: 'disks' } as const
  }),
]
