/**
 * The contract of the audit log: the row of each request, and its readers.
 */
export const auditRows = {
  'audit.every-request':
    'every request of both planes leaves a row [native: What the service does 5] [admin: What the service does 4]',
  'audit.denials': 'denials leave a row with the actor and the code [native: What the service does 5]',
  'audit.links':
    'minting and use of a signed URL are recorded with its reason [native: Signed-URL mint body]',
  'audit.probes':
    'probes and scrapes of one caller share a counted row a minute, and are answered without space for rows [decisions 17]',
  'audit.floods':
    'of a flood by one caller each request is in a row or in the count of one [native: What the service does 5]',
  'audit.unparsed': 'what is no request leaves a row without its bytes [native: What the service does 5]',
  'audit.no-room': 'a request whose row has no space is refused with 503 [admin: What the service does 2]',
  'audit.unknown-outcome': 'a change with an unknown outcome leaves a row [native: What the service does 5]',
  'audit.client-gone': 'a request whose client left leaves a row [native: What the service does 5]',
  'audit.dry-run': 'a dry run leaves a row that says so [admin: What the service does 4]',
  'audit.mint': 'a mint is recorded on success and failure [native: Bearer token 5]',
  'audit.reason': 'the reason that the caller gave is recorded [admin: Destructive-operation body]',
  'audit.request-id':
    'the request id of a problem leads to its row [native: What the service does 5] [admin: Problem body]',
  'audit.no-secrets': 'no secret, token or query string is in a row [decisions 11]',
  'audit.batch-keys': 'a batch deletion names every key [decisions 11]',
  'audit.record': 'the members of a record [decisions 11]',
  'audit.outcome': 'success, denied for 401 and 403, error [decisions 11]',
  'audit.query': 'GET /audit: records, the newest first, and their count [admin: Endpoints] [decisions 11]',
  'audit.role': 'a viewer may query it [admin: Endpoints]',
  'audit.tenant-scope':
    'a token of one tenant is forced to its own, another one is 403 tenant_scope_denied [admin: Audit query parameters]',
  'audit.since':
    'a number with a unit, 24h unless given, else 400 [admin: Audit query parameters] [decisions 7]',
  'audit.limit': 'clamped to 1 through 1000, 100 unless given [admin: Limits]',
  'audit.filters': 'operation, actor, session, bucket, key, outcome and request [decisions 11]',
  'audit.paging': 'a page continues where the previous one ended [decisions 0]',
  'audit.behind-others':
    'a page holds the newest matching rows however many others lie between [decisions 17]',
  'audit.bounded-page':
    'a page with a row ends at a bound of work and states where to continue [decisions 17]',
  'audit.segments':
    'rows are found once, in order, whether they are in the state or in a segment [decisions 17]',
  'audit.gaps': 'rows that no node can read are reported with their times and their number [decisions 17]',
  'audit.strict': 'with audit.strict an answer waits for its row [native: What the service does 5]',
} as const
