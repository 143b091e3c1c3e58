/**
 * Blobs for tests: bytes from a seed, with the name and the checksum that belong to them.
 */
import { createHash } from 'node:crypto'
import type { BlobName, BlobRef } from '../../cluster/base/types.ts'

export interface SampleBlob extends BlobName {
  readonly bytes: Uint8Array
  readonly size: number
  readonly checksum: string
}

/** Equal arguments give equal bytes; no two seeds share an id. */
export function sampleBlob(seed: number, size = 1000): SampleBlob {
  const bytes = new Uint8Array(size)
  let state = (seed + 1) * 2654435761
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[at] = state >>> 24
  }
  const id = createHash('sha256').update(`id of ${seed}`).digest('hex')
  return { id, birth: `birth-${seed}`, bytes, size, checksum: sha256(bytes) }
}

/** One bit differs. */
export function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const other = Uint8Array.from(bytes)
  other[at] = (other[at] ?? 0) ^ 1
  return other
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export async function* streamOf(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  // Copies: a piece is its sender's again when the next one is asked for.
  for await (const piece of stream) pieces.push(new Uint8Array(piece))
  return new Uint8Array(Buffer.concat(pieces))
}

export function refOf(blob: SampleBlob, replicas: readonly string[]): BlobRef {
  return { id: blob.id, birth: blob.birth, size: blob.size, checksum: blob.checksum, replicas }
}
