/**
 * Reads one copy back, whole, and compares it with its checksum.
 *
 * Owns: what a fault of either means. Knows nothing of: keys. Rule: only bytes that came back from the node count.
 */
import { createHash } from 'node:crypto'
import { type BlobCopy, type BlobRef, Condition } from '../../cluster/index.ts'

/** Throws Condition not_enough_replicas if the copy cannot be read now, for example because its node has just stopped. */
export async function checkCopy(copy: BlobCopy, ref: BlobRef): Promise<void> {
  const digest = createHash('sha256')
  try {
    for await (const piece of copy.read(0, ref.size)) digest.update(piece)
  } catch (cause) {
    const message = `Cannot read back the copy of '${ref.id}' on '${copy.nodeId}'`
    throw new Condition('not_enough_replicas', message, { cause })
  }
  if (digest.digest('hex') === ref.checksum) return
  throw new Error(`The copy of '${ref.id}' on '${copy.nodeId}' differs from what was written`)
}
