/** Disks of nodes on the wire: status, level, doubt, and what to do about them. */
import Type from 'typebox'
import type { DiskPart } from '../../../cluster/index.ts'

export const DiskStatusView = Type.Enum(['serving', 'draining', 'drained', 'absent', 'foreign', 'failed'], {
  description:
    'draining: its copies move to other disks of the node; drained: it has none; absent: no disk is there; foreign: another one is there, or one twice. Copies on one that is absent, foreign or failed do not count',
})
export const DiskLevelView = Type.Enum(['open', 'stopPlacing', 'stopWriting', 'reserve'])
export const DOUBT = Type.Enum(['errors', 'slow_flushes'], {
  description:
    'Why it is doubted since it was taken into use: operations failed now and then, or flushes take long',
})

/** Null: nothing is to be done. */
export function diskSuggestion({ status, doubt }: Pick<DiskPart, 'status' | 'doubt'>): string | null {
  if (status === 'drained') return 'It is empty: take it out, or use it again'
  if (status === 'absent') return 'Mount it, or prepare a new disk there'
  if (status === 'foreign') return 'Mount the disk of this node there'
  if (status === 'failed') return 'Replace it: its copies are made again on other disks'
  if (status === 'draining' || doubt === undefined) return null
  return doubt === 'errors'
    ? 'Drain it and replace it: it has returned errors'
    : 'Drain it, or see what else uses it: its flushes take long'
}
