/**
 * PeerTransport over mutual TLS: which connections are accepted, which identities are proved, what is refused at start.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type ConnectionOptions } from 'node:tls'
import { request } from 'node:https'
import t, { type Test } from 'tap'
import { PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { StartError, type TlsFiles } from '../../cluster/base/types.ts'
import { PeerBench } from './benches.ts'
import { decodeHeader, encodeHeader, HEADER_LENGTH_BYTES } from '../../cluster/transport/frame.ts'
import { FITTING } from './raw-peer.ts'
import { collect, pattern, rejection } from './streams.ts'
import { opensslVersion, TestAuthority } from './test-certificates.ts'

const skip = opensslVersion() === null ? 'the openssl command is needed to make certificates' : false

async function startPair(t: Test, files: { readonly a: TlsFiles; readonly b: TlsFiles }) {
  const bench = new PeerBench(t)
  const handlers = {
    echo: async ({ from, body }: { from: string; body: AsyncIterable<Uint8Array> }) => ({
      header: from,
      body,
    }),
  }
  const a = await bench.run('a', bench.make('a', { tls: files.a }), handlers)
  const b = await bench.run('b', bench.make('b', { tls: files.b }), handlers)
  return { bench, a, b }
}

t.test('PeerTransport over TLS', { skip }, async (t) => {
  const authority = new TestAuthority(t, 'cluster')
  const byName = { a: authority.issue({ commonName: 'a' }), b: authority.issue({ commonName: 'b' }) }
  const bySan = {
    a: authority.issue({ commonName: 'node', san: 'DNS:a,DNS:localhost,IP:127.0.0.1' }),
    b: authority.issue({ commonName: 'node', san: 'DNS:localhost,DNS:b' }),
  }

  for (const [what, files] of Object.entries({ 'common name': byName, 'subject alternative name': bySan })) {
    t.test(`carries messages and calls between nodes named by their ${what}`, async (t) => {
      const { bench, a, b } = await startPair(t, files)
      a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
      b.transport.send({ type: 'TimeoutNow', from: 'b', to: 'a', term: 2 })
      await bench.until(() => a.received.length + b.received.length === 2)
      const { header, body } = await a.transport.call('b', 'echo', { header: null, body: pattern(2_000_000) })
      t.equal(header, 'a')
      t.ok((await collect(body)).equals(pattern(2_000_000)))
    })
  }

  t.test('refuses certificates of another authority, on both sides', async (t) => {
    const foreign = new TestAuthority(t, 'foreign')
    const { bench, a, b } = await startPair(t, { a: byName.a, b: foreign.issue({ commonName: 'b' }) })
    for (const [node, to] of [
      [a, 'b'],
      [b, 'a'],
    ] as const) {
      t.ok(
        (await rejection(node.transport.call(to, 'echo', { header: null }))) instanceof PeerUnreachableError,
      )
      node.transport.send({ type: 'TimeoutNow', from: to === 'b' ? 'a' : 'b', to, term: 1 })
      await bench.until(() => node.unreachable.length > 0)
    }
    t.strictSame([a.received, b.received], [[], []])
  })

  t.test('calls no node whose certificate names another node than the called one', async (t) => {
    const { bench, a, b } = await startPair(t, bySan)
    const c = await bench.run('c', bench.make('c', { tls: authority.issue({ commonName: 'c' }) }))
    bench.addresses.set('b', c.transport.address)
    const failed = await rejection(a.transport.call('b', 'echo', { header: null }))
    t.ok(failed instanceof PeerUnreachableError)
    t.match(failed.message, 'does not name that node')
    t.strictSame(b.received, [])
  })

  t.test('[wrong_certificate] refuses a member that claims to be another one', async (t) => {
    const { bench, a } = await startPair(t, bySan)
    const c = authority.issue({ commonName: 'c', san: 'DNS:*,DNS:c.b,DNS:bb' })
    bench.addresses.set('c', '127.0.0.1:1')
    const claim = (from: string, files: TlsFiles) =>
      askOverTls(a.transport.address, { ...FITTING, 'x-holdfast-from': from }, files)
    t.match(await claim('b', c), { status: 403, header: { code: 'wrong_certificate' } })
    t.match(await claim('c', c), { status: 200 })
    t.match(await claim('b', bySan.b), { status: 200 })
  })

  t.test('ends connections without a certificate, of old protocols and in plain text', async (t) => {
    const { a } = await startPair(t, bySan)
    const ca = readFileSync(authority.ca)
    const files = { cert: readFileSync(bySan.b.cert), key: readFileSync(bySan.b.key) }
    t.ok(await isRefused(a.transport.address, { ca }), 'no certificate')
    t.ok(await isRefused(a.transport.address, { ca, ...files, maxVersion: 'TLSv1.2' }), 'TLS 1.2')
    t.notOk(await isRefused(a.transport.address, { ca, ...files }))
    const plain = new PeerBench(t)
    plain.addresses.set('a', a.transport.address)
    const b = await plain.start('b')
    t.ok((await rejection(b.transport.call('a', 'echo', { header: null }))) instanceof PeerUnreachableError)
  })

  t.test('allows addresses that other machines reach', async (t) => {
    const bench = new PeerBench(t)
    t.ok(
      bench.make('a', {
        tls: byName.a,
        listen: '0.0.0.0:0',
        addresses: new Map([['b', 'b.example.net:7400']]),
      }),
    )
  })

  t.test('does not start with files that are missing, broken or of another node', async (t) => {
    const bench = new PeerBench(t)
    const broken = `${byName.a.cert}.broken`
    writeFileSync(broken, 'no certificate')
    const cases = {
      peer_tls_unreadable: { ...byName.a, key: '/nowhere/at/all.key' },
      peer_tls_invalid: { ...byName.a, cert: broken },
      peer_certificate_wrong_name: byName.b,
    }
    for (const [code, tls] of Object.entries(cases))
      t.equal(
        codeOf(() => bench.make('a', { tls })),
        code,
      )
    t.equal(
      codeOf(() => bench.make('a', { tls: { ...byName.a, key: byName.b.key } })),
      'peer_tls_invalid',
      'a key of another certificate',
    )
  })
})

function codeOf(make: () => unknown): string {
  try {
    make()
  } catch (err) {
    if (err instanceof StartError) return err.code
    throw err
  }
  return 'started'
}

async function askOverTls(
  address: string,
  headers: NodeJS.Dict<string | number | string[]>,
  files: TlsFiles,
) {
  const [host, port] = address.split(':')
  const tls = {
    ca: readFileSync(files.ca),
    cert: readFileSync(files.cert),
    key: readFileSync(files.key),
    checkServerIdentity: () => undefined,
  }
  return new Promise<{ status: number | undefined; header: unknown }>((resolve, reject) => {
    const asking = request(
      { host, port, ...tls, path: '/peer/v1/echo', method: 'POST', headers, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            header: decodeHeader(Buffer.concat(chunks).subarray(HEADER_LENGTH_BYTES)),
          }),
        )
      },
    )
    asking.on('error', reject)
    asking.end(encodeHeader(null))
  })
}

/** In TLS 1.3 the client finishes before the server has checked its certificate, so the test must wait for an answer. */
async function isRefused(address: string, options: ConnectionOptions): Promise<boolean> {
  const [host, port] = address.split(':')
  return new Promise((resolve) => {
    const socket = connect({
      host: host ?? '',
      port: Number(port),
      ...options,
      checkServerIdentity: () => undefined,
    })
    socket.on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'))
    socket.on('data', () => {
      resolve(false)
      socket.destroy()
    })
    socket.on('error', () => resolve(true))
    socket.on('close', () => resolve(true))
  })
}
