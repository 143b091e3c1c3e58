/**
 * A segment of the audit log as bytes. docs/formats/audit-segment.md
 *
 *   HFAS | version (1) | first sequence (6) | links (4) | hash before the first (32) | link after link:
 *   flags (1) | time (6) | length (4) | text | with ROWS or PACKED: length (4) | rows | with HASH: length (1) | hash as text
 *
 * Owns: the layout, and zstd around it. Knows nothing of: where segments lie, who is entitled to see them.
 * Rule: what is decoded gives the hashes that were encoded: those that follow from the texts are not stored.
 */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { batchOf, linkHash } from '../../state-machine/audit/audit-chain.ts'
import type { AuditLinkRecord } from '../../state-machine/audit/records.ts'
import type { PlacedLink } from '../../store/reads/audit-rows.ts'
import { plainRows } from './link-rows.ts'

const MAGIC = Buffer.from('HFAS')
const VERSION = 1
const HEAD_BYTES = MAGIC.length + 1 + 6 + 4 + 32
const LINK_BYTES = 1 + 6 + 4
/** Rows of a batch, plain: what their digest is of. */
const ROWS = 1
/** Rows of a batch as they were packed: they could not be unpacked to what their digest is of. */
const PACKED = 2
/** The hash does not follow from the text. */
const HASH = 4
/** Segments are made seldom and kept long. */
const LEVEL = 9
/** Above the largest that is made: links end it at a few MiB. */
const PLAIN_BYTES_MAX = 128 * 1024 * 1024

const deflate = promisify(zstdCompress)
const inflate = promisify(zstdDecompress)

export const sha256 = (text: string): string => hash('sha256', text)

/** One link as a segment holds it. */
export interface SealedLink {
  readonly sequence: number
  readonly time: number
  readonly text: string
  readonly hash: string
  /** Undefined: the row of a change. Null: rows that cannot be unpacked. */
  readonly rows: string | null | undefined
}

export interface EncodedSegment {
  /** Of the plain segment. */
  readonly bytes: number
  readonly packed: Buffer
}

/** Bytes that are no segment, or one that was changed. */
export class SegmentBrokenError extends Error {
  override readonly name = 'SegmentBrokenError'
}

/** `anchor`: the hash before the first link. */
export async function encodeSegment(anchor: string, links: readonly PlacedLink[]): Promise<EncodedSegment> {
  const head = Buffer.alloc(HEAD_BYTES)
  let at = MAGIC.copy(head)
  at = head.writeUInt8(VERSION, at)
  at = head.writeUIntBE(links[0]?.sequence ?? 0, at, 6)
  at = head.writeUInt32BE(links.length, at)
  head.write(anchor, at, 'hex')
  const pieces: Buffer[] = [head]
  let before = anchor
  for (const { link } of links) {
    pieces.push(...encodeLink(link, before))
    before = link.hash
  }
  const plain = Buffer.concat(pieces)
  const packed = await deflate(plain, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } })
  return { bytes: plain.length, packed }
}

function encodeLink({ time, text, packed, hash: said }: AuditLinkRecord, before: string): Buffer[] {
  const body = Buffer.from(text)
  const rows = packed === null ? null : rowsWithDigest(text, packed)
  const isExplicit = linkHash(sha256, before, text) !== said
  const head = Buffer.alloc(LINK_BYTES)
  const kept = packed === null ? 0 : rows === null ? PACKED : ROWS
  head.writeUInt8(kept | (isExplicit ? HASH : 0), 0)
  head.writeUIntBE(time, 1, 6)
  head.writeUInt32BE(body.length, 7)
  const pieces: Buffer[] = [head, body]
  if (packed !== null) pieces.push(...withLength(rows === null ? Buffer.from(packed) : Buffer.from(rows)))
  if (isExplicit) {
    const text = Buffer.from(said).subarray(0, 255)
    pieces.push(Buffer.of(text.length), text)
  }
  return pieces
}

/** Null: not what the link was hashed over. */
function rowsWithDigest(text: string, packed: Uint8Array): string | null {
  const rows = plainRows(packed)
  if (rows === null) return null
  const { digest } = batchOf(text)
  return sha256(rows) === digest ? rows : null
}

function withLength(bytes: Buffer): Buffer[] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return [length, bytes]
}

/** Throws SegmentBrokenError. */
export async function decodeSegment(packed: Uint8Array): Promise<{
  readonly anchor: string
  readonly links: readonly SealedLink[]
}> {
  let plain: Buffer
  try {
    plain = await inflate(Buffer.from(packed), { maxOutputLength: PLAIN_BYTES_MAX })
  } catch (cause) {
    throw new SegmentBrokenError('The segment does not unpack', { cause })
  }
  return new Decoder(plain).segment()
}

class Decoder {
  readonly #plain: Buffer
  #at = 0

  constructor(plain: Buffer) {
    this.#plain = plain
  }

  segment(): { readonly anchor: string; readonly links: readonly SealedLink[] } {
    const isKnown = this.#take(MAGIC.length).equals(MAGIC) && this.#number(1) === VERSION
    if (!isKnown) throw new SegmentBrokenError('The segment is of an unknown version')
    const first = this.#number(6)
    const count = this.#number(4)
    const anchor = this.#take(32).toString('hex')
    const links: SealedLink[] = []
    let before = anchor
    for (let n = 0; n < count; n++) {
      const link = this.#link(first + n, before)
      links.push(link)
      before = link.hash
    }
    if (this.#at !== this.#plain.length) throw new SegmentBrokenError('The segment continues after its end')
    return { anchor, links }
  }

  #link(sequence: number, before: string): SealedLink {
    const flags = this.#number(1)
    const time = this.#number(6)
    const text = this.#take(this.#number(4)).toString()
    const kept = (flags & (ROWS | PACKED)) === 0 ? undefined : this.#take(this.#number(4))
    const hash =
      (flags & HASH) === 0 ? linkHash(sha256, before, text) : this.#take(this.#number(1)).toString()
    if (kept === undefined) return { sequence, time, text, hash, rows: undefined }
    return { sequence, time, text, hash, rows: (flags & ROWS) === 0 ? plainRows(kept) : kept.toString() }
  }

  #number(bytes: number): number {
    return this.#take(bytes).readUIntBE(0, bytes)
  }

  #take(bytes: number): Buffer {
    const end = this.#at + bytes
    if (end > this.#plain.length) throw new SegmentBrokenError('The segment is cut short')
    const taken = this.#plain.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
