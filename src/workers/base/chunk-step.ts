/**
 * How many chunks of a shard of a backup one step takes, before its place is committed.
 */
import type { ChunkEntry } from '../../backup/format/chunk-list.ts'

/** A step ends after the chunk that reaches one of these. */
const STEP_CHUNKS = 256
const STEP_BYTES = 32 * 1024 * 1024

/** `rate`: bytes per second; null: no limit. Slow work makes smaller steps, so that it stops soon after it is paused. */
export function chunkStep(
  entries: readonly ChunkEntry[],
  done: number,
  rate: number | null,
): readonly ChunkEntry[] {
  const most = Math.min(STEP_BYTES, rate ?? STEP_BYTES)
  let bytes = 0
  const step: ChunkEntry[] = []
  for (const entry of entries.slice(done, done + STEP_CHUNKS)) {
    step.push(entry)
    bytes += entry.sealedSize
    if (bytes >= most) break
  }
  return step
}
