/**
 * The rules of one bucket: lifecycle, replication with its state, webhooks with their deliveries, CORS.
 *
 * Rule: that there are none is a value, and no fault.
 */
import { signal } from '@preact/signals'
import type { DataOperations, Holdfast } from '../../../client/src/index.ts'
import { bucketName } from './bucket-data.ts'
import { dataResource, orUnset } from './resource.ts'

type Preview = DataOperations['previewBucketLifecycle']['answer']
type LifecycleRule = DataOperations['getBucketLifecycle']['answer']['rules'][number]
export type Replication = DataOperations['getBucketReplication']['answer']
export type ReplicationStatus = DataOperations['getReplicationStatus']['answer']
export type Webhook = DataOperations['getBucketNotifications']['answer']['configs'][number]
export type Delivery = DataOperations['listNotificationDeliveries']['answer']['deliveries'][number]

const bucket = (): { readonly bucket: string } => ({ bucket: bucketName.peek() })

export const lifecycle = dataResource(
  async (api) => (await orUnset(api.getBucketLifecycle(bucket())))?.rules ?? [],
)

/** Of a preview: each answer looks at thousands of rows. */
const PREVIEW_ANSWERS_MAX = 20
export const ITEMS_MAX = 20

export interface LifecyclePreview extends Pick<Preview, 'counts' | 'bytes' | 'locked' | 'rows' | 'items'> {
  readonly isWhole: boolean
}

/** What `rules` would do now; absent: those that are set. Several answers added up, to a bound. */
export async function previewOf(api: Holdfast, rules?: readonly LifecycleRule[]): Promise<LifecyclePreview> {
  const input = { ...bucket(), ...(rules === undefined ? {} : { rules }) }
  let found = shownOf(await api.previewBucketLifecycle(input))
  for (let n = 1; n < PREVIEW_ANSWERS_MAX && found.token !== undefined; n++) {
    const next = shownOf(await api.previewBucketLifecycle({ ...input, continuationToken: found.token }))
    found = { preview: added(found.preview, next.preview), token: next.token }
  }
  return { ...found.preview, isWhole: found.token === undefined }
}

function shownOf(page: Preview): { readonly preview: LifecyclePreview; readonly token: string | undefined } {
  const { counts, bytes, locked, rows, items, nextContinuationToken: token } = page
  const preview = { counts, bytes, locked, rows, items: items.slice(0, ITEMS_MAX), isWhole: true }
  return { preview, token }
}

function added(one: LifecyclePreview, other: LifecyclePreview): LifecyclePreview {
  const { counts } = one
  return {
    counts: {
      expired: counts.expired + other.counts.expired,
      hidden: counts.hidden + other.counts.hidden,
      noncurrent: counts.noncurrent + other.counts.noncurrent,
      marker: counts.marker + other.counts.marker,
      upload: counts.upload + other.counts.upload,
    },
    bytes: one.bytes + other.bytes,
    locked: one.locked + other.locked,
    rows: one.rows + other.rows,
    items: [...one.items, ...other.items].slice(0, ITEMS_MAX),
    isWhole: true,
  }
}

/** `site` is null where the bucket is not replicated. */
export const replication = dataResource(async (api) => {
  const setting = await orUnset(api.getBucketReplication(bucket()))
  return { site: setting === null ? null : { setting, status: await api.getReplicationStatus(bucket()) } }
})

export const webhooks = dataResource(async (api) => (await api.getBucketNotifications(bucket())).configs)

/** The state that `deliveries` lists; empty for all. */
export const deliveryState = signal<'' | Delivery['status']>('')
const DELIVERIES_MAX = 100

/** The newest. */
export const deliveries = dataResource(async (api) => {
  const status = deliveryState.peek()
  const page = await api.listNotificationDeliveries({
    ...bucket(),
    maxDeliveries: DELIVERIES_MAX,
    ...(status === '' ? {} : { status }),
  })
  return { rows: page.deliveries, isWhole: !page.isTruncated }
})

export const cors = dataResource(async (api) => (await orUnset(api.getBucketCORS(bucket())))?.rules ?? [])
