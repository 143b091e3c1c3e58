/**
 * Whose address a request has: headers of proxies, read from the right, and only from those that are trusted. [RFC 7239 8.1]
 */
import t, { type Test } from 'tap'
import { networkOf } from '../../../src/base/network-address.ts'
import { bareAddress, hopsOfForwarded, hopsOfForwardedFor } from '../../../src/api/admission/forwarded-for.ts'
import { ApiWorld } from '../api-world.ts'

/** The address that the audit row of a refused request names. */
async function seenBy(world: ApiWorld, headers: Record<string, string | string[]>): Promise<unknown> {
  const { headers: answered } = await world.send({ path: '/api/v1/buckets', headers })
  const row = world.memory.auditRows.find(({ requestId }) => requestId === answered['x-request-id'])
  return row?.sourceIp
}

t.test('a client that is no trusted proxy names no address', async (t) => {
  const world = await ApiWorld.start(t, { trustedProxies: ['192.0.2.0/24'] })
  t.equal(await seenBy(world, { 'x-forwarded-for': '198.51.100.7' }), '127.0.0.1')
  t.equal(await seenBy(world, { forwarded: 'for=198.51.100.7' }), '127.0.0.1')
})

t.test('a trusted proxy is believed about the hop before it', async (t) => {
  const world = await ApiWorld.start(t, { trustedProxies: ['127.0.0.1', '192.0.2.0/24', '2001:db8:1::/48'] })
  const cases: readonly (readonly [string, Record<string, string | string[]>, string])[] = [
    ['no header', {}, '127.0.0.1'],
    ['one hop', { 'x-forwarded-for': '198.51.100.7' }, '198.51.100.7'],
    ['what the client wrote is left of it', { 'x-forwarded-for': '10.9.9.9, 198.51.100.7' }, '198.51.100.7'],
    ['through two proxies', { 'x-forwarded-for': '10.9.9.9, 198.51.100.7, 192.0.2.3' }, '198.51.100.7'],
    ['in two lines', { 'x-forwarded-for': ['10.9.9.9, 198.51.100.7', '192.0.2.3'] }, '198.51.100.7'],
    ['all are trusted', { 'x-forwarded-for': '192.0.2.4, 192.0.2.3' }, '192.0.2.4'],
    ['not an address', { 'x-forwarded-for': '198.51.100.7, unknown' }, '127.0.0.1'],
    ['hidden behind a trusted one', { 'x-forwarded-for': '198.51.100.7, _x, 192.0.2.3' }, '192.0.2.3'],
    ['a port', { 'x-forwarded-for': '198.51.100.7:4711' }, '198.51.100.7'],
    ['IPv6', { 'x-forwarded-for': '2001:DB8:2::7, [2001:db8:1::9]:80' }, '2001:db8:2::7'],
    ['IPv4 as IPv6', { 'x-forwarded-for': '::ffff:198.51.100.7' }, '198.51.100.7'],
    ['IPv4 as IPv6, in hex', { 'x-forwarded-for': '0:0::FFFF:c633:6407' }, '198.51.100.7'],
    ['Forwarded', { forwarded: 'for=10.9.9.9, for=198.51.100.7;proto=https;by=_a' }, '198.51.100.7'],
    [
      'Forwarded, quoted',
      { forwarded: 'For="[2001:db8:2::7]:4711", for="[2001:db8:1::9]"' },
      '2001:db8:2::7',
    ],
    ['Forwarded without for', { forwarded: 'for=198.51.100.7, proto=https' }, '127.0.0.1'],
    ['Forwarded, broken', { forwarded: 'for=198.51.100.7, for="198.51.100.8' }, '127.0.0.1'],
    [
      'both headers, one client',
      { forwarded: 'for=198.51.100.7', 'x-forwarded-for': '198.51.100.7' },
      '198.51.100.7',
    ],
  ]
  for (const [name, headers, expected] of cases) t.equal(await seenBy(world, headers), expected, name)
})

t.test(
  'a header that the proxy left in place does not choose the client [errors.invalid_request]',
  async (t) => {
    const world = await ApiWorld.start(t, { trustedProxies: ['127.0.0.1'] })
    const headers = { forwarded: 'for=10.1.1.1', 'x-forwarded-for': '198.51.100.7' }
    const answer = await world.send({ path: '/healthz', headers })
    t.match(answer, { status: 400, code: 'invalid_request', json: { message: /name different clients/ } })
  },
)

t.test('a bucket policy sees the client and not the proxy', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t, { trustedProxies: ['127.0.0.1'] })
  const admin = await world.memory.adminToken('owner')
  const denied = {
    Effect: 'Deny',
    Principal: '*',
    Action: 's3:*',
    Resource: ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*'],
    Condition: { IpAddress: { 'aws:SourceIp': '198.51.100.0/24' } },
  }
  const set = await world.send({
    admin: true,
    method: 'PUT',
    path: '/admin/api/v1/tenants/acme/buckets/photos/policy',
    token: admin,
    body: { Version: '2012-10-17', Statement: [denied] },
  })
  t.equal(set.status, 200, set.bytes.toString())
  const list = (address: string): Promise<{ status: number }> =>
    world.call({ path: '/api/v1/buckets/photos/objects', token, headers: { 'x-forwarded-for': address } })
  t.match(await list('203.0.113.9'), { status: 200 })
  t.match(await list('198.51.100.7'), { status: 403 })
  t.match(await list('198.51.100.7, 203.0.113.9'), { status: 200 }, 'the right one counts')
})

t.test('bareAddress takes addresses and nothing else', async (t: Test) => {
  for (const text of [
    '',
    'unknown',
    '_x',
    '1.2.3',
    '1.2.3.4:x',
    '[1.2.3.4]',
    '[::1',
    '::1]',
    '1.2.3.4 ',
    'a.b',
  ])
    t.equal(bareAddress(text), null, text)
  t.equal(bareAddress('fe80::1%eth0'), 'fe80::1')
})

t.test('headers of any length and form are read in bounds', async (t) => {
  t.equal(hopsOfForwardedFor('1.2.3.4,'.repeat(5000)).length, 32)
  t.equal(hopsOfForwarded('for=1.2.3.4,'.repeat(1000)).length, 32)
  for (const broken of ['=', ';', ',', 'for', 'for=', 'for=a b', 'for=1.2.3.4;for=1.2.3.5', '"', 'for="a\\'])
    t.equal(hopsOfForwarded(broken).at(-1), null, broken)
})

t.test('limits count IPv6 by the first 64 bits', async (t) => {
  const same = ['2001:db8:0:7::1', '2001:db8::7:ffff:0:0:1', '2001:0db8:0000:0007:1:2:3:4', '2001:db8:0:7::9']
  t.same(new Set(same.map(networkOf)), new Set(['2001:db8:0:7::/64']))
  t.equal(networkOf('::1'), '0:0:0:0::/64')
  t.equal(networkOf('1::'), '1:0:0:0::/64')
  t.equal(networkOf('203.0.113.9'), '203.0.113.9')
})
