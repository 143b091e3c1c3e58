/**
 * The routes of notifications: configs of a bucket, and the log of their deliveries. [native: Buckets] [decisions 9]
 */
import Type from 'typebox'
import { CONFIG_ID } from '../../operations/notifications/config-request.ts'
import { deleteBucketNotifications } from '../../operations/notifications/delete-bucket-notifications.ts'
import { getBucketNotifications } from '../../operations/notifications/get-bucket-notifications.ts'
import {
  DELIVERY_STATES,
  listNotificationDeliveries,
} from '../../operations/notifications/list-notification-deliveries.ts'
import { redeliverNotification } from '../../operations/notifications/redeliver-notification.ts'
import { setBucketNotifications } from '../../operations/notifications/set-bucket-notifications.ts'
import { testNotification } from '../../operations/notifications/test-notification.ts'
import { EVENT_TYPES, HOOKS_MAX } from '../../state-machine/events/records.ts'
import { PHOTOS } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { dataRoute } from '../route.ts'
import { CONTINUATION_TOKEN, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { ConfigView, configView, DeliveryView, deliveryView, PAYLOAD_FORMATS } from './notification-view.ts'

const PATH = '/buckets/{bucket}/notifications'
const DELIVERIES_PATH = `${PATH}/deliveries` as const

const NewConfig = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        description: '1 to 64 letters, digits, ".", "_", "-"; made when absent',
        ...documented({ pattern: CONFIG_ID.source }),
      }),
    ),
    kind: Type.Optional(Type.String(documented({ enum: ['webhook'] }))),
    url: Type.String({
      description: 'https, and http only where an operator allows it',
      ...documented({ pattern: '^https?://[A-Za-z0-9]' }),
    }),
    events: Type.Array(Type.String(documented({ enum: [...EVENT_TYPES] })), documented({ minItems: 1 })),
    prefix: Type.Optional(
      Type.String({ description: 'Of the key; at most 1,024 bytes', ...documented({ maxLength: 1024 }) }),
    ),
    suffix: Type.Optional(
      Type.String({ description: 'Of the key; at most 1,024 bytes', ...documented({ maxLength: 1024 }) }),
    ),
    enabled: Type.Optional(Type.Boolean()),
    payloadFormat: Type.Optional(Type.String(documented({ enum: [...PAYLOAD_FORMATS] }))),
  },
  { additionalProperties: false },
)
const NewConfigs = Type.Object(
  { configs: Type.Array(NewConfig, documented({ maxItems: HOOKS_MAX })) },
  { additionalProperties: false },
)
const Configs = Type.Object({ configs: Type.Array(ConfigView) }, { additionalProperties: false })

const DeliveryQuery = Type.Object(
  {
    configId: Type.Optional(Type.String()),
    status: Type.Optional(Type.String(documented({ enum: [...DELIVERY_STATES] }))),
    maxDeliveries: Type.Optional(Type.Integer()),
    continuationToken: CONTINUATION_TOKEN,
  },
  { additionalProperties: false },
)
const DeliveryPage = Type.Object({ deliveries: Type.Array(DeliveryView), ...PAGE_END_SCHEMA })

const CONFIGS = {
  status: 200,
  description: 'All configs of the bucket',
  content: { type: 'application/json', schema: Configs },
} as const
const ASKED_FOR = {
  status: 202,
  description: 'The delivery, which is made by itself; the log says what became of it',
  content: { type: 'application/json', schema: DeliveryView },
} as const

export const notificationRoutes = [
  dataRoute(
    getBucketNotifications,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the notification configs of a bucket; none is an empty list',
      description:
        'Keys without `write` over the whole bucket see the origin of each target URL: its path and query may hold a secret.',
      success: CONFIGS,
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      const shown = await getBucketNotifications(services, principal, params)
      return { kind: 'json', body: { configs: shown.map(configView) } }
    },
  ),

  dataRoute(
    setBucketNotifications,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Replace the notification configs of a bucket',
      description:
        'Takes `write` and `read` over the whole bucket: deliveries tell what is written there. At most 100. A config whose id is new gets a signing secret, shown in this answer and never again; one that keeps its id keeps its secret and what it has not delivered yet. One that is not named is removed with what it has not delivered. `enabled: true` resumes a config that was suspended or stopped.',
      body: { schema: NewConfigs },
      success: CONFIGS,
      example: {
        params: PHOTOS,
        body: {
          configs: [
            {
              id: 'thumbs',
              url: 'https://hooks.example/pictures',
              events: ['object-created'],
              prefix: '2026/',
            },
          ],
        },
      },
    },
    async (services, principal, { params, body }) => {
      const set = await setBucketNotifications(services, principal, { ...params, ...body })
      const headers = { 'cache-control': 'no-store' }
      return { kind: 'json', headers, body: { configs: set.map(configView) } }
    },
  ),

  dataRoute(
    deleteBucketNotifications,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Clear the notification configs of a bucket',
      description: 'Takes `write` and `read` over the whole bucket. What was not delivered yet is given up.',
      success: { status: 204, description: 'There are none' },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      await deleteBucketNotifications(services, principal, params)
      return { kind: 'empty' }
    },
  ),

  dataRoute(
    listNotificationDeliveries,
    {
      method: 'GET',
      path: DELIVERIES_PATH,
      summary: 'List what was sent, what waits and what was given up, the newest event first',
      description:
        '`maxDeliveries` is clamped to 1..100. A page may be short, or empty, while there is more: `isTruncated` says so.',
      query: DeliveryQuery,
      success: {
        status: 200,
        description: 'One page of deliveries',
        content: { type: 'application/json', schema: DeliveryPage },
      },
      example: { params: PHOTOS, query: { configId: 'thumbs', maxDeliveries: '10' } },
    },
    async (services, principal, { params, query }) => {
      const { configId, status, maxDeliveries, continuationToken } = query
      const asked = { ...params, configId, status, maxDeliveries, continuationToken }
      const page = await listNotificationDeliveries(services, principal, asked)
      const deliveries = page.deliveries.map(deliveryView)
      return { kind: 'json', body: { deliveries, ...pageEnd(page.nextContinuationToken) } }
    },
  ),

  dataRoute(
    redeliverNotification,
    {
      method: 'POST',
      path: `${DELIVERIES_PATH}/{deliveryId}:redeliver`,
      summary: 'Deliver once more, at once, whatever became of it',
      description: 'Under the same webhook-id, with all attempts before it.',
      success: ASKED_FOR,
      example: { params: { ...PHOTOS, deliveryId: '{testNotification.deliveryId}' } },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: deliveryView(await redeliverNotification(services, principal, params)),
    }),
  ),

  dataRoute(
    testNotification,
    {
      method: 'POST',
      path: `${PATH}/{configId}:test`,
      summary: 'Send an event of type test to one config',
      success: ASKED_FOR,
      example: { params: { ...PHOTOS, configId: 'thumbs' } },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: deliveryView(await testNotification(services, principal, params)),
    }),
  ),
]
