/**
 * Which pack is worth compacting, as a decision.
 *
 * Knows nothing of: files. Rules: what is chosen gives back more than it costs, or makes one of many small packs; what is of
 * use in it is written once more before anything is given back, and must fit into what the disk can spare.
 */
import { PACK_HEAD_BYTES } from './pack-record.ts'

export interface PackUse {
  readonly pack: number
  /** Of the file. */
  readonly bytes: number
  /** Of records that are still of use. */
  readonly liveBytes: number
}

export interface CompactionLimits {
  /** Part of a pack, from 0 to 1, that must be of no use. */
  readonly garbageMin: number
  /** Packs below an eighth of a full one are merged when there are more than so many of them. */
  readonly smallPacksMax: number
  readonly packBytesMax: number
}

/** The one with the most garbage; null when none is worth it, or none that is would fit. */
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
