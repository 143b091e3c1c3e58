/**
 * The bytes of a stream in one piece.
 *
 * Rule: a stream of another program may have no end: no more than `bytesMax` are kept. Throws what `tooLong` makes when there are more.
 */
export async function collectedBytes(
  stream: AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of stream) {
    bytes += piece.length
    if (bytes > bytesMax) throw tooLong()
    pieces.push(piece)
  }
  return Buffer.concat(pieces, bytes)
}
