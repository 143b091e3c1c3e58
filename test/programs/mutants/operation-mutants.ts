/**
 * Bugs in long operations, dry runs, scrubs on demand and usage: each omits one rule.
 *
 * Rule: the killer is the test of the part, over a map or a temporary directory.
 */
import type { Mutant } from './mutant.ts'

const killedBy = (...files: readonly string[]) => ({ tests: files.map((file) => `test/${file}.test.ts`) })

const RECOVERIES = killedBy('state-machine/rereplications')
const SHARES = killedBy('state-machine/shares')
const DEMAND = killedBy('repair/scrub-demand')
const DRY_RUN = killedBy('api/dry-run')
const HOLD = killedBy('state-machine/backup-hold')

export const OPERATION_MUTANTS: readonly Mutant[] = [
  {
    id: 'O1',
    bug: 'a recovery ends while lost copies are still counted',
    file: 'src/state-machine/long-operations/operations.ts',
    find: "present.kind === 'recovery' && present.cursor !== ALL_PLANNED",
    replace: "present.kind === 'recovery' && present.cursor === 'never'",
    killers: RECOVERIES,
  },
  {
    id: 'O2',
    bug: 'each report of a loss begins a recovery of its own',
    file: 'src/state-machine/long-operations/rereplications.ts',
    find: '  const recovery = present ?? beginOperation(',
    replace: '  const recovery = beginOperation(',
    killers: RECOVERIES,
  },
  {
    id: 'O3',
    bug: 'a copy that is reported twice is counted twice',
    file: 'src/state-machine/chunks/copies.ts',
    find: '{ copies: dropped, bytes, last }',
    replace: '{ copies: copies.length, bytes, last }',
    killers: RECOVERIES,
  },
  {
    id: 'O4',
    bug: 'a recovery can be cancelled, and its copies are never made',
    file: 'src/state-machine/long-operations/operations.ts',
    find: '  if (never !== undefined) return',
    replace: "  if (never === '') return",
    killers: RECOVERIES,
  },
  {
    id: 'O5',
    bug: 'recoveries wait in the queue of requested operations',
    file: 'src/state-machine/long-operations/operations.ts',
    find: "filter(({ kind }) => kind !== 'recovery')",
    replace: "filter(({ kind }) => kind !== 'scrub')",
    killers: RECOVERIES,
  },
  {
    id: 'O6',
    bug: 'the loss of a last copy is not reported',
    file: 'src/state-machine/long-operations/rereplications.ts',
    find: '  const error = loss.last > 0 ? LAST_COPIES_LOST : present.error\n',
    replace: '  const error = loss.last > 99 ? LAST_COPIES_LOST : present.error\n',
    killers: RECOVERIES,
  },
  {
    id: 'O7',
    bug: 'the end of an inventory is reported before its findings',
    file: 'cluster/repair/inventory.ts',
    find: '      await this.#look(page.refs)\n',
    replace: '      await ledger.inventoried(nodeId)\n      await this.#look(page.refs)\n',
    killers: killedBy('repair/inventory'),
  },
  {
    id: 'O8',
    bug: 'the share of a node that is done is reported again',
    file: 'src/state-machine/long-operations/shares.ts',
    find: '  if (before.isDone) return accept(present.value)\n',
    replace: '',
    killers: SHARES,
  },
  {
    id: 'O9',
    bug: 'the first node that is done ends the scrub of all',
    file: 'src/state-machine/long-operations/shares.ts',
    find: 'Object.values(shares).every(',
    replace: 'Object.values(shares).some(',
    killers: SHARES,
  },
  {
    id: 'O10',
    bug: 'a recount that differs leaves the collection running',
    file: 'src/state-machine/recount/recount-end.ts',
    find: '  if (differences > 0) haltCollection(',
    replace: '  if (differences > 1) haltCollection(',
    killers: SHARES,
  },
  {
    id: 'O11',
    bug: 'a scrub on demand continues from the position of the last one',
    file: 'cluster/repair/scrub.ts',
    find: '{ demand, passed: NOTHING_PASSED, after: null, isOver: false }',
    replace: '{ demand, passed: NOTHING_PASSED, isOver: false }',
    killers: DEMAND,
  },
  {
    id: 'O12',
    bug: 'an answered request is repeated once the next pass has started',
    file: 'cluster/repair/scrub.ts',
    find: ' && this.#demand !== answered?.word',
    replace: ' && (answered === null || this.#demand !== demand)',
    killers: DEMAND,
  },
  {
    id: 'O13',
    bug: 'copies found lost before another token arrived are never reported',
    file: 'cluster/repair/scrub.ts',
    find: '    await this.#reportLost()\n    // Before the inventory',
    replace: '    this.#unreported = []\n    // Before the inventory',
    killers: DEMAND,
  },
  {
    id: 'O14',
    bug: 'a paused scrub hurries on',
    file: 'src/workers/scrubbing.ts',
    find: "(status === 'queued' || status === 'running')",
    replace: "(status === 'queued' || status === 'running' || status === 'paused')",
    killers: killedBy('workers/scrubbing'),
  },
  {
    id: 'O15',
    bug: 'the end of another scrub is reported as the end of this one',
    file: 'src/workers/scrubbing.ts',
    find: '    if (demand?.word !== operationId) return false\n',
    replace: '    if (demand === null) return false\n',
    killers: killedBy('workers/scrubbing'),
  },
  {
    id: 'O16',
    bug: 'a dry run is committed',
    file: 'src/operations/base/dry-run.ts',
    find: '    outcome = await run(rehearsed(services))\n',
    replace: '    outcome = await run(services)\n',
    killers: DRY_RUN,
  },
  {
    id: 'O17',
    bug: 'a dry run calls wrong requests merely blocked',
    file: 'src/operations/base/dry-run.ts',
    find: '!(error instanceof Refusal) || !BLOCKING.has(error.code)',
    replace: '!(error instanceof Refusal)',
    killers: DRY_RUN,
  },
  {
    id: 'O18',
    bug: 'the saving of sharing is counted for the first reference too',
    file: 'src/state-machine/chunks/chunk-rows.ts',
    find: 'Math.max(0, references - 1)',
    replace: 'Math.max(0, references)',
    killers: killedBy('state-machine/model'),
  },
  {
    id: 'O19',
    bug: 'the figures of a tenant are of another moment than those of its buckets',
    file: 'src/store/rows/cut-view.ts',
    find: 'db.rowAt(keyBytes(key), snapshot)',
    replace: 'db.rowAt(keyBytes(key))',
    killers: killedBy('api/usage'),
  },
  {
    id: 'O20',
    bug: 'an object that is stored compressed says it is not',
    file: 'src/state-machine/bodies/bodies.ts',
    find: 'chunk.sealedSize < chunk.size',
    replace: 'chunk.sealedSize < 0',
    killers: killedBy('api/usage'),
  },
  {
    id: 'O21',
    bug: 'a chunk that a backup needs is collected',
    file: 'src/state-machine/chunks/collection.ts',
    find: 'if (condemnedAt > keptAfter) continue',
    replace: 'if (condemnedAt > keptAfter * 2) continue',
    killers: HOLD,
  },
  {
    id: 'O22',
    bug: 'a backup that makes no step holds chunks indefinitely',
    file: 'src/state-machine/long-operations/backups.ts',
    find: 'backup === undefined || backup.heldUntil <= confirmedTime ? first',
    replace: 'backup === undefined ? first',
    killers: HOLD,
  },
  {
    id: 'O23',
    bug: 'a hold that has ended starts again',
    file: 'src/state-machine/long-operations/backups.ts',
    find: 'if (backup.heldUntil <= confirmedTime)',
    replace: 'if (backup.heldUntil < 0)',
    killers: HOLD,
  },
]
