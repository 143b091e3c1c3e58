/**
 * Bugs in the collection of garbage, each omits one rule: in apply, in the verdict on a copy, in the commits of a gateway.
 *
 * Rule: the killer is the simulator of test/programs/garbage, or the tests of the part where the simulator has a model of it.
 */
import type { Mutant } from './mutant.ts'

const SIMULATOR = { tests: ['test/programs/garbage/random.test.ts'] }

const REMOVER = { tests: ['test/repair/copy-remover.test.ts'] }

export const GARBAGE_MUTANTS: readonly Mutant[] = [
  {
    id: 'G1',
    bug: 'collection ignores that a chunk was revived',
    file: 'src/state-machine/chunks/collection.ts',
    find: '    if (before === undefined || !isStill || before.references > 0) continue\n',
    replace: '    if (before?.birth !== birth || isStill === null) continue\n',
    killers: SIMULATOR,
  },
  {
    id: 'G2',
    bug: 'a late commit of an ended upload is accepted',
    file: 'src/state-machine/chunks/chunks.ts',
    find: "filter((birth) => stateOfBirth(view, birth) !== 'open')",
    replace: "filter((birth) => stateOfBirth(view, birth) === 'unknown')",
    killers: SIMULATOR,
  },
  {
    id: 'G3',
    bug: 'the low-water mark passes uploads in progress',
    file: 'src/workers/upload-sessions.ts',
    find: '  return Math.min(session.next, session.heldAt, ...session.active)\n',
    replace: '  return session.next\n',
    killers: SIMULATOR,
  },
  {
    id: 'G4',
    bug: 'a new task leaves the permission to remove its copy',
    file: 'src/state-machine/chunks/chunk-rows.ts',
    find: '    if (isNew && draft.get(key) !== undefined) draft.remove(key)\n',
    replace: '    if (isNew && draft.get(key) === null) draft.remove(key)\n',
    killers: SIMULATOR,
  },
  {
    id: 'G5',
    bug: 'a move strikes the old copy off before the new one was read back',
    file: 'src/state-machine/chunks/copies.ts',
    find: '    const after = { ...before, owed: [...before.owed, target] }\n',
    replace:
      "    const after = { ...before, replicas: without(before.replicas, replaces ?? ''), owed: [...before.owed, target] }\n",
    killers: SIMULATOR,
  },
  {
    id: 'G6',
    bug: 'a session that is not known here is taken for closed',
    file: 'src/state-machine/chunks/copy-status.ts',
    find: "stateOfBirth(view, copy.birth) === 'ended'",
    replace: "stateOfBirth(view, copy.birth) !== 'open'",
    killers: SIMULATOR,
  },
  {
    id: 'G7',
    bug: 'the end of a task counts for one that was granted again',
    file: 'src/state-machine/chunks/copies.ts',
    find: '  if (task?.permit !== permit || !mayHold(draft, node)) return false\n',
    replace: '  if (task === undefined) return false\n',
    killers: SIMULATOR,
  },
  {
    id: 'G8',
    bug: 'a copy that is being made may be removed',
    file: 'src/state-machine/chunks/copy-status.ts',
    find: "  if (chunk?.owed.includes(holder) === true) return 'owed'\n",
    replace: '',
    killers: SIMULATOR,
  },
  {
    id: 'G9',
    bug: 'an upload with too few copies takes a row over',
    file: 'src/state-machine/chunks/chunks.ts',
    find: '  return isUsable || hasCopies(view, use.replicas, copiesMin)\n',
    replace: '  return isUsable || hasCopies(view, use.replicas, 0)\n',
    killers: { tests: ['test/state-machine/objects.test.ts'] },
  },
  {
    id: 'G10',
    bug: 'the copies of a making that was taken over are forgotten',
    file: 'src/state-machine/chunks/chunk-rows.ts',
    find: '    if (before === null || (isSameMaking && needed.includes(node))) continue\n',
    replace: '    if (before === null || !isSameMaking || needed.includes(node)) continue\n',
    killers: { tests: ['test/state-machine/objects.test.ts'] },
  },
  {
    id: 'G11',
    bug: 'a birth that made a row makes another one',
    file: 'src/state-machine/chunks/chunks.ts',
    find: '  if (present?.birth === use.birth) return false\n',
    replace: '',
    killers: { tests: ['test/state-machine/objects.test.ts'] },
  },
  {
    id: 'G12',
    bug: 'a copy is removed by a status that was read before its lock was held',
    file: 'cluster/repair/copy-remover.ts',
    find: `    return locks.hold(name, async () => (await this.#removeLocked([name])).length > 0)
`,
    replace: `    const gone = mayRemove(this.#options.ledger.copyStatus(name, this.#options.nodeId))
    return locks.hold(name, async () => {
      if (gone) await this.#options.store.remove([name])
      return gone
    })
`,
    killers: REMOVER,
  },
  {
    id: 'G13',
    bug: 'a copy is removed without its lock',
    file: 'cluster/repair/copy-remover.ts',
    find: '    return locks.hold(name, async () => (await',
    replace: '    return Promise.resolve(locks).then(async () => (await',
    killers: REMOVER,
  },
  {
    id: 'G14',
    bug: 'copies are removed before the read barrier',
    file: 'cluster/repair/copy-remover.ts',
    find: '    if (!this.#isCurrent) await this.#options.readBarrier()\n',
    replace: '',
    killers: REMOVER,
  },
  {
    id: 'G15',
    bug: 'a copy that is undecided is removed',
    file: 'cluster/repair/may-remove.ts',
    find: "copyStatus === 'abandoned'",
    replace: "copyStatus !== 'listed'",
    killers: SIMULATOR,
  },
  {
    id: 'G16',
    bug: 'an upload of unknown outcome counts as ended',
    file: 'src/workers/upload-sessions.ts',
    find: "  if (outcome === 'known') return\n",
    replace: '  if (outcome !== null) return\n',
    killers: { tests: ['test/workers/upload-sessions.test.ts'] },
  },
  {
    id: 'G17',
    bug: 'a session is opened a second time',
    file: 'src/state-machine/chunks/upload-sessions.ts',
    find: '  if (draft.get(chunkKeys.session(session)) !== undefined) {\n',
    replace: '  if (draft.get(chunkKeys.session(session))?.closed === true) {\n',
    killers: { tests: ['test/state-machine/collection.test.ts'] },
  },
  {
    id: 'G18',
    bug: 'the session is read after the rows that its last commit wrote',
    file: 'src/state-machine/chunks/copy-status.ts',
    find: "  return hasEnded ? 'abandoned' : 'undecided'\n",
    replace: "  return stateOfBirth(view, copy.birth) === 'ended' || hasEnded ? 'abandoned' : 'undecided'\n",
    killers: { tests: ['test/state-machine/collection.test.ts'] },
  },
]
