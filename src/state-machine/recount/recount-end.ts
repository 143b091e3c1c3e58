/**
 * The end of a recount: what it found, for all to see, and what follows from it.
 *
 * Owns: finishRecount. Knows nothing of: how rows are counted. Rule: the halt of the collection is in the same entry as the
 * finding, so nothing that is counted wrongly is collected in between.
 */
import { chunkKeys } from '../chunks/keys.ts'
import type { ApplyContext } from '../base/view.ts'
import type { RecountCommand } from './commands.ts'
import { haltCollection, settingsOf } from '../chunks/collection.ts'
import type { Draft } from '../base/draft.ts'
import { setOperationStatus, workable } from '../operations/operations.ts'
import { type Accepted, accept } from '../base/reply.ts'

/** An operation that was cancelled or ended meanwhile stays as it is; the finding counts all the same. */
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
