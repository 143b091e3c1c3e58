/**
 * The keys of a tenant, on the wire: what version seals, and the exchange. [docs/adr/0088-exchange-of-tenant-keys.md]
 *
 * Rule: no key, sealed or not, is ever an answer.
 */
import Type, { type Static } from 'typebox'
import { exchangeDataKey, planKeyExchange } from '../../operations/tenants/exchange-data-key.ts'
import { getTenantEncryption, type TenantEncryption } from '../../operations/tenants/tenant-encryption.ts'
import { ACME } from '../examples/names.ts'
import { adminRoute } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { longOperationRoute } from './mutation.ts'
import { LongOperationView, longOperationView } from './operation-view.ts'
import { REASON } from './queries.ts'

const Count = Type.Integer({ minimum: 0 })
const Version = Type.Integer({ minimum: 1 })

export const TenantEncryptionView = Type.Object(
  {
    tenantId: Type.String(),
    algorithm: Type.String({ description: 'AES256-GCM' }),
    keyVersion: Type.Integer({
      minimum: 1,
      description: 'Of the data key that seals new writes; rises with every exchange',
    }),
    keySince: Time,
    masterKeyId: Type.String({
      description: 'The master key under which the data key is sealed; empty: its keys were destroyed',
    }),
    exchange: orNull(
      Type.Object(
        {
          formerVersion: Version,
          chunksLeft: Type.Integer({ minimum: 0, description: 'Sealed with the former key' }),
          bytesLeft: Type.Integer({ minimum: 0, description: 'Sealed bytes of these chunks, each once' }),
          inlineBytesLeft: Type.Integer({
            minimum: 0,
            description: 'Sealed bytes of small bodies, which lie in the metadata',
          }),
          operation: orNull(LongOperationView),
        },
        {
          description:
            'The exchange that is unfinished. Null: one key seals everything, and no other one is held',
        },
      ),
    ),
  },
  { additionalProperties: false },
)

const Exchange = Type.Object(
  {
    ...REASON,
    maxBytesPerSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Of sealed bytes; absent: it rests as long as it works',
      }),
    ),
  },
  { additionalProperties: false },
)

const PlanView = Type.Object({
  objects: Count,
  versions: Type.Integer({ minimum: 0, description: 'The current ones too' }),
  chunks: Type.Integer({ minimum: 0, description: 'That would be sealed again' }),
  bytes: Type.Integer({
    minimum: 0,
    description: 'Sealed bytes of these chunks, each once, and of small bodies',
  }),
})

export const encryptionRoutes = [
  adminRoute(
    getTenantEncryption,
    {
      method: 'GET',
      path: '/tenants/{id}/encryption',
      summary: 'Get the version of the data key of a tenant, and how far an exchange is',
      success: {
        status: 200,
        description: 'The versions of its keys',
        content: { type: 'application/json', schema: TenantEncryptionView },
      },
      example: { params: ACME },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: encryptionView(await getTenantEncryption(services, principal, params)),
    }),
  ),

  longOperationRoute(
    exchangeDataKey,
    {
      method: 'POST',
      path: '/tenants/{id}/encryption/rotate',
      summary:
        'Exchange the data key of a tenant: new writes use another one at once, what is stored is sealed again in the background, then the former key is destroyed',
      status: 202,
      body: { schema: Exchange },
      plan: PlanView,
      example: { params: ACME, body: { reason: 'Yearly exchange', maxBytesPerSecond: 100_000_000 } },
    },
    {
      run: (services, principal, { params, body }) =>
        exchangeDataKey(services, principal, { ...params, ...body }),
      plan: (services, { params }) => planKeyExchange(services, params.id),
    },
  ),
]

function encryptionView({
  tenant,
  keyVersion,
  exchange,
}: TenantEncryption): Static<typeof TenantEncryptionView> {
  return {
    tenantId: tenant.id,
    algorithm: 'AES256-GCM',
    keyVersion,
    keySince: timeText(tenant.dataKeySince ?? tenant.createdAt),
    masterKeyId: tenant.dataKey.length === 0 ? '' : tenant.masterKeyId,
    exchange: exchange === null ? null : exchangeView(exchange),
  }
}

function exchangeView({ formerVersion, operation, left }: NonNullable<TenantEncryption['exchange']>) {
  return {
    formerVersion,
    chunksLeft: left.chunks,
    bytesLeft: left.storedBytes,
    inlineBytesLeft: left.inlineBytes,
    operation: operation === null ? null : longOperationView(operation, Date.now()),
  }
}
