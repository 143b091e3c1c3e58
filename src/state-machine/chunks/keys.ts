/**
 * Row keys of chunks, and the ranges that listings read.
 */
import type {
  ChunkRecord,
  CondemnedRecord,
  DropRecord,
  MakingRecord,
  RepairRecord,
  UploadSessionRecord,
  SettingsRecord,
} from './records.ts'
import { hex, INDEX_DIGITS, join, type KeyRange, rangeOf, type RowKey, SEPARATOR } from '../base/row-key.ts'
import type { ChunkId, TenantId } from '../base/record-ids.ts'

const REPAIR = `repair${SEPARATOR}`
/** The number of copies in a key has one digit; larger numbers are equally urgent. */
const COPIES_SHOWN_MAX = 9

/** `copies`: how many are listed now. The key contains the number, so that chunks nearest to loss come first. */
export interface RepairName {
  readonly target: string
  readonly copies: number
  readonly birth: string
  readonly id: ChunkId
}

export const chunkKeys = {
  chunk: (tenant: TenantId, id: ChunkId): RowKey<ChunkRecord> => join('chunk', tenant, id),
  making: (birth: string, id: ChunkId): RowKey<MakingRecord> => join('making', birth, id),
  condemned: (index: number, tenant: TenantId, id: ChunkId): RowKey<CondemnedRecord> =>
    join('condemned', hex(index, INDEX_DIGITS), tenant, id),
  drop: (node: string, birth: string, id: ChunkId): RowKey<DropRecord> => join('drop', node, birth, id),
  /** Ordered by number of copies, then by birth: births ascend within a session, and another birth has another row. */
  repair: (task: RepairName): RowKey<RepairRecord> =>
    join('repair', task.target, Math.min(task.copies, COPIES_SHOWN_MAX).toString(), task.birth, task.id),
  repairTotal: (): RowKey<{ readonly count: number }> => join('repairTotal'),
  session: (id: string): RowKey<UploadSessionRecord> => join('session', id),
  nodeUploadSessions: (node: string): RowKey<{ readonly node: string; readonly open: readonly string[] }> =>
    join('nodeSessions', node),
  settings: (): RowKey<SettingsRecord> => join('settings'),
} as const

export const chunkRanges = {
  repairs: (): KeyRange<RepairRecord> => rangeOf('repair'),
  repairsOf: (target: string): KeyRange<RepairRecord> => rangeOf('repair', target),
  chunks: (): KeyRange<ChunkRecord> => rangeOf('chunk'),
  chunksOf: (tenant: TenantId): KeyRange<ChunkRecord> => rangeOf('chunk', tenant),
  condemned: (): KeyRange<CondemnedRecord> => rangeOf('condemned'),
  drops: (): KeyRange<DropRecord> => rangeOf('drop'),
  dropsOf: (node: string): KeyRange<DropRecord> => rangeOf('drop', node),
  nodeUploadSessions: (): KeyRange<{ readonly node: string; readonly open: readonly string[] }> =>
    rangeOf('nodeSessions'),
} as const

/** The target of a repair row; null if the key is of another kind. */
export function repairTargetOf(key: string): string | null {
  if (!key.startsWith(REPAIR)) return null
  return key.slice(REPAIR.length, key.indexOf(SEPARATOR, REPAIR.length))
}
