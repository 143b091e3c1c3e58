/**
 * listNotificationDeliveries: authorize -> exists -> valid -> one page, the newest event first.
 *
 * Rule: one page looks at a bounded number of deliveries. Where few of them fit, a page is short, or even empty, and says that
 * there is more.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { hooksOf } from '../../state-machine/events/hooks.ts'
import { deliveryPosition, eventRanges } from '../../state-machine/events/keys.ts'
import type { DeliveryRecord, DeliveryStatus } from '../../state-machine/events/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import type { DescribedDelivery } from './delivery-view.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const satisfies DeliveryStatus[]
const PAGE_MAX = 100
const LOOKED_AT_MAX = 1000

interface ListDeliveriesInput {
  readonly bucket: string
  readonly configId: string | undefined
  readonly status: string | undefined
  readonly maxDeliveries: number | undefined
  readonly continuationToken: string | undefined
}

export interface DeliveryListing {
  readonly deliveries: readonly DescribedDelivery[]
  readonly nextContinuationToken: string | null
}

export const listNotificationDeliveries = dataOperation(
  {
    id: 'listNotificationDeliveries',
    isListing: true,
    // Deliveries name keys of the whole bucket.
    requires: accessKey('read', 'whole-bucket'),
    s3Action: S3_ACTIONS.getBucketNotification,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: ListDeliveriesInput): Promise<DeliveryListing> => {
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const { configId, status, continuationToken } = input
    if (status !== undefined && !(DELIVERY_STATES as readonly string[]).includes(status))
      throw new Refusal(
        'invalid_argument',
        `The status "${status.slice(0, 40)}" is none of ${DELIVERY_STATES.join(', ')}`,
      )
    const context = ['listNotificationDeliveries', bucket.id, configId ?? '', status ?? '']
    const after =
      continuationToken === undefined ? '' : openContinuationToken(services, context, continuationToken)
    const found = await look(services, bucket, { ...input, after })
    const { deliveries, next } = found
    const nextContinuationToken = next === null ? null : sealContinuationToken(services, context, next)
    return { deliveries, nextContinuationToken }
  },
)

async function look(
  services: Services,
  bucket: BucketRecord,
  { configId, status, maxDeliveries, after }: ListDeliveriesInput & { readonly after: string },
): Promise<{ readonly deliveries: readonly DescribedDelivery[]; readonly next: string | null }> {
  const limit = Math.min(Math.max(maxDeliveries ?? PAGE_MAX, 1), PAGE_MAX)
  // Deliveries of configs that were removed are about to be removed.
  const configs = new Map(hooksOf(services.state, bucket).map(({ hookId, id }) => [hookId, id]))
  const { items, next } = await services.state.page(eventRanges.deliveries(bucket.id), {
    after,
    limit: LOOKED_AT_MAX,
  })
  const deliveries: DescribedDelivery[] = []
  for (const [n, delivery] of items.entries()) {
    const config = configs.get(delivery.hookId)
    const isMeant = configId === undefined || config === configId
    if (config === undefined || !isMeant || (status !== undefined && delivery.status !== status)) continue
    deliveries.push({ configId: config, delivery })
    const isLast = n === items.length - 1 && next === null
    if (deliveries.length === limit) return { deliveries, next: isLast ? null : positionOf(bucket, delivery) }
  }
  return { deliveries, next }
}

function positionOf({ id: bucketId }: BucketRecord, { eventId, hookId }: DeliveryRecord): string {
  return deliveryPosition({ bucketId, eventId, hookId })
}
