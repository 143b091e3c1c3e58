/**
 * Format 2 of the sealed chunk: each frame is compressed separately with zstd, and a header lists their lengths.
 * Layout, and why no key seals two texts although zstd may change: docs/formats/sealed-chunk.md.
 *
 * Owns: the format and the decision whether compression pays. Knows nothing of: where copies are.
 * Rules: the key depends on everything that is sealed under it; every frame authenticates the whole header; a frame
 * opens to exactly its plain length or not at all.
 *
 *   02 | salt (32) | for each frame: length - 1 of its text (2, big-endian) | for each frame: cipher text | tag (16)
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import {
  bindingOf,
  type FrameSeal,
  frameCountOf,
  framesOf,
  openFrame,
  type PlainBytes,
  plainLengthOf,
  SealBrokenError,
  sealFrame,
  sizeOf,
  TAG_BYTES,
} from './frame-cipher.ts'
import type { FrameLayout, SealedChunk } from './frame-layout.ts'
import { releaseBytes } from './spent-bytes.ts'
import type { TenantKeys } from './tenant-keys.ts'

const FORMAT = 'hf-chunk-2'
const VERSION = 2
const SALT_BYTES = 32
const LENGTH_BYTES = 2
const FIXED_BYTES = 1 + SALT_BYTES
/** Smaller chunks are not worth a header and a call. */
const COMPRESSED_FROM_BYTES = 1024
/** Fraction of the size in format 1 above which a chunk stays in format 1. */
const KEPT_UP_TO = 0.9
const SAMPLE_BYTES = 8 * 1024
const SAMPLES_MAX = 4
const EMPTY = new Uint8Array(0)
const NONE = Buffer.alloc(0)
/** Level 1: on frames this short, higher levels cost more time than the space that they save is worth. */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** The texts to seal, in order: a frame that does not shrink stays plain, which its length shows. */
export interface CompressedFrames {
  readonly plainSize: number
  readonly texts: readonly Uint8Array[]
  /** The lengths as encoded in the header. */
  readonly table: Buffer
}

export function headerBytesOf(plainSize: number): number {
  return FIXED_BYTES + frameCountOf(plainSize) * LENGTH_BYTES
}

/** Null: the sealed chunk would not be at least a tenth smaller than `sizeOtherwise`. */
export function compress(plain: PlainBytes, sizeOtherwise: number): CompressedFrames | null {
  const [frames, plainSize] = [framesOf(plain), sizeOf(plain)]
  if (plainSize < COMPRESSED_FROM_BYTES || !isPromising(frames)) return null
  const count = frames.length
  const texts = frames.map(smaller)
  const size = texts.reduce((sum, text) => sum + text.length + TAG_BYTES, headerBytesOf(plainSize))
  if (size > sizeOtherwise * KEPT_UP_TO) return null
  const table = Buffer.alloc(count * LENGTH_BYTES)
  texts.forEach((text, frame) => table.writeUInt16BE(text.length - 1, frame * LENGTH_BYTES))
  return { plainSize, texts, table }
}

/** Compresses the beginning of a few frames spread over the chunk, so that incompressible content costs little. */
function isPromising(frames: readonly Uint8Array[]): boolean {
  const samples = Math.min(SAMPLES_MAX, frames.length)
  let [before, after] = [0, 0]
  for (let sample = 0; sample < samples; sample += 1) {
    const piece = frames[Math.floor((sample * frames.length) / samples)]?.subarray(0, SAMPLE_BYTES) ?? EMPTY
    before += piece.length
    after += zstdCompressSync(piece, OPTIONS).length
  }
  return after <= before * KEPT_UP_TO
}

function smaller(frame: Uint8Array): Uint8Array {
  const compressed = zstdCompressSync(frame, OPTIONS)
  return compressed.length < frame.length ? compressed : frame
}

/** The beginning of `memory`, or a new buffer if it is too small. */
export function placeIn(memory: Buffer, bytes: number): Buffer {
  return bytes <= memory.length ? memory.subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes)
}

/** `memory`: where the sealed bytes go if they fit, otherwise to a new buffer. */
export function sealCompressed(
  keys: TenantKeys,
  id: ChunkId,
  frames: CompressedFrames,
  memory: Buffer = NONE,
): Buffer {
  const { plainSize, texts, table } = frames
  const header = headerOf(keys, frames)
  const seal = sealOf(keys, { id, size: plainSize }, header)
  const bytes = texts.reduce((sum, text) => sum + text.length + TAG_BYTES, header.length)
  const target = placeIn(memory, bytes)
  target.set(header, 0)
  let offset = FIXED_BYTES + table.length
  texts.forEach((text, frame) => {
    offset = sealFrame(seal, frame, text, { target, offset })
  })
  return target
}

/** The salt covers everything that the key will seal and authenticate: the plain size, the lengths, the texts. */
function headerOf(keys: TenantKeys, { plainSize, texts, table }: CompressedFrames): Buffer {
  const salt = keys.saltOf([bindingOf(FORMAT, plainSize), table, ...texts])
  return Buffer.concat([Buffer.of(VERSION), salt, table])
}

function sealOf(keys: TenantKeys, chunk: { id: ChunkId; size: number }, header: Buffer): FrameSeal {
  const salt = header.subarray(1, FIXED_BYTES)
  const binding = Buffer.concat([bindingOf(FORMAT, chunk.size), header])
  return { key: keys.compressedChunkKey(chunk.id, salt), binding }
}

/** Throws SealBrokenError if the header cannot belong to this chunk. The header is authentic only once a frame has opened. */
export function readLayout(chunk: SealedChunk, header: Buffer): FrameLayout {
  const { keys, size } = chunk
  if (header.length !== headerBytesOf(size) || header[0] !== VERSION) {
    throw new SealBrokenError('The header of the compressed chunk is cut short or of an unknown version')
  }
  const offsets = [header.length]
  for (let frame = 0; frame < frameCountOf(size); frame += 1) {
    const length = header.readUInt16BE(FIXED_BYTES + frame * LENGTH_BYTES) + 1
    offsets.push((offsets.at(-1) ?? 0) + length + TAG_BYTES)
  }
  if (offsets.at(-1) !== chunk.sealedSize) {
    throw new SealBrokenError('The header of the compressed chunk does not add up to its size')
  }
  // A copy, because the buffer of the header may be reused before the last frame is opened.
  const seal = sealOf(keys, chunk, Buffer.from(header))
  return {
    plainSize: size,
    offsetOf: (frame) => offsets[frame] ?? chunk.sealedSize,
    open: (frame, sealed) => expand(openFrame(seal, frame, sealed), frame, plainLengthOf(frame, size)),
  }
}

function expand(text: Buffer, frame: number, plainLength: number): Buffer {
  if (text.length === plainLength) return text
  let plain: Buffer
  try {
    plain = zstdDecompressSync(text, { maxOutputLength: plainLength })
  } catch (cause) {
    throw new SealBrokenError(`Frame ${frame} does not expand to its ${plainLength} bytes`, { cause })
  }
  releaseBytes(text)
  if (plain.length === plainLength) return plain
  throw new SealBrokenError(`Frame ${frame} expands to ${plain.length} of its ${plainLength} bytes`)
}
