/**
 * Notification configs and deliveries as clients see them. [decisions 9]
 *
 * Rule: a secret is in an answer only where its operation gave one; the record holds none that could be shown.
 */
import Type, { type Static } from 'typebox'
import { deliveryId } from '../../operations/notifications/delivery-id.ts'
import { DELIVERY_STATES } from '../../operations/notifications/list-notification-deliveries.ts'
import type { SetConfig } from '../../operations/notifications/set-bucket-notifications.ts'
import type { DescribedDelivery } from '../../operations/notifications/delivery-view.ts'
import { type Attempt, EVENT_TYPES } from '../../state-machine/events/records.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'

export const PAYLOAD_FORMATS = ['native', 's3'] as const

export const ConfigView = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(['webhook']),
    url: Type.String({ description: 'Only its origin for keys that may not write in the whole bucket' }),
    events: Type.Array(Type.Enum([...EVENT_TYPES])),
    prefix: Type.String(),
    suffix: Type.String(),
    enabled: Type.Boolean(),
    payloadFormat: Type.Enum([...PAYLOAD_FORMATS]),
    signingSecret: Type.Optional(Type.String({ description: 'Once, of a new config: keep it' })),
    hasSecret: Type.Optional(Type.Boolean({ description: 'Instead of the secret, of every other' })),
    suspended: Type.Boolean(),
    suspensionReason: Type.String(),
    createdAt: Time,
    updatedAt: Time,
    pendingCount: Type.Integer(),
    deadCount: Type.Integer(),
    droppedCount: Type.Integer({ description: 'Events for which there was no room' }),
    droppedAt: orNull(Time),
  },
  { additionalProperties: false },
)

export function configView({ hook, signingSecret }: SetConfig): Static<typeof ConfigView> {
  const { id, url, events, prefix, suffix, payloadFormat, stop } = hook
  return {
    id,
    kind: 'webhook',
    url,
    events: [...events],
    prefix,
    suffix,
    enabled: hook.enabled && stop?.kind !== 'gone',
    payloadFormat,
    ...(signingSecret === undefined ? { hasSecret: true } : { signingSecret }),
    suspended: stop?.kind === 'suspended',
    suspensionReason: stop?.reason ?? '',
    createdAt: timeText(hook.createdAt),
    updatedAt: timeText(hook.updatedAt),
    pendingCount: hook.pending,
    deadCount: hook.dead,
    droppedCount: hook.dropped,
    droppedAt: timeTextOrNull(hook.droppedAt),
  }
}

const AttemptView = Type.Object(
  {
    at: Time,
    status: orNull(Type.Integer()),
    error: orNull(Type.String()),
    durationMs: Type.Integer(),
  },
  { additionalProperties: false },
)

export const DeliveryView = Type.Object(
  {
    deliveryId: Type.String({ description: 'The webhook-id of every attempt' }),
    configId: Type.String(),
    type: Type.Enum([...EVENT_TYPES, 'test']),
    eventName: Type.String(),
    eventTime: Time,
    key: orNull(Type.String()),
    versionId: orNull(Type.String()),
    status: Type.Enum([...DELIVERY_STATES]),
    attempts: Type.Integer(),
    nextAttemptAt: orNull(Time),
    settledAt: orNull(Time),
    lastAttempt: orNull(AttemptView),
  },
  { additionalProperties: false },
)

export function deliveryView({ configId, delivery }: DescribedDelivery): Static<typeof DeliveryView> {
  const { type, eventName, key, versionId, status, attempts } = delivery
  return {
    deliveryId: deliveryId(delivery),
    configId,
    type,
    eventName,
    eventTime: timeText(delivery.time),
    key,
    versionId,
    status,
    attempts,
    nextAttemptAt: status === 'pending' ? timeText(delivery.dueAt) : null,
    settledAt: timeTextOrNull(delivery.settledAt),
    lastAttempt: delivery.lastAttempt === null ? null : attemptView(delivery.lastAttempt),
  }
}

function attemptView({ at, status, error, durationMs }: Attempt): Static<typeof AttemptView> {
  return { at: timeText(at), status, error, durationMs }
}
