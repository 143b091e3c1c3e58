/**
 * Bytes of an open pack, as many as there are.
 *
 * Rule: nothing past the end of the file is made up; whoever needs all bytes compares the length.
 */
import type { OpenFile } from '../../base/file-ops.ts'

/** Fewer bytes than asked for only at the end of the file. Throws what the system throws. */
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
