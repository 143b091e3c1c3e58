/**
 * PeerTransport at its limits: silent peers, ports in use, addresses that need TLS, counters.
 */
import t from 'tap'
import { deferred } from '../helpers/async.ts'
import { PeerTransport } from '../../cluster/transport/peer-transport.ts'
import { PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { StartError } from '../../cluster/base/types.ts'
import { SILENT } from '../helpers/loggers.ts'
import { PeerBench, NOWHERE } from './benches.ts'
import { strangeServer } from './raw-peer.ts'
import { collect, pattern, rejection } from './streams.ts'

const EVENTS = { onMessages: () => {}, onUnreachable: () => {} }

t.test('PeerTransport', async (t) => {
  t.test('times out repeatedly on a peer that accepts connections and never answers', async (t) => {
    const bench = new PeerBench(t, { limits: { batchTimeoutMs: 20, callTimeoutMs: 20 } })
    let connections = 0
    const hole = await strangeServer(t, () => void connections++)
    const a = await bench.start('a')
    bench.addresses.set('b', hole)
    for (let round = 1; round <= 3; round++) {
      a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
      // Once for the connection, once for the batch on it.
      await bench.until(() => a.unreachable.length >= 2 * round)
    }
    t.ok((await rejection(a.transport.call('b', 'x', { header: null }))) instanceof PeerUnreachableError)
    t.ok(connections >= 4, 'no failed connection is used again')
    t.equal(bench.lines.filter(({ message }) => message === 'peer accepts no messages').length, 1)
    t.equal(a.transport.lastContact('b'), null)
  })

  t.test('aborts an answer that stops in the middle of its body', async (t) => {
    const bench = new PeerBench(t, { limits: { bodyIdleMs: 20 } })
    const a = await bench.start('a')
    const started = Buffer.concat([
      Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'),
      Buffer.from([0, 0, 0, 1, 0xc0, 1, 2]),
    ])
    bench.addresses.set(
      'b',
      await strangeServer(t, (socket) => socket.once('data', () => void socket.write(started))),
    )
    const { body } = await a.transport.call('b', 'x', { header: null })
    t.ok((await rejection(collect(body))) instanceof PeerUnreachableError)
  })

  t.test('holds a bounded number of calls to one peer', async (t) => {
    const bench = new PeerBench(t, { limits: { callsMax: 3, callConnectionsMax: 1 } })
    const gate = deferred()
    const a = await bench.start('a')
    await bench.start('b', { wait: () => gate.promise.then(() => ({ header: 'done' })) })
    const calls = [1, 2, 3].map(() => a.transport.call('b', 'wait', { header: null }))
    t.match(await rejection(a.transport.call('b', 'wait', { header: null })), {
      name: 'PeerUnreachableError',
      message: /waiting/,
    })
    gate.resolve()
    for (const call of calls) {
      const { header, body } = await call
      t.equal(header, 'done')
      await collect(body)
    }
  })

  t.test('uses a changed address of a peer with the next request', async (t) => {
    const bench = new PeerBench(t)
    const a = await bench.start('a')
    const first = await bench.start('b', { who: async () => ({ header: 1 }) })
    t.equal((await a.transport.call('b', 'who', { header: null })).header, 1)
    await first.transport.stop()
    await bench.start('b', { who: async () => ({ header: 2 }) })
    t.equal((await a.transport.call('b', 'who', { header: null })).header, 2)
  })

  t.test('calls itself without a socket', async (t) => {
    const bench = new PeerBench(t)
    const a = await bench.start('a', { own: async ({ from }) => ({ header: from, body: pattern(5) }) })
    bench.addresses.set('a', NOWHERE)
    const { header, body } = await a.transport.call('a', 'own', { header: null })
    t.equal(header, 'a')
    t.equal((await collect(body)).length, 5)
    t.strictSame(a.transport.metrics(), [])
  })

  t.test('counts the traffic with each peer', async (t) => {
    const bench = new PeerBench(t)
    const a = await bench.start('a')
    const b = await bench.start('b', { echo: async ({ body }) => ({ header: null, body }) })
    a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
    a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
    await bench.until(() => b.received.length === 2)
    await collect((await a.transport.call('b', 'echo', { header: null, body: pattern(100_000) })).body)
    const value = (transport: PeerTransport, name: string) =>
      transport.metrics().find((sample) => sample.name === name)?.value ?? -1
    t.match(a.transport.metrics()[0], { labels: { peer: 'b' }, kind: 'counter' })
    t.equal(value(a.transport, 'holdfast_peer_sent_messages_total'), 2)
    t.equal(value(b.transport, 'holdfast_peer_received_messages_total'), 2)
    for (const direction of ['sent', 'received'] as const) {
      const other = direction === 'sent' ? 'received' : 'sent'
      const bytes = value(a.transport, `holdfast_peer_${direction}_bytes_total`)
      t.ok(bytes > 100_000)
      t.equal(bytes, value(b.transport, `holdfast_peer_${other}_bytes_total`))
    }
    t.equal(value(a.transport, 'holdfast_peer_failures_total'), 0)
    for (const { transport } of [a, b]) t.ok(value(transport, 'holdfast_raft_peer_last_contact_seconds') >= 0)
  })

  t.test('stops with idle connections and ends hanging ones', async (t) => {
    const bench = new PeerBench(t)
    const a = await bench.start('a')
    const b = await bench.start('b', { ok: async () => ({ header: null }) })
    await collect((await a.transport.call('b', 'ok', { header: null })).body)
    await collect(
      (await b.transport.call('a', 'nothing', { header: null }).catch(() => ({ body: [] as never }))).body,
    )
    await b.transport.stop()
    await a.transport.stop()
    t.pass('both have ended')
  })
})

t.test('PeerTransport does not start', async (t) => {
  const bench = new PeerBench(t)
  const refusalOf = (make: () => unknown) => {
    try {
      make()
    } catch (err) {
      if (err instanceof StartError) return err
      throw err
    }
    throw new Error('a StartError was expected')
  }

  t.test('[peer_tls_required] without TLS on or towards an address that other machines reach', async (t) => {
    for (const listen of [
      '0.0.0.0:7400',
      '10.0.0.1:7400',
      '[::]:7400',
      'node1.example.net:7400',
      '128.0.0.1:1',
      '[::ffff:10.0.0.1]:1',
    ]) {
      const refused = refusalOf(() => bench.make('a', { listen }))
      t.equal(refused.code, 'peer_tls_required', listen)
      t.ok(refused.hint.length > 0)
      t.equal(
        refusalOf(() => bench.make('a', { addresses: new Map([['b', listen]]) })).code,
        'peer_tls_required',
        listen,
      )
    }
    for (const listen of ['127.0.0.1:0', '127.8.9.10:0', '[::1]:0', 'localhost:0'])
      t.ok(bench.make('a', { listen }), listen)
    const a = await bench.start('a')
    bench.addresses.set('b', '10.0.0.1:7400')
    t.ok((await rejection(a.transport.call('b', 'x', { header: null }))) instanceof PeerUnreachableError)
    a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
    t.match(
      bench.lines.filter(({ level }) => level === 'error'),
      [{ message: 'peer address cannot be used', fields: { err: { code: 'peer_tls_required' } } }],
      'a later address is refused too, but stops no node',
    )
    bench.addresses.set('b', NOWHERE)
  })

  t.test('[invalid_peer_address] with an address that is not host:port', async (t) => {
    for (const listen of ['127.0.0.1', ':80', '127.0.0.1:70000', '::1:80', 'http://127.0.0.1:80', '']) {
      t.equal(refusalOf(() => bench.make('a', { listen })).code, 'invalid_peer_address', listen)
    }
  })

  t.test('[address_in_use] on a port that another process holds', async (t) => {
    const holder = await bench.start('a')
    const second = bench.make('a', { listen: holder.transport.address })
    const failed = await rejection(second.start(EVENTS))
    t.match(failed, { name: 'StartError', code: 'address_in_use', hint: /Stop the process/ })
    t.match(failed.message, holder.transport.address)
    await second.stop()
  })

  t.test('[peer_listen_failed] on an address of another machine', async (t) => {
    // TEST-NET-1 belongs to no machine [RFC 5737 3]; the loopback rule would refuse it, so this test uses only the listener.
    const { PeerListener } = await import('../../cluster/transport/peer-listener.ts')
    const listener = new PeerListener({
      listen: '192.0.2.1:7400',
      tls: null,
      clock: bench.clock,
      logger: SILENT,
      onRequest: () => {},
      frames: null,
    })
    t.match(await rejection(listener.start()), { name: 'StartError', code: 'peer_listen_failed' })
    await listener.stop()
  })
})
