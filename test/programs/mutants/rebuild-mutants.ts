/**
 * Bugs in the replacement of a damaged state while the node runs: `R..`, in any component.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const RAFT = 'cluster/raft/'
const NODE = 'cluster/node/'
const STORE = 'src/store/'

const rows: readonly TestedRow[] = [
  [
    'R1',
    'a node without a state asks to lead',
    `${RAFT}election.ts`,
    '  if (fetching !== null || isStateLost) return false\n',
    '  if (fetching !== null) return false\n',
    'raft/lost-state',
  ],
  [
    'R2',
    'entries that the driver still has are handed out again after the state is replaced',
    `${RAFT}snapshot.ts`,
    '  core.handedIndex = Math.max(core.handedIndex, base.index)\n',
    '  core.handedIndex = base.index\n',
    'raft/lost-state',
  ],
  [
    'R3',
    'a leader that is contradicted by the new state keeps leading',
    `${RAFT}snapshot.ts`,
    "    if (core.role !== 'follower') becomeFollower(core, core.term, null)\n",
    '',
    'raft/lost-state',
  ],
  [
    'R4',
    'a state is fetched before the quarantine mark is durable',
    `${NODE}state/state-rebuild.ts`,
    '    const isMarked = await quarantine(stateMachine, damage, logger)\n',
    '    void quarantine(stateMachine, damage, logger)\n    const isMarked = true\n',
    'node/state-rebuild-parts',
  ],
  [
    'R5',
    'reads are answered by a damaged state',
    `${NODE}reads/read-barriers.ts`,
    '    if (this.#parts.unreadable() !== null) return\n',
    '',
    'node/state-rebuild',
  ],
  [
    'R6',
    'a batch that found damage is dropped',
    `${NODE}state/applier.ts`,
    '    this.#waiting.unshift(...this.#taken.filter(({ index }) => index > this.#appliedIndex))\n',
    '',
    'node/applier',
  ],
  [
    'R7',
    'a state that is older than the one here replaces it',
    `${NODE}state/snapshot-puller.ts`,
    'index >= applier.appliedIndex\n',
    'index >= 0\n',
    'node/state-rebuild',
    'node/state-rebuild-ends',
  ],
  [
    'R8',
    'replies of a damaged state are returned',
    `${NODE}state/applier.ts`,
    'this.#isSuspended ? [] : completions',
    'completions',
    'node/applier',
  ],
  [
    'R9',
    'peers continue reading a damaged state',
    `${NODE}state/local-state.ts`,
    '        void this.#cuts.closeAll()\n',
    '',
    'node/state-rebuild',
  ],
  [
    'R10',
    'the core learns of the new state after entries were applied to it',
    `${NODE}state/applier.ts`,
    '      onAdopted(record)\n      return record\n',
    '      setImmediate(() => onAdopted(record))\n      return record\n',
    'node/applier',
  ],
  [
    'R11',
    'a leader keeps leadership without a state',
    `${NODE}state/state-rebuild.ts`,
    '      handOver()\n',
    '',
    'node/state-rebuild',
  ],
  [
    'R12',
    'a node requests a state forever',
    `${NODE}state/state-rebuild.ts`,
    'attempt <= limits.rebuildAttemptsMax && !this.#isClosed',
    '!this.#isClosed',
    'node/state-rebuild-parts',
  ],
  [
    'R13',
    'damage of the state just installed is not reported',
    `${NODE}state/local-state.ts`,
    '    if (this.rebuild.isUnderWay) this.#parts.onFatal(damage)\n    else this.#onDamaged(damage)\n',
    '    this.#onDamaged(damage)\n',
    'node/state-rebuild-ends',
  ],
  [
    'R14',
    'readers continue on a state that is known to be damaged',
    `${STORE}apply/level-state-machine.ts`,
    '    this.#withdrawn ??= this.handle.swap(null, damage.message)\n',
    '',
    'store/damage-in-use',
  ],
  [
    'R15',
    'damage that LevelDB finds in a write stops the node',
    `${STORE}apply/level-state-machine.ts`,
    '      if (cause instanceof StateDamagedError) throw cause\n',
    '',
    'store/damage-in-use',
  ],
  [
    'R16',
    'a read that found damage is not repeated',
    'src/api/proved-request.ts',
    '        if (!isRead(request) || !mayLookAgain(error, look)) throw noted(services, asKnown(error), request)\n',
    '        throw noted(services, asKnown(error), request)\n',
    'api/damaged-state',
  ],
]

export const REBUILD_MUTANTS: readonly Mutant[] = killedByTests(rows)
