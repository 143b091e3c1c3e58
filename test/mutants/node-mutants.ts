/**
 * Bugs around the core: its driver, the way from committed entries to state and replies, and the wire to the peers.
 *
 * `M..` is of the list of named bugs in RELIABILITY.md; `N..` (cluster/node) and `T..` (cluster/transport) are slips of the pen.
 */
import type { Mutant } from './mutant.ts'
import { inRoom, killedByTests, type TestedRow } from './rows.ts'

const NODE = 'cluster/node/'
const TRANSPORT = 'cluster/transport/'

/** Each with its whole path. */
const named: readonly TestedRow[] = [
  [
    'M6',
    'an uncommitted configuration stands in the record, and so in a snapshot',
    `${NODE}driver.ts`,
    '    return new Applier({\n      ...this.#parts,\n',
    `    const { stateMachine } = this.#parts
    return new Applier({
      ...this.#parts,
      stateMachine: Object.assign(Object.create(stateMachine), {
        checksum: () => stateMachine.checksum(),
        apply: async (batch: Parameters<typeof stateMachine.apply>[0]) => {
          const { decodeMachineRecord, encodeMachineRecord } = await import('./machine-record.ts')
          const { configuration } = this.#loop.status()
          const record = encodeMachineRecord({ ...decodeMachineRecord(batch.record), configuration })
          return stateMachine.apply({ ...batch, record })
        },
      }),
`,
    'node/membership',
  ],
  [
    'M10',
    'a node goes on voting after its log could not be written',
    `${NODE}driver.ts`,
    '    this.#ticker.stop()\n    this.#loop.mute()\n',
    '',
    'node/node',
  ],
  [
    'M24',
    'a promotion is in force and not in the record',
    `${NODE}applier.ts`,
    '      configuration: this.#configuration,\n',
    '      configuration: this.#parts.record.configuration,\n',
    'node/membership',
  ],
  [
    'M31',
    'a member whose disk was emptied is heard under its old name',
    `${NODE}peer-gate.ts`,
    '    if (registered.incarnation !== incarnation) {\n',
    '    if (registered.incarnation === null) {\n',
    'node/peer-gate',
  ],
  [
    'M32',
    'a leader that reads does not notice that it has lost its majority',
    'cluster/raft/leader.ts',
    '  if (!hasQuorum(core.configurations.current, isHeard)) {\n',
    '  if (leadership.reads.open === null && !hasQuorum(core.configurations.current, isHeard)) {\n',
    'node/node',
  ],
  [
    'N27',
    'an uncommitted entry of another term closes the hole of another node',
    'cluster/node/log-entries-call.ts',
    '      if (entry === null || (index > commitIndex && entry.term !== term)) continue\n',
    '      if (entry === null || (index > commitIndex && entry.term === null)) continue\n',
    'node/log-entries-call',
  ],
]

const node: readonly TestedRow[] = [
  [
    'N13',
    'the record names the batch before',
    'applier.ts',
    '      appliedIndex: last.index,\n      appliedTerm: last.term,\n      lastTime',
    '      appliedIndex: this.#appliedIndex,\n      appliedTerm: this.#appliedTerm,\n      lastTime',
    'node/node-recovery',
  ],
  [
    'N14',
    'time goes back when the leader changes',
    'applier.ts',
    'this.#lastTime = Math.max(this.#lastTime + 1, time)',
    'this.#lastTime = time',
    'node/clocks',
  ],
  [
    'N15',
    'entries count as applied before they are durable',
    'applier.ts',
    '    const replies = await this.#parts.stateMachine.apply({ entries: batches, record })\n',
    '    this.#appliedIndex = last.index\n    const replies = await this.#parts.stateMachine.apply({ entries: batches, record })\n',
    'node/node',
  ],
  [
    'N16',
    'a batch goes over the point where every node takes its checksum',
    'applier.ts',
    '      if (index % checksumEvery === 0) break\n',
    '',
    'node/applier',
  ],
  [
    'N17',
    'a state is replaced while a batch is applied to it',
    'applier.ts',
    '      await this.#work\n      if (this.#isClosed) return null\n',
    '      if (this.#isClosed) return null\n',
    'node/applier',
  ],
  [
    'N18',
    'what a snapshot holds is applied again',
    'applier.ts',
    '    this.#waiting = this.#waiting.filter(({ index }) => index > record.appliedIndex)\n',
    '',
    'node/applier',
  ],
  [
    'N19',
    'a snapshot that is older than the state is installed',
    'snapshot-puller.ts',
    'index >= atLeast.index && index > applier.appliedIndex',
    'index >= 0 && applier.appliedIndex >= 0',
    'node/snapshots',
  ],
  [
    'N20',
    'a read is served before its index is applied',
    'driver.ts',
    'return this.reads.onReady(effect.readId, effect.index)',
    'return this.reads.onReady(effect.readId, 0)',
    'node/node',
  ],
  [
    'N21',
    'a read joins a round that began before it',
    'read-barriers.ts',
    '      this.#gathering.push({ deadline, resolve, reject })\n',
    '      const open = [...this.#asked.values()].at(-1)\n      const readers = open?.readers ?? this.#gathering\n      readers.push({ deadline, resolve, reject })\n',
    'node/read-barriers',
  ],
  [
    'N22',
    'the core is stepped after the end',
    'core-loop.ts',
    '    if (this.#isMute) return\n    this.#inputs.push(input)\n',
    '    this.#inputs.push(input)\n',
    'node/core-loop',
  ],
  [
    'N23',
    'what the core orders is begun after the end',
    'core-loop.ts',
    '        if (this.#isMute) return\n',
    '',
    'node/core-loop',
  ],
  [
    'N24',
    'a node that mends answers',
    'node.ts',
    "      throw new PeerRefusedError('mending', `Node ${this.nodeId} is being mended and answers nothing yet`)\n",
    '      return { header: { term: 0, refused: [], baseIndex: 0, commitIndex: 0 } }\n',
    'node/mending',
  ],
  [
    'N25',
    'a damaged state is used',
    'mending-plan.ts',
    "  if (fault !== null) return { of: 'state', why: fault, atLeast: base.index }\n",
    '',
    'node/mending-plan',
  ],
  [
    'N26',
    'a hole above what is applied is given up',
    'mending-plan.ts',
    '  if (holes.some(({ index }) => index > applied.index))\n',
    '  if (holes.some(({ index }) => index < base.index))\n',
    'node/mending-plan',
  ],
  [
    'N28',
    'a node that lost its log starts, and forgets its votes',
    'recovery.ts',
    '  if (applied.index > 0 && log.hardState.currentTerm === 0) throw logMissing(applied)\n',
    '',
    'node/formats',
  ],
  [
    'N29',
    'a log that contradicts the state goes on behind it',
    'recovery.ts',
    'if (termAt(log, applied.index) === applied.term) {',
    'if (termAt(log, applied.index) !== null) {',
    'node/formats',
  ],
  [
    'N30',
    'an outvoted node goes on',
    'state-guard.ts',
    '      this.#parts.onDamaged(new StateDamagedError(message))\n',
    '      this.#parts.logger.error({}, message)\n',
    'node/state-guard',
  ],
  [
    'N31',
    'half of the members outvote the others',
    'checksum-points.ts',
    'count > members / 2',
    'count >= members / 2',
    'node/state-guard',
  ],
  [
    'N32',
    'the failure is told before the distrust is durable',
    'node.ts',
    'void (this.#distrusting ?? Promise.resolve()).then(',
    'void Promise.resolve().then(',
    'node/mending',
  ],
  [
    'N33',
    'a stalled disk keeps the lead',
    'disk-watch.ts',
    'if ((this.#isTold || this.#isFull) && ',
    'if (this.#isFull && ',
    'node/disk-watch',
  ],
  [
    'N34',
    'a dead disk is waited for for ever',
    'disk-watch.ts',
    '    if (age > limits.diskDeadMs) {\n',
    '    if (age < 0) {\n',
    'node/disk-watch',
  ],
  [
    'N35',
    'a pause of the process passes for many ticks',
    'ticker.ts',
    "elapsed > gapMs ? 'tickGap' : 'tick'",
    "elapsed < 0 ? 'tickGap' : 'tick'",
    'node/ticker',
  ],
  [
    'N36',
    'a node that was left behind by a recovery has a say',
    'peer-gate.ts',
    '    if (recoveryEpoch < state.recoveryEpoch) {\n',
    '    if (recoveryEpoch < 0) {\n',
    'node/peer-gate',
  ],
  [
    'N37',
    'a copy of the disk from before the last start is heard',
    'peer-gate.ts',
    '    if (boot >= registered.boot) return null\n',
    '    if (boot >= 0) return null\n',
    'node/peer-gate',
  ],
  [
    'N38',
    'the blocks of a snapshot go to anybody',
    'snapshot-cuts.ts',
    'served === undefined || served.reader !== from',
    'served === undefined',
    'node/snapshots',
  ],
  [
    'N40',
    'entries are given up that are not applied',
    'log-keeper.ts',
    '    this.#baseIndex += drop\n    return this.#baseIndex\n',
    '    this.#baseIndex += drop\n    return this.#baseIndex + 1\n',
    'node/formats',
  ],
]

const transport: readonly TestedRow[] = [
  [
    'T1',
    'a frame of another version is read',
    'frame.ts',
    '  if (version !== FRAME_VERSION) throw new MalformedFrameError(`Frame version ${version} is unknown`)\n',
    '',
    'transport/frame',
  ],
  [
    'T2',
    'the decoder sees bytes that nobody has looked over',
    'frame.ts',
    'function unpack(bytes: Uint8Array): unknown {\n  assertPlainMsgpack(bytes)\n',
    'function unpack(bytes: Uint8Array): unknown {\n',
    'transport/frame',
  ],
  [
    'T3',
    'a request for another cluster is answered',
    'peer-identity.ts',
    '  if (cluster !== self.clusterId)\n',
    "  if (cluster === '')\n",
    'transport/http-refusals',
  ],
  [
    'T4',
    'the node is not asked whom it hears',
    'peer-identity.ts',
    '  const objection = rules.judge(claims)\n',
    '  const objection = claims.boot < 0 ? rules.judge(claims) : null\n',
    'transport/http-refusals',
  ],
  [
    'T5',
    'a batch of any size is kept in memory',
    'peer-server.ts',
    '    if (length > FRAME_BYTES_MAX) return null\n',
    '',
    'transport/http-refusals',
  ],
  [
    'T6',
    'what waits for a peer has no bound',
    'raft-lane.ts',
    '      this.#queue.length > QUEUE_MESSAGES_MAX ||\n',
    '',
    'transport/raft-lane',
  ],
  [
    'T7',
    'messages from before an outage arrive after it',
    'raft-lane.ts',
    '    this.#dropAll()\n    this.#lastAppend = null\n',
    '    this.#lastAppend = null\n',
    'transport/raft-lane',
  ],
  [
    'T8',
    'the message that opens a read round is left out',
    'raft-lane.ts',
    '    !opensRead &&\n',
    '    (!opensRead || next.entries.length > 0) &&\n',
    'transport/raft-lane',
  ],
]

export const NODE_MUTANTS: readonly Mutant[] = killedByTests([
  ...named,
  ...inRoom(NODE, node),
  ...inRoom(TRANSPORT, transport),
])
