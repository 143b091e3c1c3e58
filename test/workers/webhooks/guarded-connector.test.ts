/**
 * Where a webhook may lead: every range by itself, names that resolve inside, and names that change their mind.
 */
import https from 'node:https'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { isPublicAddress } from '../../../src/operations/notifications/public-address.ts'
import {
  NOT_REACHABLE,
  addressesOf,
  type Resolve,
  systemResolve,
} from '../../../src/workers/webhooks/guarded-connector.ts'
import { WebhookSender } from '../../../src/workers/webhooks/webhook-sender.ts'
import { opensslVersion, TestAuthority } from '../../transport/test-certificates.ts'
import { openTo } from './open-origins.ts'
import { Receiver } from './receiver.ts'

const POST = { tenantId: 'acme', headers: {}, body: '{}' }

function senderFor(
  t: Test,
  resolve: Resolve,
  allowOrigins: readonly string[] = [],
  ca?: string,
): WebhookSender {
  const guard = { resolve, allowOrigins: allowOrigins.map(openTo()), now: Date.now, timeoutMs: 10_000 }
  const sender = new WebhookSender(ca === undefined ? guard : { ...guard, ca })
  t.teardown(() => sender.close())
  return sender
}

t.test('isPublicAddress knows the first and the last address of every range', async (t) => {
  const refused = `
    0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 100.100.100.200 127.0.0.1 127.255.255.255
    169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.192 192.0.2.1 192.31.196.1
    192.52.193.1 192.88.99.1 192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.9
    224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16
    :: ::1 ::127.0.0.1 ::ffff:8.8.8.8 ::ffff:127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::8.8.8.8 64:ff9b::a00:1 64:ff9b:1::1 100::1
    2001::1 2001:1::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:808:808::1 2002:7f00:1::1 2620:4f:8000::1 3fff::1
    4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 2606:4700::1%eth0 fec0::1 ff02::1 ff0e::1`
  for (const address of refused.trim().split(/\s+/)) t.notOk(isPublicAddress(address), address)
  const taken = `
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
    169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
    223.255.255.255 168.63.129.15 2001:200::1 2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450::1 2620:4f:8001::1`
  for (const address of taken.trim().split(/\s+/)) t.ok(isPublicAddress(address), address)
  for (const text of ['', 'localhost', '127.1', '0x7f000001', '2130706433', '1.1.1.1 ', '[::1]', '::g'])
    t.notOk(isPublicAddress(text), `"${text}" is no address`)
})

t.test('one address of a name that is not public refuses it [notifications.guard]', async (t) => {
  const url = new URL('https://hooks.example/a')
  const ask = (...addresses: string[]) => addressesOf(url, { resolve: async () => addresses }, false)
  t.same(await ask('1.1.1.1', '2606:4700::1'), ['1.1.1.1', '2606:4700::1'])
  for (const inside of [
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    'fd00:ec2::254',
    '::ffff:1.1.1.1',
    'nonsense',
  ])
    await t.rejects(ask('1.1.1.1', inside), { message: /not public/ }, inside)
  await t.rejects(ask(), { message: NOT_REACHABLE })
  const many = Array.from({ length: 9 }, (_, n) => `1.1.1.${n}`)
  t.same(await ask(...many), many.slice(0, 3), 'no more are tried')
  const literal = (text: string, mayBeInside = false) =>
    addressesOf(new URL(text), { resolve: async () => ['1.1.1.1'] }, mayBeInside)
  for (const text of [
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:a00:1]/',
  ])
    await t.rejects(literal(text), { message: /not public/ }, text)
  t.same(await literal('http://127.0.0.1:80/', true), ['127.0.0.1'])
})

t.test('a name that leads inside is refused before a socket is opened', async (t) => {
  const receiver = await Receiver.start(t)
  const url = `http://hooks.example:${receiver.port}/`
  const inside: Resolve = async () => ['127.0.0.1']
  const error = NOT_REACHABLE
  t.match(await senderFor(t, inside).post({ url, ...POST }), { status: null, error })
  t.match(
    await senderFor(t, inside).post({ url: receiver.url, ...POST }),
    { status: null, error },
    'a literal too',
  )
  t.same(receiver.received, [])
  const allowed = senderFor(t, inside, [`http://hooks.example:${receiver.port}`])
  t.match(await allowed.post({ url, ...POST }), { status: 204, error: null })
  t.equal(receiver.received[0]?.headers.host, `hooks.example:${receiver.port}`, 'by its own name')
})

t.test(
  'a name that rebinds: no second answer is asked for or believed [notifications.guard.rebinding]',
  async (t) => {
    const receiver = await Receiver.start(t)
    let asked = 0
    // TEST-NET would be refused; at a public address no server listens at this port, or nothing is routed there.
    const rebinding: Resolve = async () => (++asked % 2 === 1 ? ['1.1.1.1'] : ['127.0.0.1'])
    const url = `http://rebind.example:${receiver.port}/`
    const addresses = await addressesOf(new URL(url), { resolve: rebinding }, false)
    t.same(addresses, ['1.1.1.1'])
    const sender = senderFor(t, rebinding)
    t.match(
      await sender.post({ url, ...POST }),
      { error: /not public/ },
      'the answer that leads inside is refused',
    )
    const counted: string[][] = []
    const turning: Resolve = async () => {
      const answer = counted.length === 0 ? ['127.0.0.1'] : ['127.0.0.2']
      counted.push(answer)
      return answer
    }
    const pinned = senderFor(t, turning, [`http://rebind.example:${receiver.port}`])
    t.match(await pinned.post({ url, ...POST }), { status: 204 })
    t.equal(counted.length, 1, 'one question for one connection, and its answer is where the socket went')
    t.equal(receiver.received.length, 1)
  },
)

t.test('the next address is tried when one does not answer', async (t) => {
  const receiver = await Receiver.start(t)
  const origin = `http://two.example:${receiver.port}`
  const sender = senderFor(t, async () => ['::1', '127.0.0.1'], [origin])
  t.match(await sender.post({ url: origin, ...POST }), { status: 204 })
})

t.test('a failure of the name server is a failure of the attempt', async (t) => {
  const failing: Resolve = async () => {
    throw Object.assign(new Error('queryA ENOTFOUND hooks.example'), { code: 'ENOTFOUND' })
  }
  const said = await senderFor(t, failing).post({ url: 'https://hooks.example/', ...POST })
  t.match(said, { status: null, error: NOT_REACHABLE }, 'as for a name that leads inside')
  t.same(await systemResolve()('localhost'), ['127.0.0.1', '::1'])
  t.same(await systemResolve()('a.localhost.'), ['127.0.0.1', '::1'])
})

t.test('the certificate is that of the name, though the socket goes to an address', async (t) => {
  if (opensslVersion() === null) return t.pass('no openssl here')
  const authority = new TestAuthority(t, 'hooks')
  const files = authority.issue({ commonName: 'hooks', san: 'DNS:hooks.example' })
  const [cert, key, ca] = [files.cert, files.key, files.ca].map((path) => readFileSync(path, 'utf8'))
  const server = https.createServer({ cert, key }, (_, response) => void response.writeHead(204).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close())
  const { port } = server.address() as AddressInfo
  const [right, wrong] = [`https://hooks.example:${port}`, `https://other.example:${port}`]
  const sender = senderFor(t, async () => ['127.0.0.1'], [right, wrong], ca)
  t.match(await sender.post({ url: right, ...POST }), { status: 204, error: null })
  t.match(await sender.post({ url: wrong, ...POST }), { error: 'failed: ERR_TLS_CERT_ALTNAME_INVALID' })
  const untrusting = senderFor(t, async () => ['127.0.0.1'], [right])
  t.match(await untrusting.post({ url: right, ...POST }), { status: null, error: /^failed: / })
})
