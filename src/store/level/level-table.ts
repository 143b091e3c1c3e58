/**
 * Checks a table of LevelDB block by block before LevelDB sees it.
 *
 * The bundled LevelDB never checks the checksums of blocks: a flipped bit in a filter hides a row, one in a
 * key or an index shows another row or none, and some flips end the process. The file format is that of LevelDB's
 * doc/table_format.md: data blocks, filter, index, footer; behind each block its kind and a masked CRC-32C.
 *
 * Owns: that check. Knows nothing of: rows, which tables count. Rule: every byte of every block is covered by a checksum that was
 * checked, and positions of blocks are taken only from blocks that verified.
 */
import { agreesWith, ByteReader, uncompressed, UnreadableError } from './level-bytes.ts'

const FOOTER_BYTES = 48
const MAGIC = Buffer.from('57fb808b247547db', 'hex')
/** Kind and checksum. */
const TRAILER_BYTES = 5
const RAW = 0
const SNAPPY = 1
/** Of an index or a filter; tables have at most tens of megabytes, plus one large row. */
const BLOCK_BYTES_MAX = 256 * 1024 * 1024

/** Many blocks are read at once; at most this much of them is in memory. */
const WINDOW_BYTES = 1024 * 1024

/** Where the bytes of a table come from. */
export interface TableBytes {
  readonly length: number
  /** Fewer bytes than requested come only at the end. Throws errors of the system. */
  read(offset: number, length: number): Promise<Buffer>
}

/** `guides`: the blocks that lead to rows or hide them, which are all but the blocks of rows; a few hundredths of a table. */
export type TablePart = 'whole' | 'guides'

/** Null, or what is wrong. */
export async function faultInTable(table: TableBytes, size: number, part: TablePart): Promise<string | null> {
  if (table.length !== size) return `it has ${table.length} bytes instead of ${size}`
  if (size < FOOTER_BYTES) return 'it has no footer'
  const footerBytes = await table.read(size - FOOTER_BYTES, FOOTER_BYTES)
  if (!footerBytes.subarray(-MAGIC.length).equals(MAGIC)) return 'it has no footer'
  try {
    const footer = new ByteReader(footerBytes)
    const [meta, index] = [handleIn(footer), handleIn(footer)]
    const blocks = new Blocks(table)
    for (const filter of handlesIn(await blocks.at(meta))) await blocks.at(filter)
    const data = [...handlesIn(await blocks.at(index))]
    for (const handle of data) {
      if (part === 'whole') await blocks.at(handle)
      else blocks.assertInside(handle)
    }
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

interface Block {
  readonly kind: number
  /** As stored. */
  readonly bytes: Buffer
}

function handleIn(reader: ByteReader): BlockHandle {
  return { offset: reader.varint(), size: reader.varint() }
}

class Blocks {
  readonly #table: TableBytes
  #start = 0
  #window: Buffer = Buffer.alloc(0)

  constructor(table: TableBytes) {
    this.#table = table
  }

  assertInside({ offset, size }: BlockHandle): void {
    if (offset + size + TRAILER_BYTES > this.#table.length)
      throw new UnreadableError('a block lies outside of it')
  }

  /** Throws UnreadableError when the bytes are not those that were written. */
  async at(handle: BlockHandle): Promise<Block> {
    this.assertInside(handle)
    const { offset, size } = handle
    const whole = await this.#bytesAt(offset, size + TRAILER_BYTES)
    if (whole.length < size + TRAILER_BYTES) throw new UnreadableError('a block is cut short')
    if (!agreesWith(whole.readUInt32LE(size + 1), whole.subarray(0, size + 1))) {
      throw new UnreadableError('the checksum of a block does not agree')
    }
    return { kind: whole.readUInt8(size), bytes: whole.subarray(0, size) }
  }

  async #bytesAt(offset: number, length: number): Promise<Buffer> {
    if (offset < this.#start || offset + length > this.#start + this.#window.length) {
      const wanted = Math.max(length, Math.min(WINDOW_BYTES, this.#table.length - offset))
      this.#window = await this.#table.read(offset, wanted)
      this.#start = offset
    }
    return this.#window.subarray(offset - this.#start, offset - this.#start + length)
  }
}

/** The values of an index block: where other blocks are. */
function* handlesIn({ kind, bytes }: Block): Generator<BlockHandle> {
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
