/**
 * Small files that record one fact about the state and survive a power cut: one line of JSON, its CRC-32, a line feed.
 *
 * Owns: writing, reading and removing them durably. Knows nothing of: what they mean.
 * Rules: written aside, flushed, renamed, the directory flushed; a file that does not verify is distinguished from a missing one.
 */
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { syncDirectory } from '../../../cluster/index.ts'

const DRAFT = '.new'
const LINE = /^(\{.*\}) ([0-9a-f]{8})\n$/

export type Marker =
  | { readonly found: 'nothing' }
  /** `text`: the content that does not verify. */
  | { readonly found: 'damaged'; readonly text: string }
  | { readonly found: 'marker'; readonly value: Readonly<Record<string, unknown>> }

export async function readMarker(dir: string, name: string): Promise<Marker> {
  let text: string
  try {
    text = await readFile(join(dir, name), 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null
    if (code === 'ENOENT') return { found: 'nothing' }
    if (code === 'EIO') return { found: 'damaged', text: '' }
    throw cause
  }
  const [, json, sum] = LINE.exec(text) ?? []
  if (json === undefined || sum !== sumOf(json)) return { found: 'damaged', text }
  return { found: 'marker', value: JSON.parse(json) }
}

export async function writeMarker(dir: string, name: string, value: object): Promise<void> {
  const json = JSON.stringify(value)
  const draft = join(dir, name + DRAFT)
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(`${json} ${sumOf(json)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, join(dir, name))
  await syncDirectory(dir)
}

/** Idempotent. */
export async function removeMarker(dir: string, name: string): Promise<void> {
  await rm(join(dir, name), { force: true })
  await syncDirectory(dir)
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
