/**
 * Copies that a running node loses, as with a part of its disk: the next scrub finds them missing, and repair makes them again.
 *
 * Owns: which files are removed, and when all are there again. Rule: a copy is removed only where every other node has it, and at one node at a time, so that
 * no object is ever in danger. Files that are younger than a minute stay, for their writes may not have ended.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const SETTLED_MS = 60_000
/** Two hex digits: the folders of blobs that are files. */
const SHARD = /^[0-9a-f]{2}$/

export interface LostCopies {
  readonly count: number
  /** Whether the node has each of them again, but for those that every node has removed since. */
  readonly areBack: () => boolean
}

/** Removes at most `max` copies of the node at `at`; `folders` are those of the blobs of all nodes. */
export function loseCopies(folders: readonly string[], at: number, max: number): LostCopies {
  const own = folders[at] ?? ''
  const others = folders.filter((_, index) => index !== at)
  const lost: string[] = []
  for (const file of filesOf(own)) {
    if (lost.length >= max) break
    if (!others.every((folder) => existsSync(join(folder, file)))) continue
    rmSync(join(own, file))
    lost.push(file)
  }
  return {
    count: lost.length,
    areBack: () =>
      lost.every(
        (file) => existsSync(join(own, file)) || !others.some((folder) => existsSync(join(folder, file))),
      ),
  }
}

function* filesOf(folder: string): Generator<string> {
  const settled = Date.now() - SETTLED_MS
  for (const shard of readdirSync(folder).filter((name) => SHARD.test(name)))
    for (const name of readdirSync(join(folder, shard))) {
      const file = join(shard, name)
      const found = statSync(join(folder, file), { throwIfNoEntry: false })
      if (found !== undefined && found.mtimeMs < settled) yield file
    }
}
