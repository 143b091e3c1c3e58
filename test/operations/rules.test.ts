/**
 * Small rules of the operations that need no socket: names, expiries, paging tokens.
 */
import fc from 'fast-check'
import t from 'tap'
import { keyExpiry } from '../../src/operations/access-keys/key-expiry.ts'
import { bucketNameFault } from '../../src/operations/buckets/bucket-name.ts'
import { openContinuationToken, sealContinuationToken } from '../../src/operations/base/continuation-token.ts'
import { putObject } from '../../src/operations/objects/put-object.ts'
import { checkObjectKey } from '../../src/operations/objects/object-key.ts'
import { clampPageSize } from '../../src/operations/base/page-size.ts'
import { isTenantId, tenantIdFromName } from '../../src/operations/tenants/tenant-id.ts'
import type { Content } from '../../src/content/content.ts'
import { inPieces } from '../helpers/content-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

t.test('bucketNameFault [buckets.create.name]', async (t) => {
  for (const name of ['abc', 'a-b', 'a.b', '1.2.3', '0a0', 'x'.repeat(63), 'a.b-c.d'])
    t.equal(bucketNameFault(name), null, name)
  for (const name of [
    '',
    'ab',
    'x'.repeat(64),
    'aBc',
    'a_b',
    '.ab',
    'ab.',
    '-ab',
    'ab-',
    'a..b',
    '1.2.3.4',
    'xn--a',
    'a\nb',
    'abc\n',
  ]) {
    t.type(bucketNameFault(name), 'string', JSON.stringify(name))
  }
})

t.test('tenant ids', async (t) => {
  t.equal(tenantIdFromName('Acme Inc.'), 'acme-inc')
  t.equal(tenantIdFromName('  Crème -- Brûlée! '), 'creme-brulee')
  t.notOk(isTenantId('abc\n'))
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const id = tenantIdFromName(name)
      return id.length < 2 || isTenantId(id)
    }),
  )
})

t.test('keyExpiry', async (t) => {
  const now = Date.parse('2026-06-01T12:00:00Z')
  t.equal(keyExpiry('2026-06-02', now), Date.parse('2026-06-02T00:00:00Z'))
  t.equal(keyExpiry('2026-06-01t12:00:00.001z', now), now + 1)
  t.equal(keyExpiry('2026-06-01T14:00:00.5+01:00', now), now + 3_600_500)
  t.equal(keyExpiry('2028-02-29', now), Date.parse('2028-02-29T00:00:00Z'))
  for (const text of [
    '2026-06-01',
    '2026-06-01T12:00:00Z',
    '2027-02-29',
    '2027-13-01',
    '2027-1-1',
    '2027-01-01 00:00:00Z',
    '1e9',
    '2027-01-01T00:00Z',
    '2027-01-01T24:00:01Z',
    '',
  ]) {
    t.throws(() => keyExpiry(text, now), { code: 'invalid_request' }, text)
  }
})

t.test('checkObjectKey [limits.key]', async (t) => {
  for (const key of ['a', '\u{1F600}'.repeat(256), '/', '..', '\n']) t.equal(checkObjectKey(key), key)
  for (const key of ['', 'k'.repeat(1025), '\u{1F600}'.repeat(256) + 'a', 'a\0b', '\ud800', 'a\udc00b']) {
    t.throws(() => checkObjectKey(key), { code: 'invalid_key' })
  }
})

t.test('clampPageSize [limits.max-keys]', async (t) => {
  t.same([undefined, 0, -1, 1, 999, 1000, 1001].map(clampPageSize), [1000, 1, 1, 1, 999, 1000, 1000])
})

t.test('continuation tokens', async (t) => {
  const { services } = await MemoryServices.start(t)
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string({ unit: 'grapheme', minLength: 1 }), (context, position) => {
      const token = sealContinuationToken(services, context, position)
      return openContinuationToken(services, context, token) === position
    }),
    { numRuns: 50 },
  )
  const token = sealContinuationToken(services, ['list', 'a', 'bc'], 'x')
  t.throws(() => openContinuationToken(services, ['list', 'ab', 'c'], token), {
    code: 'invalid_continuation_token',
  })
  t.throws(() => openContinuationToken(services, ['list', 'a', 'bc', ''], token), {
    code: 'invalid_continuation_token',
  })
})

t.test('[RFC 4648 3.5] a token is accepted in one spelling only', async (t) => {
  const { services } = await MemoryServices.start(t)
  const token = sealContinuationToken(services, [], 'x')
  const bytes = Buffer.from(token, 'base64url')
  const spelledOtherwise = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    .split('')
    .map((last) => token.slice(0, -1) + last)
    .filter((other) => other !== token && Buffer.from(other, 'base64url').equals(bytes))
  t.ok(spelledOtherwise.length > 0)
  for (const other of spelledOtherwise) {
    t.throws(() => openContinuationToken(services, [], other), { code: 'invalid_continuation_token' })
  }
})

t.test(
  'putObject commits nothing for a client that left while its last bytes were being placed',
  async (t) => {
    const memory = await MemoryServices.start(t)
    await memory.tenant('acme')
    await memory.services.propose({
      type: 'createBucket',
      tenantId: 'acme',
      name: 'photos',
      bucketsMax: 1,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    })
    const principal = memory.services.access.openBearer(`Bearer ${await memory.bearer('acme')}`)({
      address: '192.0.2.1',
      isSecure: false,
    })
    const client = new AbortController()
    const { content } = memory.services
    const leaving: Content = {
      read: content.read.bind(content),
      readAtHand: content.readAtHand.bind(content),
      customerSeal: content.customerSeal.bind(content),
      checkCustomerKey: content.checkCustomerKey.bind(content),
      ingest: async (request) => {
        const body = await content.ingest({ ...request, signal: new AbortController().signal })
        client.abort(new Error('gone'))
        return body
      },
    }
    const before = memory.proposals
    const upload = putObject({ ...memory.services, content: leaving }, principal, {
      bucket: 'photos',
      key: 'k',
      contentType: 'text/plain',
      metadata: {},
      tags: {},
      retention: null,
      legalHold: false,
      precondition: { ifMatch: null, ifNoneMatch: null },
      idempotencyKey: null,
      claimed: new Map(),
      expectedSize: 5,
      source: inPieces(Buffer.from('hello'), 5),
      signal: client.signal,
    })
    await t.rejects(upload, { message: 'gone' })
    t.equal(memory.proposals, before)
  },
)
