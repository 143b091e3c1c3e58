/**
 * Reads one blob file: header first, then bytes in bounded pieces.
 *
 * Owns: the distinction between "absent" and "damaged". A read error of the disk counts as damage, because for the reader it
 * is the same: another copy must answer. Knows nothing of: writes, directories.
 * Rule: the descriptor is closed on every path, also when the consumer stops before the end.
 */
import { BlobDamagedError, BlobMissingError, type BlobName } from '../../base/types.ts'
import { decodeHeader, HEADER_BYTES } from './blob-header.ts'
import type { BlobContent } from './blob-store.ts'
import { errorCode, type FileOps, type OpenFile } from '../../base/file-ops.ts'

/** Sixteen times the size of a sealed frame of the caller: any size is correct, but this one rarely splits a frame. */
const PIECE_BYTES = 16 * 65_552

export interface BlobFile {
  readonly name: BlobName
  readonly path: string
  readonly ops: FileOps
}

/** Throws BlobMissingError or BlobDamagedError. */
export async function readContent(file: BlobFile): Promise<BlobContent> {
  const handle = await openBlob(file)
  try {
    return await checkedHeader(file, handle)
  } finally {
    await handle.close()
  }
}

export async function* readRange(file: BlobFile, start: number, end: number): AsyncGenerator<Uint8Array> {
  const handle = await openBlob(file)
  try {
    const { size } = await checkedHeader(file, handle)
    if (!(start >= 0 && start <= end && end <= size)) {
      throw new RangeError(`Cannot read bytes ${start} to ${end} of blob "${file.name.id}": it has ${size}`)
    }
    for (let at = start; at < end; ) {
      const piece = await readPiece(file, handle, {
        at: HEADER_BYTES + at,
        length: Math.min(PIECE_BYTES, end - at),
      })
      at += piece.length
      yield piece
    }
  } finally {
    await handle.close()
  }
}

async function openBlob(file: BlobFile): Promise<OpenFile> {
  try {
    return await file.ops.openForRead(file.path)
  } catch (cause) {
    const name = `${file.name.id}.${file.name.birth}`
    if (errorCode(cause) === 'ENOENT')
      throw new BlobMissingError(`Blob "${name}" is not on this node`, { cause })
    // Running out of descriptors says nothing about the copy; any other error of the disk does.
    if (errorCode(cause) === 'EMFILE' || errorCode(cause) === 'ENFILE') throw cause
    throw new BlobDamagedError(`Blob "${name}" cannot be opened`, { cause })
  }
}

async function checkedHeader(file: BlobFile, handle: OpenFile): Promise<BlobContent> {
  const { size: fileSize } = await handle.stat()
  if (fileSize < HEADER_BYTES)
    throw new BlobDamagedError(`Blob "${file.name.id}" is damaged: its header is cut off`)
  const header = await readPiece(file, handle, { at: 0, length: HEADER_BYTES })
  const content = decodeHeader(file.name, header)
  if (fileSize !== HEADER_BYTES + content.size) {
    const found = fileSize - HEADER_BYTES
    throw new BlobDamagedError(`Blob "${file.name.id}" is damaged: ${found} bytes instead of ${content.size}`)
  }
  return content
}

/** Exactly `length` bytes. */
async function readPiece(
  file: BlobFile,
  handle: OpenFile,
  range: { at: number; length: number },
): Promise<Buffer> {
  const piece = Buffer.allocUnsafeSlow(range.length)
  for (let filled = 0; filled < range.length; ) {
    const bytesRead = await readSome(file, handle, { piece, filled, at: range.at })
    if (bytesRead === 0) throw new BlobDamagedError(`Blob "${file.name.id}" is damaged: it ends early`)
    filled += bytesRead
  }
  return piece
}

async function readSome(
  file: BlobFile,
  handle: OpenFile,
  { piece, filled, at }: { piece: Buffer; filled: number; at: number },
): Promise<number> {
  try {
    return (await handle.read(piece, filled, piece.length - filled, at + filled)).bytesRead
  } catch (cause) {
    throw new BlobDamagedError(`Blob "${file.name.id}" is damaged: the disk cannot read it`, { cause })
  }
}
