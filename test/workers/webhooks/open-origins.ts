/** Entries of `notifications.allow_origins`, as the sender gets them. */
import type { AllowedOrigin } from '../../../src/config/types.ts'

/** Without tenants and paths it is what a plain origin in the settings means. */
export function openTo(
  limits: Partial<Pick<AllowedOrigin, 'tenants' | 'paths'>> = {},
): (origin: string) => AllowedOrigin {
  return (origin) => ({ origin, tenants: null, paths: null, ...limits })
}
