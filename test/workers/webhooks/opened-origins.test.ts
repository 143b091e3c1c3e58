/**
 * Origins that an operator has opened for some tenants and paths: what is sent to them, over real sockets.
 */
import t, { type Test } from 'tap'
import { WebhookSender } from '../../../src/workers/webhooks/webhook-sender.ts'
import { NOT_REACHABLE } from '../../../src/workers/webhooks/guarded-connector.ts'
import { openTo } from './open-origins.ts'
import { answer, Receiver } from './receiver.ts'

const LIMITS = { tenants: ['acme'], paths: ['/hooks/acme'] }
const ACME = { tenantId: 'acme', headers: {}, body: '{}' }
const RIVAL = { ...ACME, tenantId: 'rival' }

function senderFor(t: Test, ...origins: readonly string[]): WebhookSender {
  const sender = new WebhookSender({
    resolve: async () => ['127.0.0.1'],
    allowOrigins: origins.map(openTo(LIMITS)),
    now: Date.now,
    timeoutMs: 10_000,
  })
  t.teardown(() => sender.close())
  return sender
}

const refused = { status: null, error: NOT_REACHABLE }

t.test('nothing is sent inside for another tenant, or to another path [notifications.opened]', async (t) => {
  const receiver = await Receiver.start(t)
  const named = `http://hooks.example:${receiver.port}`
  const sender = senderFor(t, receiver.origin, named)
  for (const origin of [receiver.origin, named]) {
    const url = `${origin}/hooks/acme`
    t.match(await sender.post({ ...RIVAL, url }), refused)
    for (const path of ['/hooks', '/hooks/acme2', '/hooks/acme/..%2fother', '/hooks/acme/../other'])
      t.match(await sender.post({ ...ACME, url: `${origin}${path}` }), refused, path)
    t.same(receiver.received, [])
    t.match(await sender.post({ ...ACME, url: `${url}/new?x=y` }), { status: 204, error: null })
    t.equal(receiver.received.splice(0)[0]?.url, '/hooks/acme/new?x=y')
  }
})

t.test('a connection that is open inside is not used for another tenant', async (t) => {
  const receiver = await Receiver.start(t)
  const sender = senderFor(t, receiver.origin)
  const url = `${receiver.origin}/hooks/acme`
  for (const round of ['first', 'again']) {
    t.match(await sender.post({ ...ACME, url }), { status: 204 }, round)
    t.match(await sender.post({ ...RIVAL, url }), refused, round)
    t.match(await sender.post({ ...ACME, url: `${receiver.origin}/other` }), refused, round)
  }
  t.equal(receiver.received.length, 2)
})

t.test('a redirect of an opened path to another one is not followed', async (t) => {
  const receiver = await Receiver.start(t, answer(307, { location: '/other' }))
  const sender = senderFor(t, receiver.origin)
  t.match(await sender.post({ ...ACME, url: `${receiver.origin}/hooks/acme` }), {
    status: 307,
    error: 'status 307: redirects are not followed',
  })
  t.same(
    receiver.received.map(({ url }) => url),
    ['/hooks/acme'],
  )
})
