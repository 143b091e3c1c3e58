/**
 * Reads one record of a pack: header first, then bytes in bounded pieces.
 *
 * Owns: the decision whether bytes are the requested record. A read error of the disk counts as damage, because for the reader
 * it is the same: another copy must answer. Knows nothing of: the index, writes.
 * Rule: no byte is returned unless the header at that very place carries the name.
 */
import { createHash } from 'node:crypto'
import { BlobDamagedError, type BlobName } from '../../base/types.ts'
import { HEADER_BYTES } from '../base/blob-header.ts'
import { fileNameOf } from '../base/blob-name.ts'
import type { BlobContent } from '../base/blob-store.ts'
import { errorCode } from '../../base/file-ops.ts'
import type { Place } from './index-rows.ts'
import type { OpenPack } from './open-packs.ts'
import { readFully } from './pack-bytes.ts'
import { decodeRecordHeader } from './pack-record.ts'

const PIECE_BYTES = 256 * 1024

export interface PackedBlob {
  readonly name: BlobName
  readonly place: Place
  readonly pack: OpenPack
}

/** Throws BlobDamagedError, also when the pack ends before the blob does. */
export async function readPackedContent(blob: PackedBlob): Promise<BlobContent> {
  const content = contentIn(blob, await bytesOf(blob, 0, HEADER_BYTES))
  const { size } = await blob.pack.file.stat()
  if (size < blob.place.offset + HEADER_BYTES + content.size) throw damaged(blob, 'its pack is cut off')
  return content
}

export async function* readPackedRange(
  blob: PackedBlob,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  // From the start of a blob, header and bytes come with one read.
  const early = start === 0 && end <= PIECE_BYTES ? end : 0
  const first = await bytesOf(blob, 0, HEADER_BYTES + early)
  const { size } = contentIn(blob, first)
  if (!(start >= 0 && start <= end && end <= size)) {
    throw new RangeError(`Cannot read bytes ${start} to ${end} of blob "${blob.name.id}": it has ${size}`)
  }
  if (early > 0) {
    if (first.length < HEADER_BYTES + early) throw damaged(blob, 'its pack is cut off')
    yield first.subarray(HEADER_BYTES)
  }
  for (let at = start + early; at < end; ) {
    const length = Math.min(PIECE_BYTES, end - at)
    const piece = await bytesOf(blob, HEADER_BYTES + at, length)
    if (piece.length < length) throw damaged(blob, 'its pack is cut off')
    at += length
    yield piece
  }
}

/** Throws BlobDamagedError. */
export async function verifyPacked(
  blob: PackedBlob,
  onPiece: (piece: Uint8Array) => void = () => undefined,
): Promise<BlobContent> {
  const content = await readPackedContent(blob)
  const hash = createHash('sha256')
  for await (const piece of readPackedRange(blob, 0, content.size)) {
    hash.update(piece)
    onPiece(piece)
  }
  if (hash.digest('hex') === content.checksum) return content
  throw damaged(blob, 'its bytes do not match their checksum')
}

/** The whole blob in memory, verified. Throws BlobDamagedError. */
export async function readVerified(
  blob: PackedBlob,
): Promise<{ readonly content: BlobContent; readonly pieces: readonly Uint8Array[] }> {
  const pieces: Uint8Array[] = []
  return { content: await verifyPacked(blob, (piece) => pieces.push(piece)), pieces }
}

/** The bytes of the record as they are, for inspection; empty when they cannot be read. */
export async function rawRecord({ place, pack }: PackedBlob): Promise<Buffer> {
  return readFully(pack.file, place.offset, HEADER_BYTES + place.size).catch(() => Buffer.alloc(0))
}

function contentIn(blob: PackedBlob, header: Buffer): BlobContent {
  const { name, place, pack } = blob
  if (pack.frame === null) throw damaged(blob, 'the head of its pack cannot be read')
  const found = decodeRecordHeader(pack.frame, place.offset, header.subarray(0, HEADER_BYTES))
  if (found === null || found.name === null) throw damaged(blob, 'its header cannot be read')
  if (found.name.id !== name.id || found.name.birth !== name.birth)
    throw damaged(blob, 'its header carries another name')
  return found.content
}

async function bytesOf(blob: PackedBlob, at: number, length: number): Promise<Buffer> {
  try {
    return await readFully(blob.pack.file, blob.place.offset + at, length)
  } catch (cause) {
    throw damaged(blob, 'the disk cannot read it', cause)
  }
}

/** The error for a failed open. Running out of descriptors says nothing about the copy; any other error of the disk does. */
export function unopenable(name: BlobName, cause: unknown): unknown {
  if (errorCode(cause) === 'EMFILE' || errorCode(cause) === 'ENFILE') return cause
  return new BlobDamagedError(`Blob "${fileNameOf(name)}" is damaged: its pack cannot be opened`, { cause })
}

function damaged({ name }: PackedBlob, what: string, cause?: unknown): BlobDamagedError {
  return new BlobDamagedError(`Blob "${fileNameOf(name)}" is damaged: ${what}`, { cause })
}
