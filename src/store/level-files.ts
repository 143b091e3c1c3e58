/**
 * Checks the files of a LevelDB directory before LevelDB opens them.
 *
 * Owns: which files count, and that each is there and whole. Knows nothing of: rows.
 * Rule: only what the manifest names counts; a table that was being written when the power failed is nobody's.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UnreadableError } from './level-bytes.ts'
import { readLog } from './level-log.ts'
import { liveFiles, type LiveFiles } from './level-manifest.ts'
import { faultInTable } from './level-table.ts'

const LOG = /^([0-9]+)\.log$/

/** Null, or what is wrong. Throws what the system says when a file cannot be read. */
export async function faultInFiles(location: string): Promise<string | null> {
  try {
    const files = await liveFiles(location)
    return (await faultInTables(location, files)) ?? (await faultInLogs(location, files))
  } catch (error) {
    if (error instanceof UnreadableError) return error.message
    if (isMissing(error)) return `a file of it is missing: ${error.message}`
    throw error
  }
}

async function faultInTables(location: string, { tables }: LiveFiles): Promise<string | null> {
  for (const [number, size] of tables) {
    const fault = faultInTable(await readTable(location, number), size)
    if (fault !== null) return `its table ${number}: ${fault}`
  }
  return null
}

async function readTable(location: string, number: number): Promise<Buffer> {
  const name = String(number).padStart(6, '0')
  try {
    return await readFile(join(location, `${name}.ldb`))
  } catch (error) {
    if (!isMissing(error)) throw error
    return await readFile(join(location, `${name}.sst`))
  }
}

/** Only the last log may end in the middle of an entry: the one before was whole when it was begun. */
async function faultInLogs(location: string, { firstLog }: LiveFiles): Promise<string | null> {
  const logs = (await readdir(location))
    .filter((name) => LOG.test(name))
    .map((name) => ({ name, number: Number.parseInt(name, 10) }))
    .filter(({ number }) => number >= firstLog)
    .toSorted((a, b) => a.number - b.number)
  if (logs[0]?.number !== firstLog) return `its log ${firstLog} is missing`
  for (const [i, { name }] of logs.entries()) {
    const { isTorn, isDamaged } = readLog(await readFile(join(location, name)))
    if (isDamaged || (isTorn && i < logs.length - 1)) return `an entry of its log ${name} is damaged`
  }
  return null
}

function isMissing(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
