/**
 * The record of a clean stop, which lets the next start skip reading every row: the files of the state, and its seal.
 *
 * Owns: the marker CLOSED. Knows nothing of: rows.
 * Rules: written after the database is closed, removed durably before it is opened again, so a crash never meets one.
 * It covers the small files byte by byte, tables and value files by name and size: those carry checksums of their own.
 */
import { hash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readMarker, removeMarker, writeMarker } from './marker-file.ts'
import { nameOf, type ValueCounts, valueFilesIn, VALUES_DIRECTORY } from '../values/value-files.ts'
import { recordDigest, type StateSeal } from '../rows/state-seal.ts'

const CLOSED = 'CLOSED'
/** The pointer, the manifest and the log: a flipped bit there loses whole batches without an error. */
const SMALL = /^(CURRENT|MANIFEST-[0-9]+|[0-9]+\.log)$/
const TABLE = /^[0-9]+\.(ldb|sst)$/

export interface CleanStop {
  /** Hex: the running checksum, and SHA-256 of the machine's record. */
  readonly sum: string
  readonly record: string
  /** By name: SHA-256 of a small file, size of a table or a value file. */
  readonly files: Readonly<Record<string, string | number>>
  /** How much of each value file is in use. */
  readonly values: ValueCounts
}

export async function writeCleanStop(
  dir: string,
  state: string,
  { seal, values }: { readonly seal: StateSeal; readonly values: ValueCounts },
): Promise<void> {
  const files = await filesIn(join(dir, state))
  await writeMarker(dir, CLOSED, { state, ...sealOf(seal), files, values })
}

/** Null: the stop was not clean, or the marker does not verify, or names another state. */
export async function readCleanStop(dir: string, state: string): Promise<CleanStop | null> {
  const marker = await readMarker(dir, CLOSED)
  if (marker.found !== 'marker' || marker.value['state'] !== state) return null
  const { sum, record, files, values = {} } = marker.value
  // It verifies, so this module wrote it. The builds before knew no value files.
  return {
    sum: String(sum),
    record: String(record),
    files: files as CleanStop['files'],
    values: values as ValueCounts,
  }
}

/** Durable when it resolves. Idempotent. */
export async function removeCleanStop(dir: string): Promise<void> {
  await removeMarker(dir, CLOSED)
}

/** Null when the files are those of the clean stop, or what is wrong. */
export async function changedSince({ files }: CleanStop, location: string): Promise<string | null> {
  const found = await filesIn(location)
  for (const [name, expected] of Object.entries(files)) {
    if (found[name] === undefined) return `its file ${name} is missing`
    if (found[name] !== expected) return `its file ${name} changed after the node was stopped`
  }
  return null
}

/** Null when the opened state is the one that was closed, or what is wrong. */
export function faultInSeal(seal: StateSeal, stop: CleanStop): string | null {
  const { sum, record } = sealOf(seal)
  return sum === stop.sum && record === stop.record ? null : 'it is older than when the node was stopped'
}

function sealOf({ sum, record }: StateSeal): { readonly sum: string; readonly record: string } {
  return { sum: sum.bytes().toString('hex'), record: recordDigest(record).toString('hex') }
}

async function filesIn(location: string): Promise<Record<string, string | number>> {
  const files: Record<string, string | number> = {}
  let names: readonly string[] = []
  try {
    names = await readdir(location)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause
  }
  for (const name of names.toSorted()) {
    const path = join(location, name)
    if (TABLE.test(name)) files[name] = (await stat(path)).size
    else if (SMALL.test(name)) files[name] = hash('sha256', await readFile(path))
  }
  for (const [file, size] of valueFilesIn(location)) files[`${VALUES_DIRECTORY}/${nameOf(file)}`] = size
  return files
}
