/**
 * Which certificates the peer port accepts, what the log says about a refusal, and how certificates are
 * replaced while nodes run.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { connect, type ConnectionOptions } from 'node:tls'
import t, { type Test } from 'tap'
import { CertificateNameError } from '../../cluster/transport/certificate-identity.ts'
import { decodeHeader, encodeHeader, HEADER_LENGTH_BYTES } from '../../cluster/transport/frame.ts'
import type { TlsFiles } from '../../cluster/base/types.ts'
import { until } from '../helpers/async.ts'
import { PeerBench } from './benches.ts'
import { MadeCertificates, put } from './made-certificates.ts'
import { PatientClock } from './patient-clock.ts'
import { FITTING } from './raw-peer.ts'
import { rejection } from './streams.ts'

const handlers = { echo: async () => ({ header: 'answered' }) }

async function startNode(t: Test, tls: TlsFiles, nodeId = 'a', speaks: 'both' | 'http' = 'both') {
  const clock = new PatientClock()
  const bench = new PeerBench(t, { clock, speaks })
  const node = await bench.run(nodeId, bench.make(nodeId, { tls }), handlers)
  const { transport } = node
  return { bench, transport, clock, address: transport.address, lines: bench.lines }
}

interface Shown {
  readonly ca: string
  readonly cert?: string
  readonly key?: string
}

function optionsOf({ ca, cert, key }: Shown): ConnectionOptions {
  const own =
    cert === undefined || key === undefined ? {} : { cert: readFileSync(cert), key: readFileSync(key) }
  return { ca: readFileSync(ca), ...own, checkServerIdentity: () => undefined }
}

/** The code of the answer of node `a`; null: it closed the connection. */
async function answerTo(address: string, files: Shown, headers = FITTING): Promise<unknown> {
  const [host, port] = address.split(':')
  const all = {
    host,
    port,
    ...optionsOf(files),
    path: '/peer/v1/echo',
    method: 'POST',
    headers,
    agent: false,
  }
  return new Promise((resolve) => {
    const asking = request(all, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => void pieces.push(piece))
      response.on('end', () => {
        const header = decodeHeader(Buffer.concat(pieces).subarray(HEADER_LENGTH_BYTES))
        resolve(response.statusCode === 200 ? header : (header as { code: unknown }).code)
      })
    })
    asking.on('error', () => resolve(null))
    asking.end(encodeHeader(null))
  })
}

t.test('the peer port [tls.peers]', async (t) => {
  const made = new MadeCertificates(t)
  const { address, lines } = await startNode(t, made.issue('a'))
  const advised = (reason: string): Promise<void> =>
    until(`the log says that ${reason}`, () =>
      lines.some(({ level, message, fields }) => {
        const { reason: reported, hint } = fields as { reason?: string; hint?: string }
        return (
          level === 'warn' &&
          message === 'peer connection refused' &&
          reported === reason &&
          hint !== undefined
        )
      }),
    )

  await t.test('accepts the certificate of the claimed node', async (t) => {
    t.equal(await answerTo(address, made.issue('b')), 'answered')
  })
  await t.test(
    '[wrong_certificate] refuses the certificate of another node, even with the name among its hosts',
    async (t) => {
      t.equal(await answerTo(address, made.issue('c')), 'wrong_certificate')
      t.equal(await answerTo(address, made.issue('c', { hosts: ['b'] })), 'wrong_certificate')
      const reported = lines.filter(({ message }) => message === 'peer request refused')
      t.match(reported, [
        { level: 'warn', fields: { code: 'wrong_certificate', reason: /does not name node b .*issue one/ } },
      ])
    },
  )
  await t.test('[wrong_certificate] refuses a node of another cluster with the same authority', async (t) => {
    t.equal(await answerTo(address, made.issue('b', { clusterId: 'other-cluster' })), 'wrong_certificate')
  })
  await t.test('closes the connection for a certificate of another authority', async (t) => {
    const foreign = new MadeCertificates(t)
    t.equal(await answerTo(address, { ...foreign.issue('b'), ca: made.ca }), null)
    await advised('a certificate was issued by another authority')
  })
  await t.test('closes the connection for an expired certificate', async (t) => {
    t.equal(await answerTo(address, made.issue('b', { endedDaysAgo: 3 })), null)
    await advised('a certificate is expired or not valid yet')
  })
  await t.test('closes the connection without a certificate', async (t) => {
    t.equal(await answerTo(address, { ca: made.ca }), null)
    await advised('no certificate was presented')
  })
  await t.test('closes plain TCP connections', async () => {
    const [host, port] = address.split(':')
    await new Promise((resolve) => {
      const socket = connectPlain({ host: host ?? '', port: Number(port) }, () =>
        socket.write('POST /peer/v1/raft HTTP/1.1\r\nhost: a\r\n\r\n'),
      )
      socket
        .resume()
        .once('close', resolve)
        .on('error', () => undefined)
    })
    await advised('the other side does not speak TLS')
  })
  await t.test('closes TLS 1.2 connections', async (t) => {
    const { ca } = made
    const [host, port] = address.split(':')
    const failed = await new Promise((resolve) => {
      const old = { ...optionsOf(made.issue('b')), ca: readFileSync(ca), maxVersion: 'TLSv1.2' } as const
      const socket = connect({ host: host ?? '', port: Number(port), ...old }, () => resolve(null))
      socket.once('error', resolve)
    })
    t.type(failed, Error)
    await advised('the other side uses an older version of TLS')
  })
  await t.test('logs each reason for an address once a minute', async (t) => {
    const count = (): number => lines.filter(({ message }) => message === 'peer connection refused').length
    const before = count()
    for (let n = 0; n < 5; n++) await answerTo(address, { ca: made.ca })
    t.equal(await answerTo(address, made.issue('b')), 'answered')
    t.equal(count(), before)
  })
})

t.test('a node whose certificate peers refuse logs what to do', async (t) => {
  const made = new MadeCertificates(t)
  const { bench, transport, lines } = await startNode(t, made.issue('a'))
  const b = new MadeCertificates(t).issue('b')
  const refusedNode = await startNode(t, b, 'b')
  bench.addresses.set('b', refusedNode.address)
  const failed = await rejection(transport.call('b', 'echo', { header: null }))
  t.match(failed.message, /peer_tls\.ca must be the same on every node/)
  transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
  const logged = (): object | undefined =>
    lines.find(({ message }) => message === 'peer accepts no messages')?.fields
  await until('it is logged', () => logged() !== undefined)
  t.match(logged(), { err: { message: /peer_tls\.ca must be the same on every node/ } })
})

t.test('an answer carries the fingerprint of the certificate [membership.join.certificate]', async (t) => {
  for (const speaks of ['both', 'http'] as const) {
    t.test(`over ${speaks === 'both' ? 'frames' : 'HTTP'}`, async (t) => {
      const made = new MadeCertificates(t)
      const { bench, transport } = await startNode(t, made.issue('a'))
      const files = made.issue('b')
      const b = await startNode(t, files, 'b', speaks)
      bench.addresses.set('b', b.address)
      const first = new X509Certificate(readFileSync(files.cert)).fingerprint256
      const ask = () => transport.call('b', 'echo', { header: null })
      t.match(await ask(), { header: 'answered', certificate: first })
      t.equal(b.transport.fingerprint, first, 'the same as the node reports')
      put(files, made.pair('b'))
      b.clock.look()
      await until('the new one is in use', () => b.transport.fingerprint !== first)
      if (speaks === 'both') {
        const second = b.transport.fingerprint
        await until('the connection is a new one', async () => (await ask()).certificate === second)
        return
      }
      t.match(await ask(), { certificate: first }, 'the connection is the old one')
      await Promise.all([ask(), ask()])
      t.match(await ask(), { certificate: null }, 'two connections with different certificates prove nothing')
    })
  }
})

t.test('a certificate of another node is not reported as silence', async (t) => {
  const made = new MadeCertificates(t)
  const { bench, transport } = await startNode(t, made.issue('a'))
  const cases = [
    [
      'foreign_cluster',
      /belongs to another cluster, other-cluster$/,
      made.issue('c', { clusterId: 'other-cluster' }),
    ],
    ['certificate_of_another', /at the address of node b names node c$/, made.issue('c')],
  ] as const
  for (const [code, words, files] of cases) {
    const other = new PeerBench(t, { clock: new PatientClock() })
    const clusterId = code === 'foreign_cluster' ? 'other-cluster' : 'test-cluster'
    const { transport: there } = await other.run('c', other.make('c', { tls: files, clusterId }), handlers)
    bench.addresses.set('b', there.address)
    const { cause } = await rejection(transport.call('b', 'echo', { header: null }))
    t.type(cause, CertificateNameError)
    t.match(cause, { code, message: words })
  }
})

t.test('certificates change while nodes run [tls.reload]', async (t) => {
  const made = new MadeCertificates(t)
  const files = made.issue('a')
  const node = await startNode(t, files)
  const shownBy = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const [host, port] = node.address.split(':')
      const socket = connect({ host: host ?? '', port: Number(port), ...optionsOf(made.issue('b')) }, () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? '')
        socket.destroy()
      })
      socket.once('error', reject)
    })
  const logged = async (message: string): Promise<object> => {
    node.lines.length = 0
    node.clock.look()
    await until(message, () => node.lines.some((line) => line.message === message))
    return node.lines.find((line) => line.message === message)?.fields ?? {}
  }
  const samples = () =>
    Object.fromEntries(
      node.transport
        .metrics()
        .filter(({ name }) => name.startsWith('holdfast_tls'))
        .map(({ name, labels, value }) => [`${name}${labels?.['certificate'] ?? ''}`, value]),
    )
  const first = await shownBy()

  await t.test(
    'an unfinished change, a wrong key, another node and an expired one are logged and change nothing',
    async (t) => {
      const next = made.pair('a')
      const broken = { certificate: next.certificate, key: 'no key' }
      const cases = {
        'does not belong to the certificate': { ...made.pair('a'), key: readFileSync(files.key, 'utf8') },
        'contains no PEM private key': broken,
        'does not name node': made.pair('b'),
        'it expired at': made.pair('a', { endedDaysAgo: 2 }),
      }
      for (const [why, pair] of Object.entries(cases)) {
        put(files, pair)
        const fields = await logged('new certificate cannot be used, the previous one stays')
        t.match(fields, { err: { message: why } })
        t.equal(await shownBy(), first, why)
        t.equal(samples()['holdfast_tls_certificate_stale'], 1)
      }
    },
  )
  await t.test('a valid one is presented to new connections, in both directions', async (t) => {
    const next = made.pair('a')
    put(files, next)
    await logged('new certificate in use')
    t.equal(await shownBy(), next.certificate)
    t.equal(samples()['holdfast_tls_certificate_stale'], 0)
    const b = await startNode(t, made.issue('b'), 'b')
    node.bench.addresses.set('b', b.address)
    t.match(await node.transport.call('b', 'echo', { header: null }), { header: 'answered' })
  })
  await t.test('one authority replaces another with both trusted in between', async (t) => {
    const fresh = new MadeCertificates(t)
    const b = { ...fresh.issue('b'), ca: made.ca }
    t.equal(await answerTo(node.address, b), null)
    writeFileSync(files.ca, made.caText + fresh.caText)
    await logged('new certificate in use')
    t.equal(await answerTo(node.address, b), 'answered')
    put(files, fresh.pair('a'))
    await logged('new certificate in use')
    writeFileSync(files.ca, fresh.caText)
    await logged('new certificate in use')
    t.equal(await answerTo(node.address, { ...made.issue('b'), ca: fresh.ca }), null, 'the old one is out')
    t.equal(await answerTo(node.address, fresh.issue('b')), 'answered')
  })
  await t.test('their expiry times are metrics', async (t) => {
    const {
      holdfast_tls_certificate_expiry_timestamp_secondsown: own,
      holdfast_tls_certificate_expiry_timestamp_secondsauthority: authority,
    } = samples()
    const inDays = (seconds = 0): number => Math.round((seconds - Date.now() / 1000) / 86_400)
    t.equal(inDays(own), 30)
    t.equal(inDays(authority), 100)
  })
})
