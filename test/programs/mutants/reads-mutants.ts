/**
 * Bugs of reads during overwrites and of bounded work, in any component.
 *
 * `RD..`. Each row names the quickest test that notices.
 */
import type { Mutant } from './mutant.ts'
import { inFolder, killedByTests, type TestedRow } from './rows.ts'

const applying: readonly TestedRow[] = [
  [
    'RD1',
    'the mark of a release is not checked',
    'bodies/discards.ts',
    '    const row = discardedAt <= upTo ? draft.get(key) : undefined\n',
    '    const row = draft.get(key)\n',
    'state-machine/discards',
    'programs/garbage/random',
  ],
  [
    'RD2',
    'the body of a version is dropped with it at level 3',
    'bodies/bodies.ts',
    '  if (featureLevel < KEEPS_BODIES_LEVEL) return',
    '  if (featureLevel <= KEEPS_BODIES_LEVEL) return',
    'state-machine/objects',
  ],
  [
    'RD3',
    'a body is kept at level 2, which older members do not do',
    'bodies/bodies.ts',
    '  if (featureLevel < KEEPS_BODIES_LEVEL) return',
    '  if (featureLevel < KEEPS_BODIES_LEVEL - 1) return',
    'state-machine/objects',
  ],
  [
    'RD4',
    'each body that a release names has the work of a whole entry',
    'bodies/discards.ts',
    '{ body: row.body, most: WORK_PER_STEP - work }, context)\n    if',
    '{ body: row.body, most: WORK_PER_STEP }, context)\n    if',
    'state-machine/discards',
  ],
  [
    'RD5',
    'a recount overlooks bodies that wait for their release',
    'recount/recount.ts',
    "    else if (kind === 'discarded') this.#takeDiscarded(row as DiscardedBodyRecord)\n",
    '',
    'state-machine/discards',
  ],
]

const elsewhere: readonly TestedRow[] = [
  [
    'RD6',
    'a worker that was not on duty keeps its marks',
    'src/workers/discarding.ts',
    '      this.#marks.clear()\n',
    '',
    'workers/discarding',
  ],
  [
    'RD7',
    'a mark is due from the moment at which it is made',
    'src/workers/delay-marks.ts',
    'at - seenAt >= delayMs',
    'at - seenAt >= 0',
    'workers/discarding',
  ],
  [
    'RD8',
    'the inline body is read after the cut of its version',
    'src/content/read-content.ts',
    'parts.pinned.inline ?? parts.state',
    'parts.state',
    'api/body-removed-before-read',
  ],
  [
    'RD9',
    'a read whose body went before its first byte is not looked up again',
    'src/api/proved-request.ts',
    'error instanceof BodyGoneError && look < LOOKS_MAX',
    'error instanceof BodyGoneError && look < 1',
    'api/body-removed-before-read',
  ],
  [
    'RD10',
    'commands of one entry are decided without yielding to others',
    'src/store/apply/level-state-machine.ts',
    '      if (turns.isOver(view.touched - touched)) await turns.end()\n',
    '',
    'store/apply-turns',
  ],
  [
    'RD12',
    'a leader ends no batch by the cost of its proposals',
    'cluster/node/proposals/batcher.ts',
    ' || cost > limits.batchCostMax',
    '',
    'node/batcher',
  ],
  [
    'RD13',
    'costs that a peer sends are not checked',
    'cluster/node/proposals/propose-handler.ts',
    'withCosts(withNeeds(proposalsIn(bytes), header), header)',
    'withNeeds(proposalsIn(bytes), header)',
    'node/propose-call',
  ],
  [
    'RD14',
    'a batch of the state machine has no bound in rows',
    'cluster/node/state/applier.ts',
    ' || cost > applyCostMax',
    '',
    'node/applier',
  ],
  [
    'RD15',
    'pipelined requests are all started at once',
    'src/api/connection-turns.ts',
    '    if (lane !== undefined) {\n',
    '    if (lane !== undefined && lane.length > 1_000_000) {\n',
    'api/pipelined',
  ],
  [
    'RD16',
    'copies are looked for in old rows only',
    'src/content/read-chunk.ts',
    '      await this.#chunk.readBarrier()\n',
    '',
    'content/read-chunk',
  ],
  [
    'RD17',
    'copies that may answer a moment later are not tried again',
    'src/content/read-chunk.ts',
    'isElsewhere || this.faults.some(mayPass)',
    'isElsewhere',
    'content/read-chunk',
  ],
  [
    'RD18',
    'a member that leaves is refused in the middle of the downloads that it serves',
    'src/workers/membership.ts',
    '((await membership.ask(name))?.downloads ?? 0) > 0',
    'false',
    'workers/membership',
  ],
  [
    'RD19',
    'a member has left although it may begin another download',
    'src/workers/membership.ts',
    'if (peers.some(({ nodeId }) => nodeId === name)) return true\n',
    '',
    'workers/membership',
  ],
]

export const READS_MUTANTS: readonly Mutant[] = killedByTests([
  ...inFolder('src/state-machine/', applying),
  ...elsewhere,
])
