/**
 * Bytes that this node reads itself, as the body of an upload: no client sends them.
 *
 * Rules: no client is waited for, so such a body is never taken for a slow one; each piece is given back once the pipeline asks for
 * the next. The caller returns it, in whichever way the upload ends.
 */
import type { BodySource } from './content.ts'
import { releasing } from './spent-bytes.ts'

export type NodeSource = BodySource & AsyncGenerator<Uint8Array>

/** `pieces`: their reader owns them. `now`: monotonic, in milliseconds. */
export function nodeSource(
  pieces: AsyncIterable<Uint8Array>,
  now: () => number = () => performance.now(),
): NodeSource {
  // Held back all the time, by this node: what is waited for is a disk or a peer.
  return Object.assign(releasing(pieces), { heldMs: now })
}
