/**
 * The routes of access keys: parse the call, run one operation, dress the outcome. [admin: Secrets] [decisions 11]
 *
 * Rule: the secret stands in the answer to create and rotate and nowhere else, and no cache may keep that answer.
 */
import Type from 'typebox'
import { createTenantKey } from '../../operations/access-keys/create-tenant-key.ts'
import { listTenantKeys } from '../../operations/access-keys/list-tenant-keys.ts'
import { revokeTenantKey } from '../../operations/access-keys/revoke-tenant-key.ts'
import { rotateTenantKey } from '../../operations/access-keys/rotate-tenant-key.ts'
import { adminRoute } from '../route.ts'
import { orNull, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { accessKeyView, AccessKeyView, AccessKeyWithSecretView } from './access-key-view.ts'
import { DRY_RUN, PageQuery, refuseDryRun } from './queries.ts'

const NO_STORE = { 'cache-control': 'no-store' }
const Name = Type.String({ minLength: 1, maxLength: 256 })
const Scopes = Type.String({ description: 'Verbs, or op=<verb>:bucket=<bucket>:prefix=<prefix>, by commas' })
const ExpiresAt = Type.String({ description: 'RFC 3339 timestamp, or a date; must be in the future' })

const NewKey = Type.Object(
  {
    name: Type.Optional(orNull(Name)),
    scopes: Type.Optional(Scopes),
    expiresAt: Type.Optional(orNull(ExpiresAt)),
  },
  { additionalProperties: false },
)
const Rotation = Type.Object(
  { scopes: Type.Optional(Scopes), expiresAt: Type.Optional(orNull(ExpiresAt)) },
  { additionalProperties: false },
)
const Revocation = Type.Object({ reason: Type.String({ maxLength: 1024 }) }, { additionalProperties: false })
const KeyPage = Type.Object({ keys: Type.Array(AccessKeyView), ...PAGE_END_SCHEMA })

export const accessKeyRoutes = {
  listTenantKeys: adminRoute(
    {
      operationId: 'listTenantKeys',
      method: 'GET',
      path: '/tenants/{id}/keys',
      summary: 'List the access keys of a tenant, without secrets',
      query: PageQuery,
      success: {
        status: 200,
        description: 'One page of access keys',
        content: { type: 'application/json', schema: KeyPage },
      },
    },
    async (services, principal, { params, query: { limit, continuationToken } }) => {
      const page = await listTenantKeys(services, principal, { ...params, limit, continuationToken })
      return {
        kind: 'json',
        body: { keys: page.keys.map(accessKeyView), ...pageEnd(page.nextContinuationToken) },
      }
    },
  ),

  createTenantKey: adminRoute(
    {
      operationId: 'createTenantKey',
      method: 'POST',
      path: '/tenants/{id}/keys',
      summary: 'Create an access key; its secret is shown this once',
      query: DRY_RUN,
      body: { schema: NewKey, required: false },
      success: {
        status: 201,
        description: 'The access key with its secret',
        content: { type: 'application/json', schema: AccessKeyWithSecretView },
      },
    },
    async (services, principal, { params, query, body }) => {
      refuseDryRun(query)
      const { key, secretKey } = await createTenantKey(services, principal, {
        ...params,
        name: body.name ?? undefined,
        scopes: body.scopes,
        expiresAt: body.expiresAt ?? undefined,
        now: Date.now(),
      })
      return { kind: 'json', headers: NO_STORE, body: { ...accessKeyView(key), secretKey } }
    },
  ),

  rotateTenantKey: adminRoute(
    {
      operationId: 'rotateTenantKey',
      method: 'POST',
      path: '/tenants/{id}/keys/{keyId}/rotate',
      summary: 'Give an access key a new secret; tokens of the old one die at once',
      query: DRY_RUN,
      body: { schema: Rotation, required: false },
      success: {
        status: 200,
        description: 'The access key with its new secret',
        content: { type: 'application/json', schema: AccessKeyWithSecretView },
      },
    },
    async (services, principal, { params, query, body }) => {
      refuseDryRun(query)
      const { scopes, expiresAt } = body
      const wanted = { ...params, scopes, expiresAt, now: Date.now() }
      const { key, secretKey } = await rotateTenantKey(services, principal, wanted)
      return { kind: 'json', headers: NO_STORE, body: { ...accessKeyView(key), secretKey } }
    },
  ),

  revokeTenantKey: adminRoute(
    {
      operationId: 'revokeTenantKey',
      method: 'POST',
      path: '/tenants/{id}/keys/{keyId}/revoke',
      summary: 'Revoke an access key for good; repeating it changes nothing',
      query: DRY_RUN,
      body: { schema: Revocation },
      success: {
        status: 200,
        description: 'The access key',
        content: { type: 'application/json', schema: AccessKeyView },
      },
    },
    async (services, principal, { params, query, body }) => {
      refuseDryRun(query)
      const key = await revokeTenantKey(services, principal, { ...params, ...body })
      return { kind: 'json', body: accessKeyView(key) }
    },
  ),
}
