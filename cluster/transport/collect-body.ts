/** Collects the body of a call in one piece. Rule: a body above the limit is refused, never truncated. */
import { PeerRefusedError, type ByteStream } from './transport.ts'

export async function collectBody(body: ByteStream, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > bytesMax)
      throw new PeerRefusedError('too_large', `The body of a call has more than ${bytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}
