/** Callers of every kind, by the names that tables of rights use. */
import type { AccessKeyPrincipal, AdminTokenPrincipal, Principal } from '../../src/access/base/principal.ts'
import type { SignedUrl } from '../../src/access/base/signed-url.ts'
import { parseScopes } from '../../src/access/scopes.ts'
import type { AdminRole } from '../../src/state-machine/base/origin.ts'
import { testTerms } from './signed-url-terms.ts'

export const key = (scopes: string): AccessKeyPrincipal => ({
  kind: 'accessKey',
  accessKeyId: 'AKTEST',
  tenantId: 'acme',
  keyVersion: 1,
  scopes: parseScopes(scopes),
  signedUrl: null,
  circumstances: { address: '192.0.2.1', isSecure: false, at: 0 },
})
const byUrl = (principal: AccessKeyPrincipal, url: Partial<SignedUrl>): AccessKeyPrincipal => ({
  ...principal,
  signedUrl: { ...testTerms(), jti: 'j', ...url },
})
const admin = (role: AdminRole, tenantId: string | null, noKeys = false): AdminTokenPrincipal => ({
  kind: 'adminToken',
  tokenId: 'adm_1',
  role,
  noKeys,
  tenantId,
})

export const PRINCIPALS = {
  unauthenticated: null,
  read: key('read'),
  write: key('write'),
  delete: key('delete'),
  admin: key('admin'),
  photosRead: key('op=read:bucket=photos:prefix='),
  photosWrite: key('op=write:bucket=photos:prefix='),
  photosDelete: key('op=delete:bucket=photos:prefix='),
  photosAdmin: key('op=admin:bucket=photos:prefix='),
  inAdmin: key('op=admin:bucket=photos:prefix=in/'),
  inRead: key('op=read:bucket=photos:prefix=in/'),
  inWrite: key('op=write:bucket=photos:prefix=in/'),
  inDelete: key('op=delete:bucket=photos:prefix=in/'),
  anyBucketInRead: key('op=read:bucket=*:prefix=in/'),
  elsewhere: key(
    ['read', 'write', 'delete', 'admin'].map((verb) => `op=${verb}:bucket=photos2:prefix=`).join(),
  ),
  getUrl: byUrl(key('read,write,delete,admin'), { method: 'GET' }),
  putUrl: byUrl(key('read,write,delete,admin'), { method: 'PUT' }),
  prefixUrl: byUrl(key('read,write,delete,admin'), { method: 'PUT', key: null, keyPrefix: 'in/' }),
  otherKeyUrl: byUrl(key('read,write,delete,admin'), { method: 'GET', key: 'in/2' }),
  otherBucketUrl: byUrl(key('read,write,delete,admin'), { method: 'GET', bucket: 'photos2' }),
  otherPrefixUrl: byUrl(key('read,write,delete,admin'), { method: 'PUT', key: null, keyPrefix: 'in/1/' }),
  unscopedUrl: byUrl(key('write,delete,admin'), { method: 'GET' }),
  auditor: admin('auditor', null),
  acmeAuditor: admin('auditor', 'acme'),
  viewer: admin('viewer', null),
  operator: admin('operator', null),
  owner: admin('owner', null),
  acmeViewer: admin('viewer', 'acme'),
  acmeOwner: admin('owner', 'acme'),
  rivalOwner: admin('owner', 'rival'),
  ownerWithoutKeys: admin('owner', null, true),
  acmeOperatorWithoutKeys: admin('operator', 'acme', true),
} as const satisfies Record<string, Principal | null>
