/**
 * Measures the disk under a directory.
 *
 * Owns: the sample of writes, bounded in number and time. Rule: the file of the sample is always removed; the next run removes a file
 * that a killed run left behind.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { usableSpace } from '../../cluster/index.ts'
import type { DiskFacts, SpeedFacts } from './disk-checks.ts'

const SAMPLE = /^\.doctor-[0-9a-f]{12}\.tmp$/
const WRITE_BYTES = 4096
const WRITES_MAX = 50
const SAMPLE_MS_MAX = 2000
/** A leftover file is older than any sample in progress. */
const LEFTOVER_MS_MIN = 60_000

export async function diskFacts(path: string): Promise<DiskFacts> {
  const found = await statfs(path)
  const { files, ffree, type } = found
  return {
    path,
    ...usableSpace(found),
    totalFiles: files,
    freeFiles: ffree,
    filesystem: type,
  }
}

/** The data directory, and the directories of blobs that can be read and are on other disks: `blobs/` in it, or those of the settings. */
export async function disksOf(dataDir: string, directories: readonly string[]): Promise<readonly string[]> {
  if (directories.length > 0) {
    const devices = await devicesOf([dataDir, ...directories])
    return devices.flatMap(({ path, device }, at) =>
      devices.findIndex((other) => other.device === device) === at ? [path] : [],
    )
  }
  const blobs = join(dataDir, 'blobs')
  try {
    const [own, inside] = await Promise.all([stat(dataDir), stat(blobs)])
    return own.dev === inside.dev ? [dataDir] : [dataDir, blobs]
  } catch {
    // No blobs yet; another check reports a missing data directory.
    return [dataDir]
  }
}

export interface DeviceFacts {
  readonly path: string
  readonly device: number
}

/** Without those that do not exist or cannot be read. */
export async function devicesOf(paths: readonly string[]): Promise<readonly DeviceFacts[]> {
  const found: DeviceFacts[] = []
  for (const path of paths) {
    const facts = await stat(path).catch(() => null)
    if (facts !== null) found.push({ path, device: facts.dev })
  }
  return found
}

export async function speedFacts(path: string): Promise<SpeedFacts> {
  const file = join(path, `.doctor-${randomBytes(6).toString('hex')}.tmp`)
  try {
    await removeLeftovers(path)
    return { path, flushesMs: sample(file), failure: null }
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    return { path, flushesMs: [], failure: code }
  } finally {
    await rm(file, { force: true })
  }
}

/** Writes as the log does: appends, and flushes after each write. Synchronous, because a turn of the thread pool takes longer than a fast disk. */
function sample(path: string): readonly number[] {
  const flushesMs: number[] = []
  const block = randomBytes(WRITE_BYTES)
  const file = openSync(path, 'wx', 0o600)
  try {
    const startedAt = performance.now()
    while (flushesMs.length < WRITES_MAX && performance.now() - startedAt < SAMPLE_MS_MAX) {
      const before = performance.now()
      writeSync(file, block)
      fdatasyncSync(file)
      flushesMs.push(performance.now() - before)
    }
  } finally {
    closeSync(file)
  }
  return flushesMs
}

async function removeLeftovers(path: string): Promise<void> {
  for (const name of (await readdir(path)).filter((each) => SAMPLE.test(each))) {
    const { mtimeMs } = await stat(join(path, name))
    if (Date.now() - mtimeMs > LEFTOVER_MS_MIN) await rm(join(path, name), { force: true })
  }
}
