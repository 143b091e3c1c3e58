/**
 * Copies of a directory whose database is open: what a power cut at that moment leaves.
 *
 * Rule: LevelDB compacts on a thread of its own and removes files while they are copied. A copy counts only if no file came, went or grew
 * meanwhile.
 */
import { cpSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ATTEMPTS_MAX = 1_000

/** Replaces `copy`. Throws when the directory does not come to rest in ATTEMPTS_MAX copies. */
export function copyOfOpen(dir: string, copy: string): void {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    try {
      const before = sizesIn(dir)
      rmSync(copy, { recursive: true, force: true })
      cpSync(dir, copy, { recursive: true })
      if (sizesIn(dir) === before) return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
  throw new Error(`${dir} changed during each of ${ATTEMPTS_MAX} copies`)
}

function sizesIn(dir: string): string {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted()
  return names.map((name) => `${name} ${statSync(join(dir, name)).size}`).join('\n')
}
