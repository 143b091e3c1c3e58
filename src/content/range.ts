/** A non-empty or empty interval of bytes, [start, end). */
export interface ByteRange {
  readonly start: number
  readonly end: number
}
