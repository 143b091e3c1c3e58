/**
 * The contract of bearer tokens, and of the policies of buckets.
 */
export const tokenRows = {
  'tokens.create': 'POST /auth/token: 200 and a bearer token [native: Bearer token 1]',
  'tokens.create.basic':
    'credentials as HTTP Basic, with any characters in the secret [native: Bearer token 1]',
  'tokens.create.json': 'credentials as a JSON body [native: Bearer token 1]',
  'tokens.create.both':
    'both forms at once: 400 invalid_request, also when one is malformed [native: Bearer token 1]',
  'tokens.create.malformed':
    'none, half of a pair, no base64, no colon: 401; an unknown field: 400 [decisions 1]',
  'tokens.create.record':
    'token, tokenType, expiresIn, expiresAt, accessKeyId, tenantId and no other [decisions 1]',
  'tokens.create.no-store': 'Cache-Control: no-store [decisions 1]',
  'tokens.create.wrong':
    'a wrong secret and an unknown id: 401 invalid_credentials with the same message [decisions 1]',
  'tokens.create.ended':
    'a key that is revoked or expired, a tenant that is disabled: 401 with the reason [decisions 1]',
  'tokens.temporary.scopes':
    'POST /auth/temporary: a bearer token that does what its scopes say and no more [decisions 14]',
  'tokens.temporary.subset': 'more than the key has: 403 access_denied [decisions 14]',
  'tokens.temporary.end':
    'it ends at its time, and at the next request after a rotation or revocation of its key [decisions 1]',
  'tokens.temporary.commit':
    'a change that is decided after its end, or after the end of its key, is 401 and stores nothing [decisions 1]',
  'tokens.temporary.everywhere':
    'it counts at every node, and ends at all of them at the next request after its key was revoked at one [decisions 1]',
  'tokens.temporary.ttl':
    'an hour unless said otherwise, clamped to security.max_temporary_ttl and to the life of the key [decisions 1]',
  'tokens.temporary.chain': 'it makes no other credential and signs no URL: 403 [decisions 14]',
  'tokens.temporary.session': 'audit rows of its requests name the session [decisions 11]',
  'tokens.temporary.name': 'a name is 2 to 64 letters, digits and _+=,.@-; else 400 [decisions 0]',
  'tokens.rate.key': 'limited per access key id: 429, Retry-After, RateLimit-Policy, RateLimit [decisions 1]',
  'tokens.rate.defaults': '30 a minute, 10 at once [decisions 1]',
  'tokens.rate.unknown': 'ids that are known and unknown are limited alike, per id and address [decisions 1]',
  'tokens.form': 'svctk_<base64url(payload)>.<base64url(HMAC-SHA256)> [native: Bearer token 2]',
  'tokens.payload': 'v, typ, ak, kv, tid, iat, exp, jti [decisions 1]',
  'tokens.one-spelling': 'any byte changed, dropped or doubled: 401 [native: Bearer token 6]',
  'tokens.kinds': 'no kind of token passes for another, on either plane [decisions 1]',
  'tokens.keys-apart': 'each label signs with a key of its own [decisions 1]',
  'tokens.lifetime': 'security.native_api_token_ttl, 1 hour unless set [native: Bearer token 4]',
  'tokens.disabled-everywhere':
    'a tenant disabled at one node is refused at the next request at every node [decisions 1]',
  'tokens.never-outlives': 'never beyond the expiry of its key [native: Bearer token 3]',
  'tokens.expired': '401 token_expired from its second on [native: Bearer token 6]',
  'tokens.recheck.key': 'the key is checked again at every request: 401 key_revoked [native: Bearer token 3]',
  'tokens.recheck.version': 'a rotation ends the tokens of the secret before it [decisions 1]',
  'tokens.recheck.scopes': 'a token never out-scopes its key as it is now [native: Bearer token 3]',
  'tokens.recheck.tenant': 'the tenant is checked again: 401 tenant_disabled [native: Bearer token 3]',
  'tokens.everywhere': 'what one node has revoked is refused by the next request at any node [decisions 1]',
  'tokens.required': 'every route but three needs one: 401 [native: Bearer token 6]',
  'tokens.scheme': 'Bearer in any case, one token, nothing else [native: Bearer token 6]',
  'tokens.scopes':
    'verbs are independent; bucket and prefix limit each [native: Authorization 1] [decisions 14]',
} as const

export const policyRows = {
  'policies.set': 'PUT /tenants/{id}/buckets/{bucket}/policy: 200 and the policy [decisions 16]',
  'policies.get':
    'GET /tenants/{id}/buckets/{bucket}/policy: the policy, 404 when there is none [decisions 16]',
  'policies.delete':
    'DELETE /tenants/{id}/buckets/{bucket}/policy: 204, also when there is none [decisions 16]',
  'policies.owner': 'role owner, of the tenant or of all [decisions 16]',
  'policies.dry-run': 'dryRun changes nothing [decisions 12]',
  'policies.refused': 'any policy that is not understood: 400 invalid_request with its place [decisions 10]',
  'policies.closed':
    'unknown members, actions, keys, operators, principals, resources: refused [decisions 14]',
  'policies.bounds': '20 KiB, 100 statements [decisions 14]',
  'policies.deny-first': 'an explicit denial is final [native: Authorization 1] [decisions 14]',
  'policies.never-widens': 'an allowance never widens the scopes of a key [decisions 14]',
  'policies.principals': 'Principal and NotPrincipal [decisions 14]',
  'policies.actions': 'Action and NotAction, in any case, with wildcards [decisions 14]',
  'policies.resources': 'Resource and NotResource [decisions 14]',
  'policies.conditions': 'Condition: address, text, time, TLS, absence [decisions 14]',
  'policies.table': 'every operation on a bucket has its action [native: Authorization 1]',
  'policies.every-route': 'enforced on every call [native: Authorization 1]',
  'policies.version': 'with the version that is named [native: Authorization 1]',
  'policies.copy': 'the source of a copy as a download, the target as an upload [native: Authorization 1]',
  'policies.batch': 'each key of a batch, the others continue [decisions 16]',
  'policies.settings': 'settings of an upload, separately [native: Authorization 1]',
  'policies.unreadable': 'one that cannot be read denies [native: Authorization 1]',
  'policies.now': 'the present one decides [native: Authorization 1]',
  'policies.everywhere': 'at every node from the next request on [native: Authorization 1]',
  'policies.bucket-gone': 'removed with its bucket [native: Authorization 1]',
  'policies.admin-plane': 'nothing of the admin plane is denied [decisions 14]',
  'policies.tester.same':
    'POST /tenants/{id}/access-test: what a request with the key is answered [record 110]',
  'policies.tester.explains': 'it names what decides: scopes, statement [record 110]',
  'policies.tester.key': 'a key that has ended, or may not be used from there [record 110]',
  'policies.tester.refused':
    'an unknown operation, no bucket, no address where it counts: 400; an unknown key: 404 [record 110]',
  'policies.tester.read-only': 'it changes nothing, and the key counts as not used [record 110]',
} as const
