/**
 * The payload of a delivery, in the form that its config names. [decisions 9]
 *
 * Rule: made only of rows, so that every attempt from any node sends the same payload.
 */
import type { DeliveryRecord, HookRecord } from '../../state-machine/events/records.ts'

type Target = Pick<HookRecord, 'id' | 'tenantId' | 'bucket' | 'payloadFormat'>

/** This many characters of an event id are the time, the rest the place in the log. */
const TIME_CHARACTERS = 10

export function payloadOf(hook: Target, delivery: DeliveryRecord): string {
  return JSON.stringify(
    hook.payloadFormat === 's3' ? s3Payload(hook, delivery) : nativePayload(hook, delivery),
  )
}

/** Later events of a key have a greater one, as text. */
function sequencerOf({ eventId }: DeliveryRecord): string {
  return eventId.slice(TIME_CHARACTERS)
}

function nativePayload({ id: configId, tenantId, bucket }: Target, delivery: DeliveryRecord): object {
  const { type, eventName, time, key, versionId, size, etag, contentType, requestId, sourceIp } = delivery
  const { type: actorType, id, session = null } = delivery.actor
  const data = {
    eventName,
    configId,
    tenantId,
    bucket,
    key,
    versionId,
    size,
    etag,
    contentType,
    sequencer: sequencerOf(delivery),
    actor: known({ type: actorType, id, session }),
    requestId,
    sourceIp,
  }
  return { type, timestamp: new Date(time).toISOString(), data: known(data) }
}

/** Without members that have no value. */
function known(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** The record that S3 sends, with the fields that are known. */
function s3Payload(hook: Target, delivery: DeliveryRecord): object {
  const { eventName, time, key, versionId, size, etag, requestId, sourceIp } = delivery
  const owner = { principalId: hook.tenantId }
  const object = { size, eTag: etag, versionId, sequencer: sequencerOf(delivery) }
  const record = {
    eventVersion: '2.1',
    eventSource: 'holdfast:s3',
    awsRegion: '',
    eventTime: new Date(time).toISOString(),
    eventName: eventName.replace(/^s3:/, ''),
    userIdentity: { principalId: delivery.actor.id ?? delivery.actor.type },
    requestParameters: { sourceIPAddress: sourceIp ?? '' },
    responseElements: { 'x-amz-request-id': requestId ?? '' },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: hook.id,
      bucket: { name: hook.bucket, ownerIdentity: owner, arn: `arn:aws:s3:::${hook.bucket}` },
      ...(key === null ? {} : { object: { key: formEncoded(key), ...known(object) } }),
    },
  }
  return { Records: [record] }
}

/** The encoding of forms except for slashes, as in the keys of S3 records. */
function formEncoded(key: string): string {
  return encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/')
}
