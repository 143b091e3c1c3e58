/** Whether two members have the same state, as far as their checksums show. Pure. */
import type { MemberStatus } from '../../../cluster/index.ts'

/**
 * What the sums at indexes that both have passed say. One that was taken while a batch was applied may stand at the index before it, so
 * a single equal one proves more than an unequal one.
 */
export function commonChecksum(
  one: Pick<MemberStatus, 'checksums'>,
  other: Pick<MemberStatus, 'checksums'>,
): 'equal' | 'different' | 'unknown' {
  const sums = new Map(one.checksums)
  const common = other.checksums.filter(([index]) => sums.has(index))
  if (common.length === 0) return 'unknown'
  return common.some(([index, sum]) => sums.get(index) === sum) ? 'equal' : 'different'
}
