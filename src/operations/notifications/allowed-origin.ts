/**
 * Which targets an operator has opened with `notifications.allow_origins`: for which tenants, below which paths.
 *
 * Owns: the decision. Knows nothing of: addresses, sockets. Rule: a path counts as below another only if every server reads it so; one
 * that may be read in two ways is below none.
 */
import { plainPath } from '../../config/plain-path.ts'
import type { AllowedOrigin } from '../../config/types.ts'

/** Whether the tenant may send to this URL at any address and port. */
export function isOpened(allowed: readonly AllowedOrigin[], url: URL, tenantId: string): boolean {
  return openedTo(allowed, url, tenantId).some(
    ({ paths }) => paths === null || isBelowAny(paths, url.pathname),
  )
}

/** Whether entries name this origin for the tenant, and none of them this path. */
export function isBeyondPaths(allowed: readonly AllowedOrigin[], url: URL, tenantId: string): boolean {
  return openedTo(allowed, url, tenantId).length > 0 && !isOpened(allowed, url, tenantId)
}

function openedTo(
  allowed: readonly AllowedOrigin[],
  { origin }: URL,
  tenantId: string,
): readonly AllowedOrigin[] {
  return allowed.filter(
    (entry) => entry.origin === origin && (entry.tenants === null || entry.tenants.includes(tenantId)),
  )
}

function isBelowAny(paths: readonly string[], pathname: string): boolean {
  const path = plainPath(pathname)
  return (
    path !== null &&
    paths.some((base) => path === base || path.startsWith(base.endsWith('/') ? base : `${base}/`))
  )
}
