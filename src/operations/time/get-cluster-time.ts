/** getClusterTime: authorize -> what this node knows, of clocks and of the log. */
import type { ClusterTimeStatus } from '../../../cluster/index.ts'
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'

export function getClusterTime(services: Services, principal: AdminTokenPrincipal): ClusterTimeStatus {
  authorize(principal, 'getClusterTime', {})
  return services.cluster.time.status()
}
