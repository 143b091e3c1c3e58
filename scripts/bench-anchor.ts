/**
 * What the disk gives at this moment, so that a figure of a slow minute is not taken for a slow program.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Latencies, percentile } from './bench-statistics.ts'

const SECONDS = 2
const BYTES = 4096
const COUNT_MAX = 1_000_000

export interface Anchor {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** Appends 4 KiB and makes it durable, one at a time, for two seconds. */
export function syncAnchor(folder: string): Anchor {
  const file = join(folder, 'anchor')
  const bytes = Buffer.alloc(BYTES, 1)
  const latencies = new Latencies(COUNT_MAX)
  const fd = openSync(file, 'a')
  const start = performance.now()
  let now = start
  while (now < start + 1000 * SECONDS && !latencies.isFull) {
    writeSync(fd, bytes)
    fdatasyncSync(fd)
    const then = now
    now = performance.now()
    latencies.add(now - then)
  }
  closeSync(fd)
  rmSync(file)
  const sorted = latencies.sorted()
  const perSecond = (1000 * latencies.count) / (now - start)
  return { perSecond, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) }
}
