/**
 * Opens a SegmentedLog over MemoryFiles and gives its content as comparable text.
 */
import type { SegmentedLogOptions } from '../../cluster/wal/segmented-log.ts'
import { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import { plain } from '../contracts/wal.ts'
import type { MemoryFiles } from './memory-files.ts'
import { DIR } from './memory-files.ts'

export const IDENTITY = { clusterId: 'cluster-1', nodeId: 'node-a', incarnation: 'first' }

export function logOn(files: MemoryFiles, options: Partial<SegmentedLogOptions> = {}): SegmentedLog {
  return new SegmentedLog({ dir: DIR, ...IDENTITY, files, now: () => 0, ...options })
}

/** What a restart on these files would begin with. */
export function contentOn(files: MemoryFiles): string {
  const log = logOn(files)
  try {
    return JSON.stringify(plain(log.open()))
  } finally {
    log.close()
  }
}
