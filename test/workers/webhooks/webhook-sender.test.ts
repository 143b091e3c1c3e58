/**
 * One attempt against real receivers on loopback: good ones, and all that go wrong in ways of their own.
 */
import http from 'node:http'
import t, { type Test } from 'tap'
import { readRetryAfter, WebhookSender } from '../../../src/workers/webhooks/webhook-sender.ts'
import { openTo } from './open-origins.ts'
import { answer, rawReceiver, Receiver } from './receiver.ts'

const NOW = Date.UTC(2026, 10, 22)

function senderFor(t: Test, origins: readonly string[], timeoutMs = 10_000): WebhookSender {
  const sender = new WebhookSender({
    resolve: async () => [],
    allowOrigins: origins.map(openTo()),
    now: () => NOW,
    timeoutMs,
  })
  t.teardown(() => sender.close())
  return sender
}

const POST = { tenantId: 'acme', headers: { 'webhook-id': 'evt_1' }, body: '{"a":1}' }

t.test('sends a POST with the body as it is, and any 2xx is taken [notifications.ok]', async (t) => {
  const receiver = await Receiver.start(t)
  const sender = senderFor(t, [receiver.origin])
  for (const status of [200, 201, 204, 299]) {
    receiver.manner = answer(status)
    t.match(await sender.post({ url: receiver.url, ...POST }), { status, error: null, retryAfterMs: null })
  }
  t.match(receiver.received[0], {
    url: '/hook',
    headers: { 'content-type': 'application/json', 'user-agent': 'svc-webhook/1', 'webhook-id': 'evt_1' },
    body: '{"a":1}',
  })
})

t.test('a redirect is a failure and leads nowhere [notifications.redirect]', async (t) => {
  const target = await Receiver.start(t)
  const receiver = await Receiver.start(t, answer(302, { location: target.url }))
  const sender = senderFor(t, [receiver.origin, target.origin])
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.manner = answer(status, { location: target.url })
    const error = `status ${status}: redirects are not followed`
    t.match(await sender.post({ url: receiver.url, ...POST }), { status, error })
  }
  t.same(target.received, [])
})

t.test('a status that is none of these is a failure, and only 429 and 503 may ask for a pause', async (t) => {
  const receiver = await Receiver.start(t)
  const sender = senderFor(t, [receiver.origin])
  for (const [status, retryAfterMs] of [
    [400, null],
    [404, null],
    [410, null],
    [429, 7000],
    [500, null],
    [503, 7000],
  ] as const) {
    receiver.manner = answer(status, { 'retry-after': '7' })
    t.match(await sender.post({ url: receiver.url, ...POST }), {
      status,
      error: `status ${status}`,
      retryAfterMs,
    })
  }
})

t.test('readRetryAfter reads seconds and dates, and nothing else', async (t) => {
  const date = new Date(NOW + 90_000).toUTCString()
  const table = [
    ['7', 7000],
    ['0', 0],
    [date, 90_000],
    [new Date(NOW - 90_000).toUTCString(), 0],
    ['soon', null],
    ['-1', null],
    ['9999999999999', null],
    [undefined, null],
    [['1', '2'], null],
  ] as const
  for (const [text, ms] of table) t.equal(readRetryAfter(text as string | undefined, NOW), ms, String(text))
})

t.test(
  'a receiver that never answers is given up after the time limit [notifications.timeout]',
  async (t) => {
    const receiver = await Receiver.start(t, () => undefined)
    const sender = senderFor(t, [receiver.origin], 100)
    t.match(await sender.post({ url: receiver.url, ...POST }), {
      status: null,
      error: 'no answer within 0.1 s',
    })
  },
)

t.test('half an answer is none, however slowly it drips', async (t) => {
  const origin = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const drip = setInterval(() => socket.write('x-drop: 1\r\n'), 5)
    socket.on('close', () => clearInterval(drip))
  })
  const sender = senderFor(t, [origin], 150)
  const { status } = await sender.post({ url: origin, ...POST })
  t.equal(status, null)
})

t.test('what becomes of the body of an answer changes nothing', async (t) => {
  const lies: Readonly<Record<string, (socket: import('node:net').Socket) => void>> = {
    'more than announced': (socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nmore than two'),
    'less than announced': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nless'),
    'no end': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const piece = `2000\r\n${'x'.repeat(8192)}\r\n`
      const more = (): void => {
        if (!socket.destroyed) socket.write(piece, () => setImmediate(more))
      }
      more()
    },
    'a reset': (socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nless', () => socket.resetAndDestroy()),
  }
  for (const [name, lie] of Object.entries(lies)) {
    let ended = 0
    const origin = await rawReceiver(t, (socket) => {
      socket.on('close', () => ended++)
      socket.once('data', () => lie(socket))
    })
    // Longer than this test may take: an endless body must end sooner.
    const sender = senderFor(t, [origin], 600_000)
    t.match(await sender.post({ url: origin, ...POST }), { status: 200, error: null }, name)
    if (name === 'no end') t.equal(ended <= 1, true, 'an endless body is broken off')
  }
})

t.test('a failure below HTTP is described in a few words of our own', async (t) => {
  const reset = await rawReceiver(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  const close = await rawReceiver(t, (socket) => socket.once('data', () => socket.end()))
  const noise = await rawReceiver(t, (socket) =>
    socket.once('data', () => socket.end('SECRET inside\r\n\r\n')),
  )
  const huge = await rawReceiver(t, (socket) =>
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`)),
  )
  const gone = await new Promise<string>((resolve) => {
    const server = http.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(`http://127.0.0.1:${port}`))
    })
  })
  const sender = senderFor(t, [reset, close, noise, huge, gone])
  const said = async (url: string) => (await sender.post({ url, ...POST })).error
  t.match(await said(reset), /^connection (reset|closed before an answer came)$/)
  t.equal(await said(close), 'connection closed before an answer came')
  t.equal(await said(noise), 'the answer is no HTTP/1.1')
  t.match(await said(huge), /^failed: /)
  t.equal(await said(gone), 'connection refused')
})

t.test('close breaks off what is under way', async (t) => {
  const receiver = await Receiver.start(t, () => void sender.close())
  const sender = senderFor(t, [receiver.origin])
  t.match(await sender.post({ url: receiver.url, ...POST }), { status: null })
})
