/**
 * The contract of the admin plane about service accounts, access keys and admin tokens.
 */
export const adminKeysRows = {
  'admin.accounts.list':
    'GET /tenants/{id}/accounts: a page of accounts, for a viewer of the tenant [admin: Endpoints]',
  'admin.accounts.create':
    'POST /tenants/{id}/accounts: 201, Location and the account, for an operator [admin: Endpoints] [decisions 0]',
  'admin.accounts.record':
    'id, tenantId, name, description, status, createdAt, keyCount and no other [decisions 11]',
  'admin.accounts.refused':
    'an unknown field, no name, a bad one: 400; no such tenant: 404; a name that is taken: 409 [decisions 0]',
  'admin.accounts.bound': 'at most 1,000 in a tenant: 412 precondition_failed [decisions 10]',
  'admin.accounts.key-count': 'keyCount says how many of its keys are active [decisions 11]',
  'admin.tokens.auditor': 'the role auditor reads the audit log and nothing else [admin: Authentication 4]',
  'admin.tokens.no-keys':
    'a token made with --no-keys makes and rotates no access key, whatever its role, and may do the rest of its role [admin: Authentication 4]',
  'admin.tokens.bound':
    'a token made with --allow-address or --client-certificate is 403 from elsewhere, at each request [decisions 10]',
  'admin.keys.list':
    'GET /tenants/{id}/keys: a page of metadata without secrets, for a viewer [admin: Endpoints] [admin: Secrets]',
  'admin.keys.create':
    'POST /tenants/{id}/keys: 201 and the key with its secret, this once, for an operator [admin: Endpoints]',
  'admin.keys.record': 'the members of a key, and secretKey after create and rotate alone [decisions 11]',
  'admin.keys.body': 'accountId, name, scopes, expiresAt, each optional, and no other [decisions 11]',
  'admin.keys.account':
    'a key belongs to an account of its tenant for good; any other account is 404 [decisions 11]',
  'admin.keys.scopes':
    'a list of verbs or resource entries, kept verbatim; read,write,delete unless given; else 400 [admin: Access key request body] [decisions 14]',
  'admin.keys.expires-at':
    'an RFC 3339 timestamp, or a date as its first instant in UTC; in the future, else 400 [admin: Access key request body] [decisions 11]',
  'admin.keys.bound.address':
    'a key with allowedAddresses is exchanged from those addresses alone; 403 access_denied after a right secret [decisions 10]',
  'admin.keys.bound.certificate':
    'a key with clientCertificates is used with one of them alone, over TLS [decisions 10]',
  'admin.keys.bound.each-request': 'its tokens and signed URLs are asked at each request [decisions 14]',
  'admin.keys.bound.rotate':
    'a rotation keeps both lists; a list that is given replaces its own, an empty one clears it [decisions 14]',
  'admin.keys.bound.refused':
    'an entry that is no address, range or certificate is 400 invalid_argument; at most 32 and 8 [decisions 10]',
  'admin.keys.no-store': 'no cache keeps an answer with a secret [admin: Secrets]',
  'admin.keys.rotate':
    'POST /tenants/{id}/keys/{keyId}/rotate: the same id with a new secret and version [admin: States and transitions]',
  'admin.keys.rotate.keeps': 'a rotation keeps scopes and expiry that are not given [decisions 14]',
  'admin.keys.rotate.revoked': 'a revoked key is not rotated: 412 precondition_failed [decisions 10]',
  'admin.keys.revoke':
    'POST /tenants/{id}/keys/{keyId}/revoke: for good, with its reason [admin: States and transitions]',
  'admin.keys.revoke.reason': 'no reason: 400 reason_required [admin: Destructive-operation body]',
  'admin.keys.revoke.again': 'revoking again is 200 and changes nothing [decisions 11]',
  'admin.keys.other-tenant': 'a key of another tenant does not exist here: 404 [admin: Errors]',
  'admin.keys.bound': 'at most 1,000 active ones in a tenant: 412 precondition_failed [decisions 10]',
  'admin.keys.commit':
    'a key that ends while the body of a change is in flight changes nothing: 401 [native: Bearer token 3]',
  'admin.keys.last-used': 'lastUsedAt is null until the key was used [decisions 11]',
  'admin.dry-run':
    'any mutation with dryRun answers 200 and a plan, and nothing changes [admin: States and transitions] [decisions 11]',
  'admin.dry-run.no-secret': 'a dry run makes and shows no secret [admin: Secrets]',
  'admin.tokens.running': 'minted beside a running node: in force at once, at every node [decisions 1]',
  'admin.tokens.stopped':
    'minted or revoked beside a stopped node: in force when it starts [decisions 1] [admin: Authentication 2]',
  'admin.tokens.first': 'minted before the first start: in force when the cluster is there [decisions 1]',
  'admin.tokens.revoked': 'revoked at one node: refused at once by all [decisions 1]',
  'admin.tokens.last-used': 'the list says when each was last used [decisions 1]',
} as const
