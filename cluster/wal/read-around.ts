/**
 * Reads a file around sectors that the disk cannot read.
 *
 * Owns: the replacement of an unreadable sector: bytes that no check accepts, and that are not zeros, because zeros would
 * mean that nothing was ever written there. Knows nothing of: the content of the file.
 */

/** Fills `into` from `position` on; returns the number of bytes read. Throws with the code EIO where the disk cannot read. */
export type ReadAt = (into: Uint8Array, position: number) => number

const SECTOR_BYTES = 512
const UNREADABLE = 0xee
/** One call to the kernel reads less than 2 GiB. */
const READ_BYTES_MAX = 1024 * 1024 * 1024

/** Returns how much of `bytes` was filled: less than its length at the end of the file. */
export function readAround(bytes: Uint8Array, read: ReadAt): number {
  let filled = 0
  let step = READ_BYTES_MAX
  while (filled < bytes.length) {
    const into = bytes.subarray(filled, filled + step)
    const count = readOrNull(into, filled, read)
    if (count === 0) break
    if (count !== null) filled += count
    else if (step > SECTOR_BYTES) step = SECTOR_BYTES
    else filled += into.fill(UNREADABLE).length
  }
  return filled
}

function readOrNull(into: Uint8Array, position: number, read: ReadAt): number | null {
  try {
    return read(into, position)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EIO') return null
    throw error
  }
}
