/**
 * Cuts the logs of a LevelDB directory behind the last batch up to which they are whole, after a stop that was not clean and before LevelDB
 * opens them.
 *
 * Batches are written without a flush, so a power cut may take any part of those after the last flush: the end of a log, a piece in its
 * middle, the end of a full log while the next one survives. LevelDB would drop what is torn without a word and read on.
 *
 *   entry of a log = one batch: u64le sequence number of its first operation, u32le count of operations, operations
 *
 * Owns: where the unbroken batches end, over all logs that count. Knows nothing of: tables, rows.
 * Rules: a batch stays only if every batch before it is there: its sequence number follows from them. What is cut off was
 * never promised to be durable, or is replayed from elsewhere; that the state is at least what was promised is checked above.
 * The logs are shortened from the last to the first, each durably, so that a crash in between leaves what a next cut completes.
 */
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../../cluster/index.ts'
import { UnreadableError } from './level-bytes.ts'
import { isMissing } from './level-files.ts'
import { readLog } from './level-log.ts'
import { type LevelLog, logsIn } from './level-logs.ts'
import { liveFiles } from './level-manifest.ts'

const BATCH_HEADER_BYTES = 12
const COUNT_OFFSET = 8

export interface CutLogs {
  /** Taken off, of all logs. */
  readonly bytes: number
  /** The log that ends at the cut. */
  readonly log: string
}

interface Unbroken {
  /** Bytes. */
  readonly kept: number
  /** Sequence number of the operation that follows. */
  readonly next: bigint | null
}

interface LogEnd extends LevelLog {
  readonly size: number
  /** Bytes that stay. */
  readonly kept: number
}

/** Null: nothing had to be cut, or the manifest cannot be read, which the check of the files reports. Rejects with errors of the system. */
export async function cutTornLogs(location: string): Promise<CutLogs | null> {
  const firstLog = await firstLogOf(location)
  if (firstLog === null) return null
  const logs = (await logsIn(location)).filter(({ number }) => number >= firstLog)
  const ends = await endsOf(location, logs)
  const cut = ends.filter(({ size, kept }) => kept < size)
  const [first] = cut
  if (first === undefined) return null
  for (const end of cut.toReversed()) await shorten(location, end, end !== first)
  return { bytes: cut.reduce((sum, { size, kept }) => sum + size - kept, 0), log: first.name }
}

async function firstLogOf(location: string): Promise<number | null> {
  try {
    return (await liveFiles(location)).firstLog
  } catch (error) {
    if (error instanceof UnreadableError || isMissing(error)) return null
    throw error
  }
}

async function endsOf(location: string, logs: readonly LevelLog[]): Promise<readonly LogEnd[]> {
  const ends: LogEnd[] = []
  let next: bigint | null = null
  let isBroken = false
  for (const log of logs) {
    const bytes = await readFile(join(location, log.name))
    const whole: Unbroken = isBroken ? { kept: 0, next } : unbroken(bytes, next)
    ends.push({ ...log, size: bytes.length, kept: whole.kept })
    next = whole.next
    // LevelDB begins another log only when one is full: an empty one before it has lost all.
    isBroken ||= whole.kept < bytes.length || whole.kept === 0
  }
  return ends
}

/** `expected`: of the first operation; null: nothing is known of those before. */
function unbroken(bytes: Buffer, expected: bigint | null): Unbroken {
  const { entries, ends } = readLog(bytes)
  let next = expected
  let kept = 0
  for (const [at, entry] of entries.entries()) {
    if (entry.length < BATCH_HEADER_BYTES) break
    const first = entry.readBigUInt64LE(0)
    if (next !== null && first !== next) break
    next = first + BigInt(entry.readUInt32LE(COUNT_OFFSET))
    kept = ends[at] ?? kept
  }
  return { kept, next }
}

/** A log behind the cut goes: a later one would not follow it. */
async function shorten(location: string, { name, kept }: LogEnd, isBehind: boolean): Promise<void> {
  const path = join(location, name)
  if (isBehind) {
    await rm(path)
    await syncDirectory(location)
    return
  }
  const file = await open(path, 'r+')
  try {
    await file.truncate(kept)
    await file.datasync()
  } finally {
    await file.close()
  }
}
