/**
 * One frame: AES-256-GCM under the key of its chunk, its number as the nonce.
 *
 * Owns: cipher, nonce, tag. Knows nothing of: the content, the position of a frame.
 * Rule: a key seals one sequence of frames under one binding and never another; only that makes a counter a safe nonce.
 */
import { createCipheriv, createDecipheriv, type DecipherGCM, type KeyObject } from 'node:crypto'
import { releaseBytes } from './spent-bytes.ts'

/** Plain bytes of a frame; only the last one of a chunk is smaller. */
export const FRAME_BYTES = 64 * 1024
export const TAG_BYTES = 16
const NONCE_BYTES = 12

/** The bytes do not open: damaged, cut short, of another chunk, or read with another key. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError'
}

/** The plain bytes of a chunk: in one piece, or in frames of FRAME_BYTES; only the last one is smaller. */
export type PlainBytes = Uint8Array | readonly Uint8Array[]

/** Copies nothing. */
export function framesOf(plain: PlainBytes): readonly Uint8Array[] {
  if (!(plain instanceof Uint8Array)) return plain
  const count = frameCountOf(plain.length)
  return Array.from({ length: count }, (_, frame) =>
    plain.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES),
  )
}

export function sizeOf(plain: PlainBytes): number {
  return plain instanceof Uint8Array ? plain.length : plain.reduce((sum, { length }) => sum + length, 0)
}

/** `binding` is authenticated with every frame and not stored. */
export interface FrameSeal {
  readonly key: KeyObject
  readonly binding: Uint8Array
}

export function frameCountOf(plainSize: number): number {
  return Math.ceil(plainSize / FRAME_BYTES)
}

/** Plain bytes of frame number `frame` of a chunk. */
export function plainLengthOf(frame: number, plainSize: number): number {
  return Math.min(FRAME_BYTES, plainSize - frame * FRAME_BYTES)
}

/** Writes cipher text and tag to `target` at `offset`; returns their end. */
export function sealFrame(
  seal: FrameSeal,
  frame: number,
  text: Uint8Array,
  to: { readonly target: Buffer; readonly offset: number },
): number {
  const cipher = createCipheriv('aes-256-gcm', seal.key, nonceOf(frame)).setAAD(seal.binding)
  const body = cipher.update(text)
  cipher.final()
  const end = to.offset + body.length
  to.target.set(body, to.offset)
  to.target.set(cipher.getAuthTag(), end)
  releaseBytes(body)
  return end + TAG_BYTES
}

/** Throws SealBrokenError. */
export function openFrame(seal: FrameSeal, frame: number, sealed: Uint8Array): Buffer {
  const decipher: DecipherGCM = createDecipheriv('aes-256-gcm', seal.key, nonceOf(frame), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(seal.binding).setAuthTag(sealed.subarray(-TAG_BYTES))
  const text = decipher.update(sealed.subarray(0, -TAG_BYTES))
  try {
    decipher.final()
  } catch (cause) {
    throw new SealBrokenError(`Frame ${frame} does not open`, { cause })
  }
  return text
}

/** Format and plain size. The size fixes the number of frames and the last one, so truncation and extension are detected. */
export function bindingOf(format: string, plainSize: number): Buffer {
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(plainSize))
  return Buffer.concat([Buffer.from(format), size])
}

function nonceOf(frame: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUInt32BE(frame, NONCE_BYTES - 4)
  return nonce
}
