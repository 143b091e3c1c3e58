/**
 * Keeps a second process out of a data directory.
 *
 * Owns: `lock/`, an empty LevelDB. The lock that LevelDB takes on its files is the only kernel lock available from Node: it ends with
 * its process however the process ends, and it works between containers that share a disk, where process ids mean nothing.
 * Rule: taken before anything in the directory is changed, released after everything in it is closed.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { StartError } from './types.ts'

const WRITE_BUFFER_BYTES = 64 * 1024

export interface DataLock {
  release(): Promise<void>
}

/** Throws StartError `data_dir_in_use`. */
export async function lockDataDir(dataDir: string): Promise<DataLock> {
  const db = new ClassicLevel(join(dataDir, 'lock'), { writeBufferSize: WRITE_BUFFER_BYTES, cacheSize: 0 })
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await db.open()
  } catch (cause) {
    throw isHeld(cause) ? inUse(dataDir, cause) : unusable(dataDir, cause)
  }
  return { release: () => db.close() }
}

function isHeld(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED'
}

function inUse(dataDir: string, cause: unknown): StartError {
  return new StartError('data_dir_in_use', `Cannot start: another process uses ${dataDir}`, {
    cause,
    hint: 'Stop the other process, or give this node a data directory of its own.',
  })
}

function unusable(dataDir: string, cause: unknown): StartError {
  return new StartError('data_dir_unusable', `Cannot lock the data directory ${dataDir}`, {
    cause,
    hint: 'Make sure that the directory is on a mounted disk with free space and can be written by this user.',
  })
}
