/**
 * Row keys of members.
 */
import type { ClusterRecovery, MembersRecord } from './records.ts'
import { join, type RowKey } from '../base/row-key.ts'

export const memberKeys = {
  members: (): RowKey<MembersRecord> => join('members'),
  leavingNodes: (): RowKey<{ readonly nodes: readonly string[] }> => join('leavers'),
  clusterRecoveries: (): RowKey<{ readonly recoveries: readonly ClusterRecovery[] }> =>
    join('clusterRecoveries'),
} as const
