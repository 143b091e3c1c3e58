/**
 * In which pieces a body is uploaded. [decisions 7: Limits]
 *
 * Owns: the sizes; pure. Rule: the same file is cut in the same places each time, so that an upload can be gone on with.
 */
const MIB = 1024 * 1024
export const PART_BYTES_MIN = 5 * MIB
export const PART_BYTES_MAX = 5 * 1024 * MIB
export const PART_COUNT_MAX = 10_000
/** What is not larger goes in one request. Two of them for each request at once lie in memory. */
const PART_BYTES_DEFAULT = 16 * MIB

/** `size` null: not known before the end. */
export function partBytesFor(size: number | null): number {
  const needed = size === null ? 0 : Math.ceil(size / PART_COUNT_MAX / MIB) * MIB
  return Math.max(PART_BYTES_DEFAULT, needed)
}

/** Pieces of a stream, put together to parts of exactly this size, the last one of what is left. At least one, which may be empty. */
export async function* inParts(
  pieces: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Uint8Array[] = []
  let bytes = 0
  let isFirst = true
  for await (const piece of pieces) {
    let rest = piece
    while (bytes + rest.length >= partBytes) {
      const taken = rest.subarray(0, partBytes - bytes)
      yield Buffer.concat([...held, taken])
      isFirst = false
      rest = rest.subarray(taken.length)
      held = []
      bytes = 0
    }
    if (rest.length > 0) held.push(rest)
    bytes += rest.length
  }
  if (bytes > 0 || isFirst) yield Buffer.concat(held)
}
