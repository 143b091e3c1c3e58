/**
 * How much a round trip moves: little in `npm test`, much in `npm run s3-clients`.
 */
export interface Sizes {
  /** Bytes of the large file, more than two parts. */
  readonly bigBytes: number
  /** Bytes of a part, at least the smallest that S3 allows (5 MiB). */
  readonly partBytes: number
  /** How many small files a folder has, beside those with unusual names. */
  readonly many: number
}

const MIB = 1024 * 1024

export const SMALL: Sizes = { bigBytes: 11 * MIB + 7, partBytes: 5 * MIB, many: 12 }
export const LARGE: Sizes = { bigBytes: 1024 * MIB, partBytes: 16 * MIB, many: 2000 }
