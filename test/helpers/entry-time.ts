/**
 * The times of an entry in a cluster whose clocks were always right.
 */
import type { EntryTime } from '../../cluster/node/base/log-time.ts'

export function timesAt(time: number): EntryTime {
  return { time, confirmedTime: time, orderTime: time }
}
