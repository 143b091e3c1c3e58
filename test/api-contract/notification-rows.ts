/**
 * The contract of bucket notifications: their configs, their events and the deliveries.
 */
export const notificationRows = {
  'notifications.get':
    'GET /buckets/{bucket}/notifications: the configs, hasSecret only [native: Buckets] [decisions 9]',
  'notifications.get.unset': 'an unset configuration is an empty list, never 404 [native: configuration]',
  'notifications.set':
    'PUT /buckets/{bucket}/notifications: 200 and all configs [native: Buckets] [decisions 0]',
  'notifications.clear': 'PUT of an empty list clears [native: States]',
  'notifications.delete': 'DELETE /buckets/{bucket}/notifications: 204, cleared [native: Buckets]',
  'notifications.has': 'hasNotifications of the bucket follows [decisions 2]',
  'notifications.defaults': 'every member of a config, and what each is when not given [decisions 9]',
  'notifications.secret.once': 'a new id gets a secret, shown only in that answer [native: Events 4]',
  'notifications.secret.kept': 'an update of the same id keeps the secret: hasSecret [native: configuration]',
  'notifications.secret.sealed': 'the secret is sealed at rest [native: Events 4]',
  'notifications.secret.rotation': 'a rotation of the master key seals it again [decisions 9]',
  'notifications.unsupported': 'sns, sqs, lambda and ARNs: 501 unsupported_target [native: Errors 501]',
  'notifications.event-types': 'none, or an unknown one: 400 invalid_event_type [decisions 9]',
  'notifications.invalid': 'any other fault: 400 invalid_request that says which [decisions 0]',
  'notifications.limit': '100 configs a bucket [decisions 7]',
  'notifications.bounds':
    'limits.notification_configs_per_tenant and _per_origin, over all buckets: 507 quota_exceeded, usage shows them [decisions 7]',
  'notifications.http': 'http:// only with notifications.allow_http [decisions 9]',
  'notifications.address':
    'an address that is not public only with notifications.allow_origins [decisions 9]',
  'notifications.scope': 'a key for a prefix may read configs and nothing else [decisions 14]',
  'notifications.rights': 'setting and clearing need write and read over the whole bucket [decisions 17]',
  'notifications.target-hidden':
    'a target URL is shown to keys with write over the whole bucket, to others its origin [decisions 17]',
  'notifications.ports':
    'ports 443 and 8443, others only with notifications.allow_ports or allow_origins [decisions 9]',
  'notifications.opened':
    'an entry of notifications.allow_origins with tenants and paths opens the origin to these alone, when a config is set and at every delivery [decisions 9]',
  'notifications.filters': 'events, prefix and suffix select the changes of a config [native: Events 2]',
  'notifications.events.names': 'every change is an event, eventName in the words of S3 [decisions 9]',
  'notifications.payload': 'type, timestamp and data with every member [decisions 9]',
  'notifications.payload.s3': 'payloadFormat s3: the record of S3 [decisions 9]',
  'notifications.signature': 'headers of Standard Webhooks 1.0, verified by its library [decisions 9]',
  'notifications.webhook-id': 'the same webhook-id at every attempt [decisions 9]',
  'notifications.same-entry': 'the outbox row is in the entry of the change: nothing is lost [decisions 9]',
  'notifications.timeout': 'no answer within the time limit is a failure [decisions 9]',
  'notifications.redirect': 'a redirect is not followed [decisions 9]',
  'notifications.ok': 'any 2xx is a success [decisions 9]',
  'notifications.gone': '410 disables [decisions 9]',
  'notifications.retry-after': '429 and 503: Retry-After is honoured, within a bound [decisions 9]',
  'notifications.schedule': 'ten attempts by the schedule with 20 % of jitter, then dead [decisions 9]',
  'notifications.suspended': 'suspended after 72 hours of only failures, with a reason [decisions 9]',
  'notifications.resume': 'PUT with enabled true resumes [decisions 9]',
  'notifications.isolation': 'a dead target starves no other one [decisions 9]',
  'notifications.guard': 'private, loopback, link-local, metadata refused on every connect [decisions 9]',
  'notifications.guard.rebinding': 'the checked address is the one connected to [decisions 9]',
  'notifications.deliveries':
    'GET /buckets/{bucket}/notifications/deliveries: by configId and status, newest first [decisions 9]',
  'notifications.redeliver':
    'POST /buckets/{bucket}/notifications/deliveries/{deliveryId}:redeliver: 202, once more [decisions 9]',
  'notifications.test':
    'POST /buckets/{bucket}/notifications/{configId}:test: 202, an event of type test [decisions 9]',
} as const
