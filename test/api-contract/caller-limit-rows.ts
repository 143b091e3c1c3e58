/**
 * The contract of the limits of callers: what the data plane refuses or holds back beyond them, and how an operator sets them for a tenant.
 */
export const callerLimitRows = {
  'limits.callers.requests':
    'beyond the requests a second of a tenant, a key or an address: 429 rate_limited with Retry-After, the gate by name [native: Errors]',
  'limits.callers.headers':
    'RateLimit and RateLimit-Policy on every answer to a limited caller [decisions 1]',
  'limits.callers.uploads':
    'beyond the uploads at once: a short wait, then 429 with Retry-After [native: Errors]',
  'limits.callers.bytes': 'bytes beyond a rate are held back and arrive whole [native: Limits]',
  'limits.callers.apart': 'a tenant at its limits takes nothing from another [native: Limits]',
  'limits.callers.repeated':
    'a caller that is refused again and again gets its refusals later [native: Errors]',
} as const

export const adminLimitRows = {
  'admin.limits.get': 'a viewer gets what was set, what its nodes apply and what runs now [admin: Endpoints]',
  'admin.limits.set':
    'PUT replaces all limits of a tenant; null follows the settings, 0 is no limit [admin: Endpoints]',
  'admin.limits.clear': 'DELETE clears them, 204, again as well [admin: Endpoints]',
  'admin.limits.holds': 'they hold within a second, and no longer when they are cleared [admin: Endpoints]',
  'admin.limits.invalid':
    'a limit that is none, or a field that is unknown, is 400 and named [admin: Errors]',
  'admin.limits.roles':
    'viewers may see them, only tokens of the whole cluster set and clear them: 403; no such tenant: 404 [admin: Authentication 4]',
  'admin.limits.dry-run': 'a dry run answers the plan and applies nothing [admin: States and transitions]',
  'admin.limits.level': '412 while a member of the cluster does not know them [admin: Errors]',
  'admin.limits.audit': 'setting and clearing leave a row with the limits [admin: What the service does 4]',
} as const
