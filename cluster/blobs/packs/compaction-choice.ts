/**
 * Decides which pack is worth compacting.
 *
 * Knows nothing of: files. Rules: compacting the chosen pack frees more than it costs, or merges small packs. Its live records are
 * written again before any space is freed, so they must fit into the space that the disk can spare.
 */
import { PACK_HEAD_BYTES } from './pack-record.ts'

export interface PackUse {
  readonly pack: number
  /** Size of the file. */
  readonly bytes: number
  /** Bytes of records to which rows of the index still lead. */
  readonly liveBytes: number
}

export interface CompactionLimits {
  /** The share of a pack, from 0 to 1, that must be garbage. */
  readonly garbageMin: number
  /** Packs below an eighth of a full one are merged when there are more of them than this. */
  readonly smallPacksMax: number
  readonly packBytesMax: number
}

/** The pack with the most garbage; null when no pack is worth compacting, or none that is would fit. */
export function packToCompact(
  packs: readonly PackUse[],
  limits: CompactionLimits,
  bytesToSpare = Infinity,
): number | null {
  const fitting = packs.filter(({ liveBytes }) => liveBytes <= bytesToSpare)
  const worst = fitting.toSorted((one, other) => garbageOf(other) - garbageOf(one))[0]
  if (worst !== undefined && garbageOf(worst) >= limits.garbageMin) return worst.pack
  const small = fitting.filter(({ bytes }) => bytes < limits.packBytesMax / 8)
  if (small.length <= limits.smallPacksMax) return null
  return small.toSorted((one, other) => one.bytes - other.bytes)[0]?.pack ?? null
}

function garbageOf({ bytes, liveBytes }: PackUse): number {
  return liveBytes === 0 ? 1 : 1 - liveBytes / Math.max(bytes - PACK_HEAD_BYTES, liveBytes)
}
