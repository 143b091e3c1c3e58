/**
 * The write-ahead logs of a LevelDB directory, and the flush that LevelDB does not do itself.
 *
 * Owns: which files are logs, and that what was written to them before a flush is durable after it. Knows nothing of: what is in them.
 * Rules: LevelDB closes a full log without a flush and begins the next, so every log that is there is flushed through a descriptor of its
 * own, then the directory where it has got a new name. A log that is gone meanwhile is in a table, which LevelDB has flushed before.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../../cluster/index.ts'

const LOG = /^([0-9]+)\.log$/

export interface LevelLog {
  readonly name: string
  readonly number: number
}

/** Ascending. */
export async function logsIn(location: string): Promise<readonly LevelLog[]> {
  return (await readdir(location))
    .filter((name) => LOG.test(name))
    .map((name) => ({ name, number: Number.parseInt(name, 10) }))
    .toSorted((one, other) => one.number - other.number)
}

export class LevelLogs {
  readonly #location: string
  /** The newest log whose name is durable. */
  #named = 0

  constructor(location: string) {
    this.#location = location
  }

  /** Writes that ended before the call are durable when it resolves. Rejects with the error of the system. */
  async flush(): Promise<void> {
    const logs = await logsIn(this.#location)
    for (const { name } of logs) await flushFile(join(this.#location, name))
    const newest = logs.at(-1)?.number ?? 0
    if (newest <= this.#named) return
    await syncDirectory(this.#location)
    this.#named = newest
  }
}

async function flushFile(path: string): Promise<void> {
  try {
    const file = await open(path, 'r')
    try {
      await file.datasync()
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause
  }
}
