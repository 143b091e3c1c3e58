/**
 * Counts what the log costs the disk, around any FileOps.
 *
 * Knows nothing of: segments, metrics libraries. Rule: an operation that throws is not counted.
 */
import type { FileOps } from './file-ops.ts'

export interface WalMetrics {
  /** Flushes of files, data only or whole. */
  readonly fsyncs: number
  readonly fsyncSecondsTotal: number
  /** Written, framing included. */
  readonly bytes: number
}

export const NO_METRICS: WalMetrics = { fsyncs: 0, fsyncSecondsTotal: 0, bytes: 0 }

/** `now` gives monotonic milliseconds. */
export function measureFileOps(
  files: FileOps,
  now: () => number,
): { files: FileOps; metrics: () => WalMetrics } {
  let { fsyncs, fsyncSecondsTotal, bytes } = NO_METRICS
  const timed = (flush: () => void) => {
    const start = now()
    flush()
    fsyncSecondsTotal += (now() - start) / 1000
    fsyncs++
  }
  return {
    metrics: () => ({ fsyncs, fsyncSecondsTotal, bytes }),
    files: {
      ...files,
      fdatasync: (fd) => timed(() => files.fdatasync(fd)),
      fsync: (fd) => timed(() => files.fsync(fd)),
      write(fd, chunk, position) {
        const count = files.write(fd, chunk, position)
        bytes += count
        return count
      },
    },
  }
}
