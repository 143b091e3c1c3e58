/**
 * Checks a table of LevelDB block by block before LevelDB sees it.
 *
 * LevelDB, as it is bundled, never looks at the checksums of blocks: a flipped bit in a filter hides a row, one in a
 * key or an index shows another or none, and some end the process. The file format is that of LevelDB's
 * doc/table_format.md: data blocks, filter, index, footer; behind each block its kind and a masked CRC-32C.
 *
 * Owns: that check. Knows nothing of: rows, which tables count. Rule: every byte of every block is under a checksum that was
 * looked at, and where blocks are is believed only from blocks that verified.
 */
import { agreesWith, ByteReader, uncompressed, UnreadableError } from './level-bytes.ts'

const FOOTER_BYTES = 48
const MAGIC = Buffer.from('57fb808b247547db', 'hex')
/** Kind and checksum. */
const TRAILER_BYTES = 5
const RAW = 0
const SNAPPY = 1
/** Tables have two megabytes, and one row more where it is large. */
const BLOCK_BYTES_MAX = 256 * 1024 * 1024

/** Null, or what is wrong. */
export function faultInTable(table: Buffer, size: number): string | null {
  if (table.length !== size) return `it has ${table.length} bytes instead of ${size}`
  if (size < FOOTER_BYTES || !table.subarray(-MAGIC.length).equals(MAGIC)) return 'it has no footer'
  try {
    const footer = new ByteReader(table.subarray(size - FOOTER_BYTES))
    const handles = [handleIn(footer), handleIn(footer)]
    for (const handle of handles) for (const inner of handlesIn(blockAt(table, handle))) blockAt(table, inner)
    return null
  } catch (error) {
    if (error instanceof UnreadableError) return error.message
    throw error
  }
}

interface BlockHandle {
  readonly offset: number
  readonly size: number
}

function handleIn(reader: ByteReader): BlockHandle {
  return { offset: reader.varint(), size: reader.varint() }
}

/** The contents, as stored. */
function blockAt(
  table: Buffer,
  { offset, size }: BlockHandle,
): { readonly kind: number; readonly bytes: Buffer } {
  const end = offset + size
  if (end + TRAILER_BYTES > table.length) throw new UnreadableError('a block lies outside of it')
  if (!agreesWith(table.readUInt32LE(end + 1), table.subarray(offset, end + 1))) {
    throw new UnreadableError('the checksum of a block does not agree')
  }
  return { kind: table.readUInt8(end), bytes: table.subarray(offset, end) }
}

/** The values of an index block: where other blocks are. */
function* handlesIn({ kind, bytes }: ReturnType<typeof blockAt>): Generator<BlockHandle> {
  if (kind !== RAW && kind !== SNAPPY) throw new UnreadableError('a block is of no known kind')
  const contents = kind === RAW ? bytes : uncompressed(bytes, BLOCK_BYTES_MAX)
  if (contents.length < 4) throw new UnreadableError('an index is cut short')
  const restarts = contents.readUInt32LE(contents.length - 4)
  const end = contents.length - 4 * (restarts + 1)
  if (end < 0) throw new UnreadableError('an index is malformed')
  const reader = new ByteReader(contents.subarray(0, end))
  while (reader.left > 0) {
    reader.varint()
    const keyBytes = reader.varint()
    const valueBytes = reader.varint()
    reader.take(keyBytes)
    yield handleIn(new ByteReader(reader.take(valueBytes)))
  }
}
