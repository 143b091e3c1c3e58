/**
 * A chunk as it lies on disk: frames of AES-256-GCM, each opened and authenticated by itself.
 * Layout and reasons: docs/formats/sealed-chunk.md.
 *
 * Owns: the format. Knows nothing of: where keys come from, where copies lie.
 * Rules: sealing is deterministic, so all copies are byte-identical. A key seals exactly one plain text (the chunk id
 * is made from it), which is what makes the frame number a safe nonce. No byte leaves before its frame's tag holds.
 */
import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv, type DecipherGCM, type KeyObject } from 'node:crypto'

export const FRAME_BYTES = 64 * 1024
export const TAG_BYTES = 16
const SEALED_FRAME_BYTES = FRAME_BYTES + TAG_BYTES
const NONCE_BYTES = 12
const FORMAT = Buffer.from('hf-chunk-1')

/** The bytes do not open: damaged, cut short, of another chunk, or read with another key. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError'
}

/** Frames [first, end) of a chunk of `plainSize` bytes. */
export interface FrameSpan {
  readonly key: KeyObject
  readonly plainSize: number
  readonly first: number
  readonly end: number
}

export function frameCountOf(plainSize: number): number {
  return Math.ceil(plainSize / FRAME_BYTES)
}

export function sealedSizeOf(plainSize: number): number {
  return plainSize + frameCountOf(plainSize) * TAG_BYTES
}

/** Where frame number `frame` begins in the sealed bytes; the frame after the last one begins at their end. */
export function sealedOffsetOf(frame: number, plainSize: number): number {
  return Math.min(frame * SEALED_FRAME_BYTES, sealedSizeOf(plainSize))
}

/** A new buffer, never one that is used again: the caller may pass it on and forget it. */
export function sealChunk(key: KeyObject, plain: Uint8Array): Buffer {
  assert(plain.length > 0, 'an empty body has no chunk')
  const sealed = Buffer.allocUnsafeSlow(sealedSizeOf(plain.length))
  for (let frame = 0; frame < frameCountOf(plain.length); frame += 1) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(frame)).setAAD(bindingOf(plain.length))
    const start = frame * SEALED_FRAME_BYTES
    const body = cipher.update(plain.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES))
    sealed.set(body, start)
    cipher.final()
    sealed.set(cipher.getAuthTag(), start + body.length)
  }
  return sealed
}

/** The plain bytes of each frame of the span, in order, as the sealed bytes arrive. Throws SealBrokenError. */
export async function* openFrames(
  source: AsyncIterable<Uint8Array>,
  span: FrameSpan,
): AsyncGenerator<Buffer> {
  let frame = span.first
  let waiting: Buffer = Buffer.alloc(0)
  for await (const piece of source) {
    waiting = waiting.length === 0 ? asBuffer(piece) : Buffer.concat([waiting, piece])
    while (frame < span.end) {
      const length = sealedLengthOf(frame, span.plainSize)
      if (waiting.length < length) break
      const sealed = waiting.subarray(0, length)
      waiting = waiting.subarray(length)
      yield openFrame(sealed, frame, span)
      frame += 1
    }
    if (frame === span.end) return
  }
  if (frame < span.end) throw new SealBrokenError(`The sealed bytes end in frame ${frame} of ${span.end}`)
}

function openFrame(sealed: Buffer, frame: number, span: FrameSpan): Buffer {
  const decipher: DecipherGCM = createDecipheriv('aes-256-gcm', span.key, nonceOf(frame), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(bindingOf(span.plainSize)).setAuthTag(sealed.subarray(-TAG_BYTES))
  const plain = decipher.update(sealed.subarray(0, -TAG_BYTES))
  try {
    decipher.final()
  } catch (cause) {
    throw new SealBrokenError(`Frame ${frame} does not open`, { cause })
  }
  return plain
}

function sealedLengthOf(frame: number, plainSize: number): number {
  return sealedOffsetOf(frame + 1, plainSize) - sealedOffsetOf(frame, plainSize)
}

function nonceOf(frame: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUInt32BE(frame, NONCE_BYTES - 4)
  return nonce
}

/** The size fixes the number of frames and which one is last, so that a chunk cannot be cut or lengthened unnoticed. */
function bindingOf(plainSize: number): Buffer {
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(plainSize))
  return Buffer.concat([FORMAT, size])
}

function asBuffer(piece: Uint8Array): Buffer {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
