/** The text of a source file with the bug in it. Throws unless the place occurs exactly once. */
import assert from 'node:assert/strict'
import type { Mutant } from './mutant.ts'

export function changedText({ id, file, find, replace }: Mutant, source: string): string {
  const parts = source.split(find)
  assert.equal(
    parts.length,
    2,
    `mutant ${id}: its place occurs ${parts.length - 1} times in ${file}, expected once`,
  )
  return parts.join(replace)
}
