/**
 * The contract of quotas and usage, of roles and the rate of an admin token, of probes, and of what the audit log must answer.
 */
export const adminQuotaRows = {
  'admin.quota.get': 'a viewer gets the limits and present use [admin: Endpoints] [decisions 11]',
  'admin.quota.set':
    'PUT replaces the quota, null is no limit, 200 with what is stored [admin: Endpoints] [decisions 11]',
  'admin.quota.clear': 'DELETE clears it, 204 [admin: Endpoints] [decisions 11]',
  'admin.quota.invalid':
    'a limit that is none, or a field that is unknown, is 400 [admin: Errors] [decisions 0]',
  'admin.quota.roles':
    'viewers may see it, operators set and clear it; another tenant is 403, never 404 [admin: Authentication 4]',
  'admin.quota.counts': 'bytes of all versions and of unfinished parts count [decisions 11]',
  'admin.quota.buckets': 'maxBuckets limits the creation of buckets: 507 [decisions 11]',
  'admin.quota.lower': 'below present use it refuses new writes and removes nothing [decisions 11]',
  'admin.quota.exact': 'decided in the commit entry: exact under any race [decisions 11]',
  'admin.quota.dry-run': 'a dry run answers the plan and applies nothing [admin: States and transitions]',
  'admin.quota.audit': 'setting and clearing leave a row with the limits [admin: What the service does 4]',
  'admin.usage.members': 'every member of the report, of the tenant and by bucket [decisions 11]',
  'admin.usage.exact': 'all figures are of one moment [admin: Endpoints]',
  'admin.usage.bounded': 'a bounded number of buckets is named [decisions 0]',
  'admin.usage.roles': 'a viewer who may see the tenant gets it [admin: Endpoints]',
  'admin.usage.recount': 'a recount finds every figure that is wrong [admin: Endpoints]',
  'admin.roles.table':
    'viewer, operator, owner are cumulative; each operation has its least role [admin: Authentication 4]',
  'admin.roles.viewer': 'a viewer reads and changes nothing [admin: Authentication]',
  'admin.roles.tenant':
    'a token of one tenant is 403 tenant_scope_denied elsewhere, never 404 [admin: Authentication 4]',
  'admin.roles.nothing-changes': 'a refused request changes no row of the state [admin: Authentication]',
  'admin.tokens.bad': 'none, malformed, revoked or expired: 401 [admin: Authentication 3]',
  'admin.rate.limited': 'limited per token: 429 with Retry-After [admin: Authentication 5] [decisions 1]',
  'admin.rate.headers': 'RateLimit and RateLimit-Policy on every answer to a token [decisions 1]',
  'admin.health.healthz': 'GET /healthz needs no token [admin: Endpoints]',
  'admin.health.readyz': 'GET /readyz: 200, or 503 that names what is missing [decisions 13]',
  'admin.health.metrics': 'GET /metrics needs a viewer unless it is public [decisions 15]',
  'admin.audit.who-deleted':
    'who deleted an object, a version, one of a batch or a bucket, when, by which key, from where [admin: What the service does 4]',
  'admin.audit.command-line': 'the command line prints the same rows [decisions 15]',
  'admin.audit.unreachable': 'holdfast audit query ends with 4 where no node answers [decisions 15]',
  'admin.audit.tampering':
    'a row that was rewritten and an end that was cut off are detected [admin: What the service does 2]',
  'admin.quotas.piled-up':
    'a small quota ends versions, markers, uploads, parts, tags and configurations too: 507 [native: Limits]',
  'admin.quotas.deletion': 'a full quota refuses no deletion of anything that exists [native: Limits]',
  'admin.quotas.records':
    'maxVersions and maxUploads are exact, and shown where they are set [native: Limits]',
  'admin.quotas.upgrade': 'what was stored below feature level 4 counts no metadata [native: Limits]',
} as const
