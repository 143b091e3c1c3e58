/**
 * A probe gets the same outcome as a node, and the peer learns nothing from it.
 */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type PeerProbeOptions, probePeer } from '../../cluster/transport/peer-probe.ts'
import { PeerBench, NOWHERE } from './benches.ts'
import { opensslVersion, TestAuthority } from './test-certificates.ts'

const LIMIT_MS = 10_000

function probe(address: string, change: Partial<PeerProbeOptions> = {}) {
  const signal = AbortSignal.timeout(LIMIT_MS)
  return probePeer({
    clusterId: 'test-cluster',
    from: 'b',
    to: 'a',
    address,
    tls: null,
    signal,
    ...change,
  })
}

t.test('probePeer', async (t) => {
  const bench = new PeerBench(t)
  const judged: unknown[] = []
  const { transport } = await bench.run(
    'a',
    bench.make('a', {
      judge: (claims) => {
        judged.push(claims)
        return null
      },
    }),
  )

  t.test('is accepted by a node of the cluster, which judges and counts nothing', async (t) => {
    const { date, ...verdict } = await probe(transport.address)
    t.same(verdict, { outcome: 'accepted', code: '', message: '' })
    t.ok(Math.abs(Date.parse(date ?? '') - Date.now()) < 60_000, 'and receives the time')
    t.same(judged, [], 'no status was claimed')
    t.equal(transport.lastContact('b'), null, 'and no contact was counted')
  })

  t.test('is refused for the reason for which a node would be', async (t) => {
    t.match(await probe(transport.address, { clusterId: 'other' }), {
      outcome: 'refused',
      code: 'foreign_cluster',
    })
    t.match(await probe(transport.address, { to: 'c' }), { outcome: 'refused', code: 'wrong_node' })
    t.match(await probe(transport.address, { from: 'z' }), { outcome: 'refused', code: 'unknown_member' })
  })

  t.test(
    'distinguishes an unused address from a server that is not a node, and waits no longer than its signal',
    async (t) => {
      t.match(await probe(NOWHERE), { outcome: 'unreachable', code: 'ECONNREFUSED', date: null })
      t.match(await probe(await strangeServer(t, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi')), {
        outcome: 'foreign',
      })
      const page = 'HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n<!DOCTYPE html>'
      t.match(await probe(await strangeServer(t, page)), { outcome: 'foreign', message: /are allowed/ })
      t.match(await probe(await strangeServer(t, 'SSH-2.0-OpenSSH\r\n')), { outcome: 'unreachable' })
      const abort = new AbortController()
      const silent = probe(await strangeServer(t, '', () => abort.abort()), { signal: abort.signal })
      t.match(await silent, { outcome: 'unreachable', code: 'ABORT_ERR' })
    },
  )
})

t.test('probePeer over TLS', { skip: opensslVersion() === null }, async (t) => {
  const authority = new TestAuthority(t, 'cluster')
  const issue = (commonName: string) => authority.issue({ commonName })
  const bench = new PeerBench(t)
  const { transport } = await bench.run('a', bench.make('a', { tls: issue('a') }))
  t.match(await probe(transport.address, { tls: issue('b') }), { outcome: 'accepted' })
  t.match(await probe(transport.address, { tls: authority.issue({ commonName: 'b', days: -1 }) }), {
    outcome: 'unreachable',
  })
  t.match(await probe(transport.address, { tls: issue('b'), to: 'c' }), {
    outcome: 'unreachable',
    message: /does not name that node/,
  })
  t.match(await probe(transport.address), { outcome: 'unreachable' }, 'plain TCP to a TLS listener')
})

/** Sends one answer to every request. */
async function strangeServer(t: Test, text: string, onAsked: () => void = () => undefined): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(text)
      onAsked()
    })
    t.teardown(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}
