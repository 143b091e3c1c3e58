/**
 * The first start on a data directory: if it is refused, the files that it made are removed again.
 *
 * Owns: the list of names that were there before. Knows nothing of: why a start is refused.
 * Rule: removed only before this node could send to any other node; afterwards a file may hold a promise, and stays.
 */
import { randomBytes } from 'node:crypto'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findIdentity } from './directory/identity.ts'

export class FirstStart {
  readonly #dataDir: string
  readonly #before: ReadonlySet<string>

  private constructor(dataDir: string, before: ReadonlySet<string>) {
    this.#dataDir = dataDir
    this.#before = before
  }

  /** Null: a node has started here before. Throws StartError. */
  static async of(dataDir: string): Promise<FirstStart | null> {
    if ((await findIdentity(dataDir)) !== null) return null
    return new FirstStart(dataDir, new Set(await namesIn(dataDir)))
  }

  /** The caller holds the lock of the directory and has closed everything else in it. */
  async takeBack(): Promise<void> {
    for (const name of await namesIn(this.#dataDir)) {
      if (this.#before.has(name)) continue
      // Renamed first: a process that starts meanwhile makes its own lock and keeps it.
      const gone = join(this.#dataDir, `${name}.${randomBytes(6).toString('hex')}.refused`)
      await rename(join(this.#dataDir, name), gone)
      await rm(gone, { recursive: true, force: true })
    }
  }
}

async function namesIn(dataDir: string): Promise<readonly string[]> {
  try {
    return await readdir(dataDir)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
