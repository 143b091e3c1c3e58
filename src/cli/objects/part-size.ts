/**
 * The parts in which a body is uploaded. [decisions 7: Limits]
 *
 * Owns: the sizes; pure. Rule: the same file is always cut at the same places, so that an upload can be resumed.
 */
const MIB = 1024 * 1024
export const PART_BYTES_MIN = 5 * MIB
export const PART_BYTES_MAX = 5 * 1024 * MIB
export const PART_COUNT_MAX = 10_000
/** A body that is not larger is sent in one request. Memory holds two parts for each concurrent request. */
export const PART_BYTES_DEFAULT: number = 16 * MIB

/** `size` null: not known before the end. */
export function partBytesFor(size: number | null): number {
  return Math.max(PART_BYTES_DEFAULT, size === null ? 0 : leastPartBytes(size))
}

/** So that the parts are not too many; whole MiB. */
export function leastPartBytes(size: number): number {
  return Math.ceil(size / PART_COUNT_MAX / MIB) * MIB
}

/** Joins the pieces of a stream to parts of exactly this size; the last part has the rest. At least one part, which may be empty. */
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
