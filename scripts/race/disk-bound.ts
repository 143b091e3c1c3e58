/**
 * What a disk takes of large bodies at most: three files of 64 MiB, written and flushed beside each other, as three nodes on one disk do it.
 *
 * Owns: the measurement; its files are removed. Rule: it writes as nodes write large copies, without the page cache where the disk has such writes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { blockMemory } from '../../cluster/base/block-memory.ts'
import { systemFileOps } from '../../cluster/base/file-ops.ts'
import { median } from '../bench/statistics.ts'

const FILES = 3
const FILE_BYTES = 64 * 1024 * 1024
const WRITE_BYTES = 4 * 1024 * 1024
/** The first one is not counted. */
const ROUNDS = 6

export interface DiskBound {
  /** Bodies of 64 MiB that the disk takes three times, in a second. The median of the rounds. */
  readonly bodiesPerSecond: number
  /** Of this process, for a body three times. The median of the rounds. */
  readonly cpuMs: number
}

export async function diskBound(folder: string): Promise<DiskBound> {
  const place = await mkdtemp(join(folder, 'disk-bound-'))
  const bytes = blockMemory(WRITE_BYTES).fill(0xa5)
  const rounds: { readonly seconds: number; readonly cpuMs: number }[] = []
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const [start, cpu] = [performance.now(), process.cpuUsage()]
      await Promise.all(
        Array.from({ length: FILES }, (_, file) => writeFile(join(place, `${round}-${file}`), bytes)),
      )
      const { user, system } = process.cpuUsage(cpu)
      rounds.push({ seconds: (performance.now() - start) / 1000, cpuMs: (user + system) / 1000 })
    }
  } finally {
    await rm(place, { recursive: true, force: true })
  }
  const counted = rounds.slice(1)
  return {
    bodiesPerSecond: 1 / median(counted.map(({ seconds }) => seconds)),
    cpuMs: median(counted.map(({ cpuMs }) => cpuMs)),
  }
}

async function writeFile(path: string, bytes: Uint8Array): Promise<void> {
  const file = (await systemFileOps.createUncached(path)) ?? (await systemFileOps.create(path))
  try {
    for (let at = 0; at < FILE_BYTES; at += bytes.length) await systemFileOps.append(file, [bytes])
    await systemFileOps.syncFile(file)
  } finally {
    await file.close()
  }
}
