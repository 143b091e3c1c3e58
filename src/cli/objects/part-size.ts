/** The size of parts that the command line chooses. [decisions 7: Limits] */
import { leastPartBytes, PART_BYTES_DEFAULT } from '../../client/parts.ts'

/** Memory holds two parts for each concurrent request. `size` null: not known before the end. */
export function partBytesFor(size: number | null): number {
  return Math.max(PART_BYTES_DEFAULT, leastPartBytes(size ?? 0))
}
