/**
 * A small file outside of the data directory with the number of the last flushed batch.
 *
 * Owns: its 16 bytes: the number of the last batch and its complement, both little-endian (docs/formats/disk-proof.md). Knows nothing of:
 * conclusions from it. Rule: it is written after the flush and before the acknowledgement, and never flushed itself: it is in memory, and
 * outlives the process but not the host. It is a help, never a condition: if a write to it fails, the log works without it.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'

const BYTES = 16
const MASK = 2n ** 64n - 1n

export class FlushWitness {
  #file: number | null = null

  constructor(path: string | null) {
    if (path === null) return
    try {
      this.#file = openOwn(path, constants.O_RDWR | constants.O_CREAT)
    } catch {
      this.#file = null
    }
  }

  record(batch: number): void {
    if (this.#file === null) return
    const bytes = Buffer.alloc(BYTES)
    bytes.writeBigUInt64LE(BigInt(batch), 0)
    bytes.writeBigUInt64LE(BigInt(batch) ^ MASK, 8)
    try {
      writeSync(this.#file, bytes, 0, BYTES, 0)
    } catch {
      // The file keeps an older number, which claims less and proves nothing.
      this.close()
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

/** Null: there is no witness, or it is not valid. */
export function readWitness(path: string): number | null {
  let file: number
  try {
    file = openOwn(path, constants.O_RDONLY)
  } catch {
    return null
  }
  try {
    const bytes = Buffer.alloc(BYTES)
    if (readSync(file, bytes, 0, BYTES, 0) !== BYTES) return null
    const batch = bytes.readBigUInt64LE(0)
    return (batch ^ MASK) === bytes.readBigUInt64LE(8) ? Number(batch) : null
  } catch {
    return null
  } finally {
    closeSync(file)
  }
}

/** Other users may write to the folder: a link, or a file of another user, is not opened. */
function openOwn(path: string, flags: number): number {
  const file = openSync(path, flags | constants.O_NOFOLLOW, 0o600)
  const uid = process.getuid?.()
  if (uid === undefined || fstatSync(file).uid === uid) return file
  closeSync(file)
  throw new Error('The file belongs to another user')
}
