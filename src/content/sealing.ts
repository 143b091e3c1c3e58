/**
 * The two formats of a chunk on disk: which one a chunk has, how it is made, how spans of it are opened.
 * Layout and reasons: docs/formats/sealed-chunk.md.
 *
 * Owns: the choice of the format, format 1. Knows nothing of: where keys come from, where copies are.
 * Rules: the sealed size determines the format. No byte leaves before the tag of its frame is verified.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { crc32c } from '@node-rs/crc32'
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import { compress, headerBytesOf, placeIn, readLayout, sealCompressed } from './compressed-chunk.ts'
import {
  bindingOf,
  FRAME_BYTES,
  frameCountOf,
  framesOf,
  openFrame,
  type PlainBytes,
  sealFrame,
  sizeOf,
  TAG_BYTES,
} from './frame-cipher.ts'
import type { FrameLayout, SealedChunk } from './frame-layout.ts'
import type { TenantKeys } from './tenant-keys.ts'

const SEALED_FRAME_BYTES = FRAME_BYTES + TAG_BYTES
const FORMAT = 'hf-chunk-1'
const NONE = Buffer.alloc(0)

export type Compression = 'none' | 'zstd'

export interface SealedBytes {
  /** In memory that nothing else uses until it is released (`ChunkSealer.release`). */
  readonly sealed: Buffer
  /** SHA-256, lower-case hex: the checksum in the row of a chunk, which every scrub compares. */
  readonly checksum: string
  /** With it every copy is compared before it counts. */
  readonly crc32c: number
}

/** The size of a chunk in format 1. */
export function sealedSizeOf(plainSize: number): number {
  return plainSize + frameCountOf(plainSize) * TAG_BYTES
}

/** The compression of a stored chunk. Format 2 is used only if it is smaller, so its size cannot be that of format 1. */
export function compressionOf(chunk: { readonly size: number; readonly sealedSize: number }): Compression {
  return chunk.sealedSize === sealedSizeOf(chunk.size) ? 'none' : 'zstd'
}

/** Format 1: the same bytes on every machine and in every version. `memory`: where they go if they fit, otherwise to a new buffer. */
export function sealPlain(keys: TenantKeys, id: ChunkId, plain: PlainBytes, memory: Buffer = NONE): Buffer {
  const size = sizeOf(plain)
  assert(size > 0, 'an empty body has no chunk')
  const seal = { key: keys.chunkKey(id), binding: bindingOf(FORMAT, size) }
  const target = placeIn(memory, sealedSizeOf(size))
  let offset = 0
  for (const [frame, text] of framesOf(plain).entries()) {
    offset = sealFrame(seal, frame, text, { target, offset })
  }
  return target
}

/** `zstd`: format 2 if that pays, otherwise format 1. `memory`: where the sealed bytes go if they fit, otherwise to a new buffer. */
export function sealChunk(
  keys: TenantKeys,
  chunk: { readonly id: ChunkId; readonly plain: PlainBytes },
  compression: Compression,
  memory: Buffer = NONE,
): SealedBytes {
  const { id, plain } = chunk
  const compressed = compression === 'none' ? null : compress(plain, sealedSizeOf(sizeOf(plain)))
  const sealed =
    compressed === null ? sealPlain(keys, id, plain, memory) : sealCompressed(keys, id, compressed, memory)
  // First: bytes that change from here on, also before they are hashed, differ from it.
  const crc = crc32c(sealed)
  return { sealed, checksum: createHash('sha256').update(sealed).digest('hex'), crc32c: crc }
}

/** Number of bytes at the start of a chunk that describe the positions of its frames: none in format 1. */
export function layoutBytesOf(chunk: { readonly size: number; readonly sealedSize: number }): number {
  return compressionOf(chunk) === 'none' ? 0 : headerBytesOf(chunk.size)
}

/** `head`: the first layoutBytesOf() bytes of the chunk; not trusted before a frame opens. Throws SealBrokenError. */
export function layoutOf(chunk: SealedChunk, head: Buffer): FrameLayout {
  if (compressionOf(chunk) === 'zstd') return readLayout(chunk, head)
  const seal = { key: chunk.keys.chunkKey(chunk.id), binding: bindingOf(FORMAT, chunk.size) }
  return {
    plainSize: chunk.size,
    offsetOf: (frame) => Math.min(frame * SEALED_FRAME_BYTES, chunk.sealedSize),
    open: (frame, sealed) => openFrame(seal, frame, sealed),
  }
}
