/**
 * A log of three segments with every kind of batch, and the entries that were ever in it.
 */
import type { Entry } from '../../cluster/raft/types.ts'
import type { WalBatch } from '../../cluster/wal/wal.ts'
import { batchOf, entries, entry } from '../port-suites/wal.ts'
import { contentOn, logOn } from './log-on-files.ts'
import { MemoryFiles } from './memory-files.ts'

export interface KnownLog {
  readonly files: MemoryFiles
  readonly content: string
  readonly truth: ReadonlyMap<string, Entry>
}

const BATCHES: readonly WalBatch[] = [
  batchOf(1, {
    hardState: { currentTerm: 1, votedFor: 'node-a' },
    entries: [entry(1, 1, ''), ...entries(2, 6)],
  }),
  batchOf(2, { hardState: { currentTerm: 2, votedFor: null }, entries: entries(5, 7, 2) }),
  batchOf(3, { entries: [entry(8, 2, '\0'.repeat(700)), ...entries(9, 12, 2)] }),
  batchOf(4, { entries: entries(12, 13, 2) }),
  batchOf(5, { hardState: { currentTerm: 3, votedFor: 'node-b' } }),
  batchOf(6, { entries: entries(14, 16, 3) }),
]

export function truthOf(batches: readonly WalBatch[]): Map<string, Entry> {
  return new Map(
    batches.flatMap((batch) => batch.entries.map((made) => [`${made.index}/${made.term}`, made])),
  )
}

export function threeSegments(): KnownLog {
  const files = new MemoryFiles()
  const log = logOn(files, { segmentBytesMax: 4096 })
  log.open()
  for (const batch of BATCHES) {
    log.append([batch])
    if (batch.sequence === 2) log.compact({ index: 2, term: 1 })
  }
  log.close()
  return { files, content: contentOn(files.copy()), truth: truthOf(BATCHES) }
}
