/**
 * Whether a version goes to the other site in one request or in parts, and in which. [docs/adr/0098-what-replication-sends.md]
 *
 * Owns: the decision. PURE. Rules: a version that was assembled goes in its own parts where the target accepts them, so that it has the same tag at
 * both sites; parts cover the version in order, and no more than a target accepts.
 */
import type { ByteRange } from '../../content/range.ts'

const MIB = 1024 * 1024
/** What S3 accepts. [AWS S3 User Guide: Amazon S3 multipart upload limits] */
const S3_PART_BYTES_MIN = 5 * MIB
const S3_PART_BYTES_MAX = 5 * 1024 * MIB
const S3_PARTS_MAX = 10_000

export interface PartSizes {
  /** A version of more bytes goes in parts. */
  readonly wholeBytesMax: number
  /** Of each part, but for the last one and where there would be too many. */
  readonly partBytes: number
}

export const PART_SIZES: PartSizes = { wholeBytesMax: 64 * MIB, partBytes: 32 * MIB }

/** `assembledOf`: the sizes of the parts of the version here. Null: it goes in one request. */
export function planParts(
  size: number,
  assembledOf: readonly number[] | undefined,
  { wholeBytesMax, partBytes }: PartSizes,
): readonly ByteRange[] | null {
  if (assembledOf !== undefined && areAccepted(assembledOf)) return rangesOf(assembledOf)
  if (size <= wholeBytesMax) return null
  const least = Math.ceil(size / S3_PARTS_MAX / MIB) * MIB
  const bytes = Math.max(partBytes, least)
  const count = Math.ceil(size / bytes)
  return rangesOf(Array.from({ length: count }, (_, n) => Math.min(bytes, size - n * bytes)))
}

function areAccepted(sizes: readonly number[]): boolean {
  const most = Math.max(...sizes)
  const least = Math.min(...sizes.slice(0, -1), S3_PART_BYTES_MIN)
  return (
    sizes.length > 0 &&
    sizes.length <= S3_PARTS_MAX &&
    most <= S3_PART_BYTES_MAX &&
    least >= S3_PART_BYTES_MIN
  )
}

function rangesOf(sizes: readonly number[]): readonly ByteRange[] {
  let end = 0
  return sizes.map((size) => {
    const start = end
    end += size
    return { start, end }
  })
}
