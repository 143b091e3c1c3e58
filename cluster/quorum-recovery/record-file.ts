/**
 * A small file of the data directory on which every start depends: one record, replaced whole.
 *
 * Layout: two lines, the record as JSON and the SHA-256 of that line in hex. Knows nothing of: the meaning of the record.
 * Rule: temporary file, fsync, rename, fsync of the directory, on the calling thread: after a crash the file has the old record or the
 * new one, and no message or entry depends on a record before it is durable.
 */
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Null: there is none. Throws for any file that `writeRecord` did not write. */
export function readRecord(path: string): unknown {
  const text = textOf(path)
  if (text === null) return null
  const [line = '', digest] = text.split('\n')
  if (digest !== digestOf(line)) throw new Error('The digest is not that of the record')
  return JSON.parse(line)
}

/** Durable when it returns. */
export function writeRecord(path: string, record: object): void {
  const line = JSON.stringify(record)
  const temporary = `${path}.tmp`
  rmSync(temporary, { force: true })
  const file = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(file, `${line}\n${digestOf(line)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  syncDirectory(dirname(path))
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
}

function digestOf(line: string): string {
  return createHash('sha256').update(line).digest('hex')
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
