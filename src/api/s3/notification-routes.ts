/**
 * The routes of the S3 API of a bucket's notifications.
 *
 * Rules: S3 has no word for a webhook, and its targets (SNS, SQS, Lambda, EventBridge) are not there, so a configuration with any is refused by the name of its target;
 * an empty one asks that no one is notified, and removes the webhooks too. What is set by the native API is not shown: no client of S3 could send it back.
 */
import { deleteBucketNotifications } from '../../operations/notifications/delete-bucket-notifications.ts'
import { getBucketNotifications } from '../../operations/notifications/get-bucket-notifications.ts'
import { S3Fault } from './s3-errors.ts'
import { type S3Route, s3Route } from './s3-route.ts'
import { xmlAnswer } from './service-routes.ts'
import { bodyOf, configurationBody, takeOnly } from './xml-fields.ts'
import { element } from './xml/write-xml.ts'

/** By the element that names one. */
const TARGETS: Readonly<Record<string, string>> = {
  TopicConfiguration: 'SNS',
  QueueConfiguration: 'SQS',
  CloudFunctionConfiguration: 'Lambda',
  LambdaFunctionConfiguration: 'Lambda',
  EventBridgeConfiguration: 'EventBridge',
}
const ROOT = 'NotificationConfiguration'

export const notificationRoutes: readonly S3Route[] = [
  s3Route(
    getBucketNotifications,
    {
      action: 'GetBucketNotificationConfiguration',
      method: 'GET',
      level: 'bucket',
      marks: ['notification'],
      note: 'Always empty: webhooks belong to the native API.',
    },
    async (services, principal, { bucket }) => {
      await getBucketNotifications(services, principal, { bucket })
      return xmlAnswer(element(ROOT))
    },
  ),

  s3Route(
    deleteBucketNotifications,
    {
      action: 'PutBucketNotificationConfiguration',
      method: 'PUT',
      level: 'bucket',
      marks: ['notification'],
      headers: ['x-amz-skip-destination-validation'],
      body: configurationBody(ROOT),
      note: 'An empty configuration removes all notifications, webhooks too; targets of AWS are refused by name.',
    },
    async (services, principal, call) => {
      const body = bodyOf(call)
      const [target] = body.children.filter(({ name }) => Object.hasOwn(TARGETS, name))
      if (target !== undefined)
        throw new S3Fault(
          'NotImplemented',
          `${target.name} is not supported: there is no ${TARGETS[target.name] ?? ''} here; webhooks are set by the native API`,
        )
      takeOnly(body, [])
      await deleteBucketNotifications(services, principal, { bucket: call.bucket })
      return { kind: 'empty' }
    },
  ),
]
