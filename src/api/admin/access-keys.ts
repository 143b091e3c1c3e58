/**
 * The routes of access keys: parse the call, run one operation, dress the outcome. [admin: Secrets] [decisions 11]
 *
 * Rule: the secret is in the answer to create and rotate and nowhere else, and no cache may keep that answer.
 */
import Type from 'typebox'
import { type AccessKeyWithSecret, createTenantKey } from '../../operations/access-keys/create-tenant-key.ts'
import { listTenantKeys } from '../../operations/access-keys/list-tenant-keys.ts'
import { revokeTenantKey } from '../../operations/access-keys/revoke-tenant-key.ts'
import { rotateTenantKey } from '../../operations/access-keys/rotate-tenant-key.ts'
import { ADDRESS_RANGE_PATTERN } from '../../base/network-address.ts'
import {
  BOUND_ADDRESSES_MAX,
  BOUND_CERTIFICATES_MAX,
  CERTIFICATE_PATTERN,
} from '../../access/caller-binding.ts'
import { SCOPES_CHARS_MAX, SCOPES_PATTERN } from '../../access/scopes.ts'
import { ACME, GALLERY_KEY } from '../examples/names.ts'
import { adminRoute } from '../route.ts'
import { orNull, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import {
  NewKeyPlan,
  planNewKey,
  planRevocation,
  planRotation,
  RevocationPlan,
  RotationPlan,
} from './access-key-plans.ts'
import { accessKeyView, AccessKeyView, AccessKeyWithSecretView } from './access-key-view.ts'
import { documented } from '../documented.ts'
import { changeRoute, creationRoute } from './mutation.ts'
import { PageQuery, REASON } from './queries.ts'

const NO_STORE = { 'cache-control': 'no-store' }
const Name = Type.String({ minLength: 1, maxLength: 256 })
const AccountId = Type.String({ maxLength: 64, description: 'Of an account of this tenant' })
const Scopes = Type.String({
  description: 'Verbs, or op=<verb>:bucket=<bucket>:prefix=<prefix>, by commas',
  ...documented({ pattern: SCOPES_PATTERN, maxLength: SCOPES_CHARS_MAX }),
})
const ExpiresAt = Type.String({
  description: 'RFC 3339 timestamp, or a date; must be in the future',
  ...documented({
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
    ],
  }),
})
const BINDING = {
  allowedAddresses: Type.Optional(
    Type.Array(Type.String({ maxLength: 64, ...documented({ pattern: ADDRESS_RANGE_PATTERN }) }), {
      maxItems: BOUND_ADDRESSES_MAX,
      description: 'Addresses and ranges such as 203.0.113.0/24 from which it may be used; none: any',
    }),
  ),
  clientCertificates: Type.Optional(
    Type.Array(Type.String({ maxLength: 300, ...documented({ pattern: CERTIFICATE_PATTERN }) }), {
      maxItems: BOUND_CERTIFICATES_MAX,
      description:
        'sha256:<fingerprint> or cn:<common name> of client certificates: the caller must have one of them; none: it needs none',
    }),
  ),
}

const NewKey = Type.Object(
  {
    accountId: Type.Optional(orNull(AccountId)),
    name: Type.Optional(orNull(Name)),
    scopes: Type.Optional(Scopes),
    expiresAt: Type.Optional(orNull(ExpiresAt)),
    ...BINDING,
  },
  { additionalProperties: false },
)
const Rotation = Type.Object(
  { scopes: Type.Optional(Scopes), expiresAt: Type.Optional(orNull(ExpiresAt)), ...BINDING },
  { additionalProperties: false },
)
const Revocation = Type.Object(REASON, { additionalProperties: false })
const KeyPage = Type.Object({ keys: Type.Array(AccessKeyView), ...PAGE_END_SCHEMA })

export const accessKeyRoutes = [
  adminRoute(
    listTenantKeys,
    {
      method: 'GET',
      path: '/tenants/{id}/keys',
      summary: 'List the access keys of a tenant, without secrets',
      query: PageQuery,
      success: {
        status: 200,
        description: 'One page of access keys',
        content: { type: 'application/json', schema: KeyPage },
      },
      example: { params: ACME, query: { limit: '100' } },
    },
    async (services, principal, { params, query: { limit, continuationToken } }) => {
      const page = await listTenantKeys(services, principal, { ...params, limit, continuationToken })
      return {
        kind: 'json',
        body: { keys: page.keys.map(accessKeyView), ...pageEnd(page.nextContinuationToken) },
      }
    },
  ),

  creationRoute(
    createTenantKey,
    {
      method: 'POST',
      path: '/tenants/{id}/keys',
      summary: 'Create an access key; its secret is shown this once',
      body: { schema: NewKey, required: false },
      answers: 'The access key with its secret',
      view: AccessKeyWithSecretView,
      plan: NewKeyPlan,
      example: {
        params: ACME,
        body: {
          accountId: '{createTenantAccount.id}',
          name: 'gallery',
          scopes: 'read,write,delete,admin',
          expiresAt: '2099-01-31T12:00:00Z',
        },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        createTenantKey(services, principal, {
          ...params,
          name: body.name ?? undefined,
          accountId: body.accountId ?? undefined,
          scopes: body.scopes,
          expiresAt: body.expiresAt ?? undefined,
          allowedAddresses: body.allowedAddresses,
          clientCertificates: body.clientCertificates,
          now: services.cluster.time.now(),
        }),
      answer: (made) => ({
        path: `/tenants/${made.key.tenantId}/keys/${made.key.accessKeyId}`,
        headers: NO_STORE,
        body: withSecret(made),
      }),
      plan: planNewKey,
    },
  ),

  changeRoute(
    rotateTenantKey,
    {
      method: 'POST',
      path: '/tenants/{id}/keys/{keyId}/rotate',
      summary: 'Give an access key a new secret; tokens of the old one die at once',
      body: { schema: Rotation, required: false },
      answers: 'The access key with its new secret, or the plan of a dry run',
      view: AccessKeyWithSecretView,
      plan: RotationPlan,
      example: { params: GALLERY_KEY, body: { scopes: 'read' } },
    },
    {
      run: (services, principal, { params, body }) =>
        rotateTenantKey(services, principal, {
          ...params,
          scopes: body.scopes,
          expiresAt: body.expiresAt,
          allowedAddresses: body.allowedAddresses,
          clientCertificates: body.clientCertificates,
          now: services.cluster.time.now(),
        }),
      headers: NO_STORE,
      answer: withSecret,
      plan: planRotation,
    },
  ),

  changeRoute(
    revokeTenantKey,
    {
      method: 'POST',
      path: '/tenants/{id}/keys/{keyId}/revoke',
      summary: 'Revoke an access key for good; repeating it changes nothing',
      body: { schema: Revocation },
      answers: 'The access key, or the plan of a dry run',
      view: AccessKeyView,
      plan: RevocationPlan,
      example: { params: GALLERY_KEY, body: { reason: 'The gallery was closed' } },
    },
    {
      run: (services, principal, { params, body }) =>
        revokeTenantKey(services, principal, { ...params, ...body }),
      answer: accessKeyView,
      plan: planRevocation,
    },
  ),
]

function withSecret({ key, secretKey }: AccessKeyWithSecret): object {
  return { ...accessKeyView(key), secretKey }
}
