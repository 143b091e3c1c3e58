/**
 * The chunks that a cut names: lines of JSON, one for each chunk, in the order of their names in the target.
 *
 *   ["<chunk id>", "<SHA-256 of the sealed bytes>", sealed bytes, plain bytes, "<tenant id>", "<birth>"]
 *
 * Owns: the lines. Rule: a list that does not parse, or is not in order, is damaged as a whole.
 */
import { TargetCorrupt } from '../targets/target.ts'

export interface ChunkEntry {
  readonly id: string
  readonly checksum: string
  readonly sealedSize: number
  readonly size: number
  readonly tenantId: string
  readonly birth: string
}

const HEX64 = /^[0-9a-f]{64}$/

export const byName = (one: ChunkEntry, other: ChunkEntry): number =>
  compare(one.id, other.id) || compare(one.checksum, other.checksum)

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

export function encodeChunks(entries: readonly ChunkEntry[]): Buffer {
  const lines = entries.map(({ id, checksum, sealedSize, size, tenantId, birth }) =>
    JSON.stringify([id, checksum, sealedSize, size, tenantId, birth]),
  )
  return Buffer.from(`${lines.join('\n')}\n`)
}

/** Throws TargetCorrupt. */
export function decodeChunks(name: string, bytes: Buffer): readonly ChunkEntry[] {
  const lines = bytes.toString('utf8').split('\n')
  if (lines.pop() !== '') throw new TargetCorrupt(`${name} ends in the middle of a line`)
  return lines.map((line) => entryOf(name, line))
}

/** Undefined: it is not JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function entryOf(name: string, line: string): ChunkEntry {
  const fields = parsed(line)
  if (Array.isArray(fields)) {
    const [id, checksum, sealedSize, size, tenantId, birth]: unknown[] = fields
    const isNamed =
      typeof id === 'string' && HEX64.test(id) && typeof checksum === 'string' && HEX64.test(checksum)
    const isSized = typeof sealedSize === 'number' && typeof size === 'number'
    if (isNamed && isSized && typeof tenantId === 'string' && typeof birth === 'string')
      return { id, checksum, sealedSize, size, tenantId, birth }
  }
  throw new TargetCorrupt(`${name} holds a line that names no chunk`)
}
