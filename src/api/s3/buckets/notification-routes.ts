/**
 * The routes of the S3 API of a bucket's notifications.
 *
 * Rules: the webhooks of a bucket are shown as queues with an ARN of their own, because S3 has no other word for a target; so a client that reads, changes and sends
 * back loses none that it did not mean to. It can change their events and filters and remove them; a new one, whose secret its receiver must learn, is made by the native
 * API. Targets of AWS are refused by the name of their service.
 */
import type { AccessKeyPrincipal } from '../../../access/base/principal.ts'
import type { Services } from '../../../operations/base/services.ts'
import type { ConfigInput } from '../../../operations/notifications/config-request.ts'
import { getBucketNotifications } from '../../../operations/notifications/get-bucket-notifications.ts'
import { setBucketNotifications } from '../../../operations/notifications/set-bucket-notifications.ts'
import type { EventType, HookRecord } from '../../../state-machine/events/records.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Call, type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { bodyOf, configurationBody, oneOf, takeOnly, textsOf } from '../base/xml-fields.ts'
import type { ReadElement } from '../xml/read-xml.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const ROOT = 'NotificationConfiguration'
const QUEUE = 'QueueConfiguration'
/** What is not there, by the element that names it. */
const ABSENT: Readonly<Record<string, string>> = {
  TopicConfiguration: 'SNS',
  CloudFunctionConfiguration: 'Lambda',
  LambdaFunctionConfiguration: 'Lambda',
  EventBridgeConfiguration: 'EventBridge',
}
const WEBHOOK = /^arn:holdfast:webhook:[^:]*:[^:]*:(.+)$/
/** Types of events by what S3 calls all of a type; locks have two names. */
const EVENTS: Readonly<Record<string, EventType>> = {
  's3:ObjectCreated:*': 'object-created',
  's3:ObjectRemoved:*': 'object-removed',
  's3:ObjectTagging:*': 'object-tagged',
  's3:ObjectRetention:Put': 'object-lock-changed',
  's3:ObjectLegalHold:Put': 'object-lock-changed',
}

export const notificationRoutes: readonly S3Route[] = [
  s3Route(
    getBucketNotifications,
    {
      action: 'GetBucketNotificationConfiguration',
      method: 'GET',
      level: 'bucket',
      marks: ['notification'],
      note: 'Webhooks are shown as queues with an ARN arn:holdfast:webhook:.',
    },
    async (services, principal, { bucket }) => {
      const shown = await getBucketNotifications(services, principal, { bucket })
      const region = services.config.security.s3Region
      return xmlAnswer(element(ROOT, ...shown.map(({ hook }) => queueElement(hook, region))))
    },
  ),

  s3Route(
    setBucketNotifications,
    {
      action: 'PutBucketNotificationConfiguration',
      method: 'PUT',
      level: 'bucket',
      marks: ['notification'],
      headers: ['x-amz-skip-destination-validation'],
      body: configurationBody(ROOT),
      note: 'Keeps, changes and removes webhooks; new ones are made by the native API. SNS, SQS, Lambda and EventBridge are refused by name.',
    },
    async (services, principal, call) => {
      const configs = await configsIn(services, principal, call)
      await setBucketNotifications(services, principal, { bucket: call.bucket, configs })
      return { kind: 'empty' }
    },
  ),
]

function queueElement({ id, tenantId, events, prefix, suffix }: HookRecord, region: string): XmlElement {
  const rules = Object.entries({ prefix, suffix }).filter(([, value]) => value !== '')
  const filter = rules.map(([name, value]) =>
    element('FilterRule', element('Name', name), element('Value', value)),
  )
  const names = Object.keys(EVENTS).filter((name) => events.some((type) => type === EVENTS[name]))
  return element(
    QUEUE,
    element('Id', id),
    element('Queue', `arn:holdfast:webhook:${region}:${tenantId}:${id}`),
    ...names.map((name) => element('Event', name)),
    filter.length > 0 && element('Filter', element('S3Key', ...filter)),
  )
}

/** The present configs that the body names, with the events and filters that it gives. Throws S3Fault, MalformedXmlError. */
async function configsIn(
  services: Services,
  principal: AccessKeyPrincipal,
  call: S3Call,
): Promise<readonly ConfigInput[]> {
  const body = bodyOf(call)
  const absent = body.children.find(({ name }) => Object.hasOwn(ABSENT, name))
  if (absent !== undefined) throw noTarget(absent.name, ABSENT[absent.name] ?? '')
  takeOnly(body, [QUEUE])
  const queues = body.childrenNamed(QUEUE).map(queueIn)
  if (queues.length === 0) return []
  const shown = await getBucketNotifications(services, principal, { bucket: call.bucket })
  return queues.map(({ configId, ...wanted }) => {
    const present = shown.find(({ hook }) => hook.id === configId)?.hook
    if (present === undefined)
      throw new S3Fault(
        'InvalidArgument',
        `There is no webhook "${configId.slice(0, 80)}" in bucket "${call.bucket}": new ones are made by the native API`,
      )
    const { id, url, enabled, payloadFormat } = present
    return { id, url, enabled, payloadFormat, ...wanted }
  })
}

type Wanted = Pick<ConfigInput, 'events' | 'prefix' | 'suffix'> & { readonly configId: string }

function queueIn(queue: ReadElement): Wanted {
  takeOnly(queue, ['Id', 'Queue', 'Event', 'Filter'])
  const configId = WEBHOOK.exec(queue.needed('Queue').text.trim())?.[1]
  if (configId === undefined) throw noTarget(QUEUE, 'SQS')
  const events = textsOf(queue, 'Event').map((name) => {
    const type = EVENTS[name]
    if (type !== undefined) return type
    throw new S3Fault(
      'NotImplemented',
      `The event "${name.slice(0, 80)}" is not supported by itself: webhooks take ${Object.keys(EVENTS).join(', ')}`,
    )
  })
  return { configId, events, ...filterIn(queue.child('Filter')) }
}

function filterIn(filter: ReadElement | null): Pick<Wanted, 'prefix' | 'suffix'> {
  if (filter === null) return {}
  takeOnly(filter, ['S3Key'])
  const key = filter.child('S3Key')
  if (key === null) return {}
  takeOnly(key, ['FilterRule'])
  const rules = key.children.map((rule) => {
    takeOnly(rule, ['Name', 'Value'])
    // SDKs write the names in either case.
    const name = rule.needed('Name').text.trim().toLowerCase()
    if (name !== 'prefix' && name !== 'suffix') oneOf(rule, 'Name', ['prefix', 'suffix'])
    return [name, rule.needed('Value').text] as const
  })
  return Object.fromEntries(rules)
}

function noTarget(name: string, service: string): S3Fault {
  return new S3Fault(
    'NotImplemented',
    `${name} is not supported: there is no ${service} here; webhooks are made by the native API`,
  )
}
