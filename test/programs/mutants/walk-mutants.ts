/**
 * Bugs of the work in the background that walks of the simulator must find: each leaves two sites unequal, makes a replica twice or out of order, or takes
 * from a backup what its cut names.
 *
 * `TS..` and `BW..`; the killer is a seed of the simulator whose nodes replicate to a second site and back, and are backed up.
 */
import type { Mutant } from './mutant.ts'

type Row = readonly [id: string, bug: string, file: string, find: string, replace: string]

const rows: readonly Row[] = [
  [
    'TS1',
    'of one second each site takes its own change',
    'src/operations/replication/precedence.ts',
    "? (other ?? '') : identityText(mark)) < identityText(own) ? 'older' : 'later'",
    "? (other ?? '') : identityText(mark)) < 'zz' ? 'older' : 'later'",
  ],
  [
    'TS2',
    'a change passes one of its key that waits for its next attempt',
    'src/workers/sites/sending.ts',
    'const isFirst = !held.has(change.key)\n        held.add(change.key)',
    'const isFirst = !held.has(change.key)\n        if (sendIsDue(change.dueAt, now())) held.add(change.key)',
  ],
  [
    'TS3',
    'a row leaves the queue when the target does not answer',
    'src/state-machine/sites/sends.ts',
    '      return paused(state, { result, lastError, time })\n',
    '      return withoutPending(draft, paused(state, { result, lastError, time }), change)\n',
  ],
  [
    'BW1',
    'chunks that a backup holds are collected',
    'src/state-machine/chunks/collection.ts',
    '    if (condemnedAt > keptAfter) continue\n',
    '    if (condemnedAt < 0 && condemnedAt > keptAfter) continue\n',
  ],
]

export const WALK_MUTANTS: readonly Mutant[] = rows.map(([id, bug, file, find, replace]) => {
  return { id, bug, file, find, replace, killers: 'background' }
})
