/**
 * A node holds no more of its log in memory than its window and the entries that its disk does not hold yet.
 *
 * Owns: the bound. Knows nothing of: the contents of entries. Rule: it is judged by the disk, after every event of the node.
 */
import type { CheckedProcess, CheckedHost } from './sim-checks.ts'

/** The window is cut when it is passed by one part in this many. */
const SLACK = 8

/** Null: within the bound. */
export function windowExcess(
  { id, durable }: CheckedHost,
  process: CheckedProcess,
  windowEntries: number,
): string | null {
  const status = process.status()
  // A node that failed or is stopping no longer gets the completions of its disk.
  if (status === null || process.hasFailed || process.isStopping) return null
  const { memory } = process
  let waiting = 0
  for (let index = memory.lastIndex; index > memory.base.index; index -= 1) {
    if (durable.chainAt(index) === memory.chainAt(index)) break
    waiting += 1
  }
  const { entries } = status.window
  if (entries <= windowEntries + windowEntries / SLACK + waiting) return null
  return `${id} holds ${entries} entries in memory: its window has ${windowEntries}, and ${waiting} are not on its disk`
}
