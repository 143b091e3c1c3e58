/**
 * A body that arrives in pieces of a given size.
 */
export async function* inPieces(body: string | Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
