/**
 * What the caller may do, as the node says: buttons and screens follow it. The node decides again at each request.
 */
import type { AdminOperations } from '../../../client/src/admin.ts'
import type { Screen } from './route.ts'
import { caller } from './session.ts'

/** By the id of the API document. */
export type OperationName = keyof AdminOperations

/** What a screen shows nothing without. Absent: an access key opens it. */
const SCREEN_NEEDS: { readonly [S in Screen]?: OperationName } = {
  health: 'getClusterMembership',
  charts: 'getClusterHistory',
  cluster: 'getClusterMembership',
  operations: 'listOperations',
  tenants: 'listTenants',
  backups: 'listBackupTargets',
  audit: 'queryAuditLog',
}

export function may(operation: OperationName): boolean {
  return caller.value?.operations.includes(operation) ?? false
}

export function maySee(screen: Screen): boolean {
  const needed = SCREEN_NEEDS[screen]
  return needed === undefined || may(needed)
}
