/**
 * The routes of a bucket's object lock and of the retention that its new versions get. [docs/adr/0053-default-retention.md]
 */
import Type, { type Static } from 'typebox'
import { Refusal } from '../../base/refusal.ts'
import { getBucketObjectLock } from '../../operations/buckets/bucket-lookups.ts'
import { setBucketObjectLock } from '../../operations/buckets/set-bucket-object-lock.ts'
import type { BucketRecord, DefaultRetention } from '../../state-machine/buckets/records.ts'
import { PHOTOS } from '../examples/names.ts'
import { type Answer, dataRoute } from '../route.ts'
import { orNull } from '../wire.ts'
import { DefaultRetentionView, defaultRetentionView } from './bucket-view.ts'

const PATH = '/buckets/{bucket}/object-lock'

const NewObjectLock = Type.Object(
  { defaultRetention: Type.Optional(orNull(DefaultRetentionView)) },
  { additionalProperties: false },
)

const ObjectLockView = Type.Object(
  { objectLockEnabled: Type.Boolean(), defaultRetention: orNull(DefaultRetentionView) },
  { additionalProperties: false },
)

const SHOWN = {
  status: 200,
  description: 'Whether the bucket has object lock, and its default retention',
  content: { type: 'application/json', schema: ObjectLockView },
} as const

export const objectLockRoutes = [
  dataRoute(
    getBucketObjectLock,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get whether a bucket has object lock, and its default retention',
      success: SHOWN,
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => shown(await getBucketObjectLock(services, principal, params)),
  ),

  dataRoute(
    setBucketObjectLock,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Switch object lock on for good, and set the default retention',
      description:
        'Versioning must be `Enabled`. From now on a new version without a retention of its own gets the default one, counted from its making; without `defaultRetention` it gets none. Versions that exist stay what they are. At most `security.max_retention`, 100 years by default.',
      body: { schema: NewObjectLock },
      success: SHOWN,
      example: { params: PHOTOS, body: { defaultRetention: { mode: 'GOVERNANCE', days: 30 } } },
    },
    async (services, principal, { params, body }) => {
      const { defaultRetention: given = null } = body
      const defaultRetention = given === null ? null : durationOf(given)
      return shown(await setBucketObjectLock(services, principal, { ...params, defaultRetention }))
    },
  ),
]

function shown(bucket: BucketRecord): Answer {
  const { objectLockEnabled } = bucket
  return { kind: 'json', body: { objectLockEnabled, defaultRetention: defaultRetentionView(bucket) } }
}

/** Throws Refusal invalid_request. */
function durationOf({ mode, days, years }: Static<typeof DefaultRetentionView>): DefaultRetention {
  if (days !== undefined && years === undefined) return { mode, days }
  if (years !== undefined && days === undefined) return { mode, years }
  throw new Refusal('invalid_request', 'The default retention has one of "days" and "years": give either')
}
