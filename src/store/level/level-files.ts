/**
 * Checks the files of a LevelDB directory before LevelDB opens them.
 *
 * Owns: which files count, and that each is there and whole. Knows nothing of: rows.
 * Rule: only files that the manifest names count; a table that was being written when the power failed belongs to no state.
 */
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UnreadableError } from './level-bytes.ts'
import { readLog } from './level-log.ts'
import { logsIn } from './level-logs.ts'
import { liveFiles, type LiveFiles } from './level-manifest.ts'
import { faultInTable, type TableBytes, type TablePart } from './level-table.ts'

export interface FileCheck {
  readonly fault: string | null
  /** Of these tables only the parts that lead to rows were read. */
  readonly unread: ReadonlyMap<number, number>
}

/** Null, or what is wrong; every byte is read. Throws the error of the system when a file cannot be read. */
export async function faultInFiles(location: string): Promise<string | null> {
  return (await checkFiles(location, Infinity)).fault
}

/** The newest tables are read whole, up to `wholeBytesMax` in total: their rows hide those of older tables. */
export async function checkFiles(location: string, wholeBytesMax: number): Promise<FileCheck> {
  const unread = new Map<number, number>()
  try {
    const files = await liveFiles(location)
    let wholeBytes = 0
    for (const [number, size] of [...files.tables].toSorted(([one], [other]) => other - one)) {
      wholeBytes += size
      const isWhole = wholeBytes <= wholeBytesMax
      if (!isWhole) unread.set(number, size)
      const fault = await faultInTableFile(location, { number, size, part: isWhole ? 'whole' : 'guides' })
      if (fault !== null) return { fault: `its table ${number}: ${fault}`, unread }
    }
    return { fault: await faultInLogs(location, files), unread }
  } catch (error) {
    if (error instanceof UnreadableError) return { fault: error.message, unread }
    if (isMissing(error)) return { fault: `a file of it is missing: ${error.message}`, unread }
    throw error
  }
}

function faultInTableFile(
  location: string,
  { number, size, part }: { readonly number: number; readonly size: number; readonly part: TablePart },
): Promise<string | null> {
  return withTable(location, number, (table) => faultInTable(table, size, part))
}

/** Throws the error of the system when the table is missing. */
export async function withTable<T>(
  location: string,
  number: number,
  work: (table: TableBytes) => Promise<T>,
): Promise<T> {
  const file = await openTable(location, number)
  try {
    const { size } = await file.stat()
    return await work({ length: size, read: (offset, length) => readAt(file, offset, length) })
  } finally {
    await file.close()
  }
}

async function openTable(location: string, number: number): Promise<FileHandle> {
  const name = String(number).padStart(6, '0')
  try {
    return await open(join(location, `${name}.ldb`), 'r')
  } catch (error) {
    if (!isMissing(error)) throw error
    return await open(join(location, `${name}.sst`), 'r')
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/** Only the last log may end in the middle of an entry: what a power cut left of unflushed logs was cut before (level-tail.ts). */
async function faultInLogs(location: string, { firstLog }: LiveFiles): Promise<string | null> {
  const logs = (await logsIn(location)).filter(({ number }) => number >= firstLog)
  if (logs[0]?.number !== firstLog) return `its log ${firstLog} is missing`
  for (const [i, { name }] of logs.entries()) {
    const { isTorn, isDamaged } = readLog(await readFile(join(location, name)))
    if (isDamaged || (isTorn && i < logs.length - 1)) return `an entry of its log ${name} is damaged`
  }
  return null
}

export function isMissing(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
