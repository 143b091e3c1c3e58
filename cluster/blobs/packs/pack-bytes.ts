/** Reads bytes of an open pack. Rule: a read past the end returns fewer bytes; a caller that needs all of them checks the length. */
import type { OpenFile } from '../../base/file-ops.ts'

/** Returns fewer bytes than requested only at the end of the file. Throws the system's errors. */
export async function readFully(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}
