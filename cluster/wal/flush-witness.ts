/**
 * A small file outside of the data directory that knows how far the log was flushed.
 *
 * Owns: its 16 bytes: the number of the last batch and its complement, both little-endian (docs/formats/disk-proof.md). Knows nothing of:
 * what is concluded from it. Rule: it is told after the flush and before the acknowledgement, and never flushed itself: it lies in memory,
 * outlives the process and not the host. It is a help, never a condition: what fails here is left out.
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

  tell(batch: number): void {
    if (this.#file === null) return
    const bytes = Buffer.alloc(BYTES)
    bytes.writeBigUInt64LE(BigInt(batch), 0)
    bytes.writeBigUInt64LE(BigInt(batch) ^ MASK, 8)
    try {
      writeSync(this.#file, bytes, 0, BYTES, 0)
    } catch {
      // An older number claims less, which proves nothing.
      this.close()
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

/** Null: there is none that can be believed. */
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

/** The folder may be open to everybody: a link, or a file of somebody else, is not followed. */
function openOwn(path: string, flags: number): number {
  const file = openSync(path, flags | constants.O_NOFOLLOW, 0o600)
  const uid = process.getuid?.()
  if (uid === undefined || fstatSync(file).uid === uid) return file
  closeSync(file)
  throw new Error('The file belongs to another user')
}
