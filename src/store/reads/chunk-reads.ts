/** Reads over the rows of copies: open sessions of nodes, and tasks that are due next. */
import { chunkRanges } from '../../state-machine/chunks/keys.ts'
import type { RepairRecord } from '../../state-machine/chunks/records.ts'
import { PAGE_ROWS_MAX } from './row-page.ts'
import type { RowReader, StateReader } from './state-reader.ts'

/** Of the first nodes by name; there are no more nodes than fit a page. */
export async function openUploadSessions(
  state: RowReader,
): Promise<readonly { readonly node: string; readonly session: string }[]> {
  const { items } = await state.page(chunkRanges.nodeUploadSessions(), { limit: PAGE_ROWS_MAX })
  return items.flatMap(({ node, open }) => open.map((session) => ({ node, session })))
}

/** From memory. The engine asks at any time, also while a state is fetched from a peer: a state that cannot be read owes nothing. */
export function repairTasks(
  state: Pick<StateReader, 'usable'>,
  target: string,
  limit: number,
): readonly RepairRecord[] {
  return state.usable?.repairs.take(target, limit) ?? []
}
