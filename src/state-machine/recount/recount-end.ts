/**
 * The end of a recount: records its result and acts on it.
 *
 * Owns: finishRecount. Knows nothing of: how rows are counted. Rule: the entry that records a difference also halts the collection,
 * so no chunk that is counted wrongly is collected in between.
 */
import { chunkKeys } from '../chunks/keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { RecountCommand } from './commands.ts'
import { haltCollection, settingsOf } from '../chunks/collection.ts'
import type { Draft } from '../base/draft.ts'
import { setOperationStatus, workable } from '../long-operations/operations.ts'
import { type Accepted, accept } from '../base/reply.ts'

/** Records the result also if its operation was cancelled or ended meanwhile; that operation does not change. */
export function finishRecount(
  draft: Draft,
  command: Extract<RecountCommand, { type: 'finishRecount' }>,
  context: ApplyContext,
): Accepted<null> {
  const { operationId, node, rows, differences, first } = command
  const lastRecount = { node, at: context.time, rows, differences, first }
  draft.put(chunkKeys.settings(), { ...settingsOf(draft), lastRecount })
  if (differences > 0) haltCollection(draft, { reason: `recount: ${first ?? ''}` }, context)
  if (operationId === null || !workable(draft, operationId, 'end a recount').ok) return accept(null)
  const error =
    differences === 0 ? null : `${differences} differences; the collection is halted; the first: ${first}`
  const action = error === null ? 'finish' : 'fail'
  setOperationStatus(draft, { type: 'setOperationStatus', operationId, action, error }, context)
  return accept(null)
}
