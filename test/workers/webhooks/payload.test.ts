/** What receivers read, member by member. */
import t from 'tap'
import type { DeliveryRecord } from '../../../src/state-machine/events/records.ts'
import { payloadOf } from '../../../src/workers/webhooks/payload.ts'

const HOOK = { id: 'thumbs', tenantId: 'acme', bucket: 'photos', payloadFormat: 'native' } as const
const DELIVERY: DeliveryRecord = {
  eventId: '01JE000000000000041300000A',
  hookId: 'A'.repeat(16),
  type: 'object-created',
  eventName: 's3:ObjectCreated:Put',
  time: Date.UTC(2026, 10, 20, 2, 5, 22, 12),
  key: 'in/red flower+1é.jpg',
  versionId: '01JE0000000000000000000000',
  size: 12_345,
  etag: 'abc-1',
  contentType: 'image/jpeg',
  actor: { type: 'accessKey', id: 'AK7Q', role: null },
  requestId: 'r-1',
  sourceIp: '203.0.113.9',
  status: 'pending',
  attempts: 0,
  dueAt: 0,
  settledAt: null,
  lastAttempt: null,
}

const read = (delivery: DeliveryRecord, payloadFormat: 'native' | 's3' = 'native'): unknown =>
  JSON.parse(payloadOf({ ...HOOK, payloadFormat }, delivery))

t.test('native: type, timestamp, and all there is to say [notifications.payload]', async (t) => {
  t.strictSame(read(DELIVERY), {
    type: 'object-created',
    timestamp: '2026-11-20T02:05:22.012Z',
    data: {
      eventName: 's3:ObjectCreated:Put',
      configId: 'thumbs',
      tenantId: 'acme',
      bucket: 'photos',
      key: 'in/red flower+1é.jpg',
      versionId: '01JE0000000000000000000000',
      size: 12_345,
      etag: 'abc-1',
      contentType: 'image/jpeg',
      sequencer: '000000041300000A',
      actor: { type: 'accessKey', id: 'AK7Q' },
      requestId: 'r-1',
      sourceIp: '203.0.113.9',
    },
  })
})

t.test('what there is not is left out', async (t) => {
  const nothing = { key: null, versionId: null, size: null, etag: null, contentType: null }
  const actor = { type: 'system', id: null, role: null } as const
  const bare = { ...DELIVERY, ...nothing, actor, requestId: null, sourceIp: null }
  t.strictSame(read({ ...bare, type: 'test', eventName: 's3:TestEvent' }), {
    type: 'test',
    timestamp: '2026-11-20T02:05:22.012Z',
    data: {
      eventName: 's3:TestEvent',
      configId: 'thumbs',
      tenantId: 'acme',
      bucket: 'photos',
      sequencer: '000000041300000A',
      actor: { type: 'system' },
    },
  })
  t.strictSame((read(bare, 's3') as { Records: { s3: object }[] }).Records[0]?.s3, {
    s3SchemaVersion: '1.0',
    configurationId: 'thumbs',
    bucket: { name: 'photos', ownerIdentity: { principalId: 'acme' }, arn: 'arn:aws:s3:::photos' },
  })
})

t.test('s3: the record of S3, its key encoded as in a form [notifications.payload.s3]', async (t) => {
  t.strictSame(read(DELIVERY, 's3'), {
    Records: [
      {
        eventVersion: '2.1',
        eventSource: 'holdfast:s3',
        awsRegion: '',
        eventTime: '2026-11-20T02:05:22.012Z',
        eventName: 'ObjectCreated:Put',
        userIdentity: { principalId: 'AK7Q' },
        requestParameters: { sourceIPAddress: '203.0.113.9' },
        responseElements: { 'x-amz-request-id': 'r-1' },
        s3: {
          s3SchemaVersion: '1.0',
          configurationId: 'thumbs',
          bucket: { name: 'photos', ownerIdentity: { principalId: 'acme' }, arn: 'arn:aws:s3:::photos' },
          object: {
            key: 'in/red+flower%2B1%C3%A9.jpg',
            size: 12_345,
            eTag: 'abc-1',
            versionId: '01JE0000000000000000000000',
            sequencer: '000000041300000A',
          },
        },
      },
    ],
  })
})

t.test('is the same text at every attempt', async (t) => {
  const later = {
    ...DELIVERY,
    attempts: 3,
    dueAt: 9,
    lastAttempt: { at: 1, status: 500, error: 'x', durationMs: 1 },
  }
  t.equal(payloadOf(HOOK, later), payloadOf(HOOK, DELIVERY))
})
