/** An interval of bytes, [start, end); it may be empty. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}
