/**
 * Opens a SegmentedLog over MemoryFiles and gives its content as comparable text.
 */
import type { SegmentedLogOptions } from '../../cluster/wal/segmented-log.ts'
import { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import { sealedEntries } from '../../cluster/wal/sealed-entries.ts'
import { WalCorruptError } from '../../cluster/wal/wal-errors.ts'
import type { WalContent } from '../../cluster/wal/wal.ts'
import { testCipher } from '../helpers/sealed-metadata.ts'
import { plain } from '../port-suites/wal.ts'
import type { MemoryFiles } from './memory-files.ts'
import { DIR } from './memory-files.ts'

export const IDENTITY = { clusterId: 'cluster-1', nodeId: 'node-a', incarnation: 'first' }

export function logOn(files: MemoryFiles, options: Partial<SegmentedLogOptions> = {}): SegmentedLog {
  return new SegmentedLog({
    dir: DIR,
    ...IDENTITY,
    files,
    now: () => 0,
    cipher: testCipher('log'),
    ...options,
  })
}

export function textOf(content: WalContent): string {
  return JSON.stringify(plain(content))
}

/** The data of an entry as a segment holds it. */
export function storedData(entry: Entry): Uint8Array {
  return sealedEntries([entry], testCipher('log'))[0]?.data ?? entry.data
}

/** The log with which a restart on these files would begin. */
export function contentOn(files: MemoryFiles): string {
  const log = logOn(files)
  try {
    return textOf(log.open())
  } finally {
    log.close()
  }
}

export interface Repaired {
  readonly content: string
  readonly holes: number
}

/** The same with every hole filled from `truth`, which holds the entry for each index and term that ever was. */
export function repairedOn(files: MemoryFiles, truth: ReadonlyMap<string, Entry>): Repaired {
  const log = logOn(files)
  try {
    const content = log.open()
    const { holes } = content
    if (holes.length === 0) return { content: textOf(content), holes: 0 }
    const committed = holes.flatMap(({ index, term }) => truth.get(`${index}/${term}`) ?? [])
    return { content: textOf(log.repair({ committed })), holes: holes.length }
  } finally {
    log.close()
  }
}

/** The result of `open`, or `refused`; any other outcome is an error. */
export function outcomeOf(files: MemoryFiles, open: () => string): string {
  try {
    return open()
  } catch (error) {
    if (error instanceof WalCorruptError && error.file.startsWith(DIR) && error.hint !== '') return 'refused'
    throw Object.assign(new Error(`no refusal, with ${files.paths().join()}`), { cause: error })
  }
}
