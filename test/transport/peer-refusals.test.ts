/**
 * What PeerTransport refuses: foreign identities, broken frames, servers that are not nodes.
 */
import { request } from 'undici'
import t from 'tap'
import { encodeBatch, encodeHeader, FRAME_BYTES_MAX } from '../../cluster/transport/frame.ts'
import { PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { PeerBench } from './benches.ts'
import { ask, FITTING, type RawRequest, strangeServer, writeAndHangUp } from './raw-peer.ts'
import { everyMessage } from './sample-messages.ts'
import { collect, pattern, rejection } from './streams.ts'

const BATCH = encodeBatch(everyMessage({ from: 'b', to: 'a' }), { from: 'b', to: 'a' })

t.test('PeerTransport refuses', async (t) => {
  const bench = new PeerBench(t, {
    judge({ nodeId, incarnation, boot, recoveryEpoch, featureLevel, stateLevel }) {
      if (incarnation === `dead-${nodeId}`) return { code: 'member_tombstoned', message: 'dead' }
      if (boot < 1) return { code: 'member_rolled_back', message: 'an older one' }
      if (recoveryEpoch > 0) return { code: 'stale_epoch', message: 'left behind' }
      return stateLevel > featureLevel ? { code: 'feature_level_too_high', message: 'too new' } : null
    },
  })
  const seen: { bytes: number; error: unknown }[] = []
  const a = await bench.start('a', {
    echo: async ({ header, body }) => ({ header, body }),
    count: async ({ body }) => {
      const outcome = { bytes: 0, error: null as unknown }
      seen.push(outcome)
      try {
        for await (const chunk of body) outcome.bytes += chunk.length
      } catch (err) {
        outcome.error = err
      }
      return { header: outcome.bytes }
    },
  })
  const address = a.transport.address

  t.test('every identity that does not fit, by status and code', async (t) => {
    const cases: [number, string, RawRequest][] = [
      [426, 'unsupported_protocol', { headers: { 'x-holdfast-protocol': '2' } }],
      [412, 'foreign_cluster', { headers: { 'x-holdfast-cluster': 'another' } }],
      [421, 'wrong_node', { headers: { 'x-holdfast-to': 'c' } }],
      [403, 'unknown_member', { headers: { 'x-holdfast-from': 'unknown' } }],
      [403, 'unknown_member', { headers: { 'x-holdfast-from': 'a' } }],
      [410, 'member_tombstoned', { headers: { 'x-holdfast-incarnation': 'dead-b' } }],
      [400, 'malformed_request', { headers: { 'x-holdfast-incarnation': '' } }],
      [410, 'member_rolled_back', { headers: { 'x-holdfast-boot': '0' } }],
      [410, 'stale_epoch', { headers: { 'x-holdfast-recovery-epoch': '1' } }],
      [426, 'feature_level_too_high', { headers: { 'x-holdfast-state-level': '2' } }],
      [400, 'malformed_request', { headers: { 'x-holdfast-boot': '' } }],
      [400, 'malformed_request', { headers: { 'x-holdfast-recovery-epoch': '-1' } }],
      [400, 'malformed_request', { headers: { 'x-holdfast-feature-level': '1.5' } }],
      [400, 'malformed_request', { headers: { 'x-holdfast-state-level': '9999999999999999' } }],
      [400, 'malformed_request', { method: 'PUT' }],
      [400, 'malformed_request', { path: '/' }],
      [400, 'malformed_request', { path: '/peer/v1/' }],
      [400, 'malformed_request', { path: '/peer/v1/raft?x=1' }],
      [400, 'malformed_request', { path: '/peer/v1/../raft' }],
      [400, 'malformed_request', { path: `/peer/v1/${'x'.repeat(65)}` }],
      [404, 'unknown_method', { path: '/peer/v1/no-such-method' }],
    ]
    for (const [status, code, raw] of cases) {
      for (const path of raw.path === undefined ? ['/peer/v1/raft', '/peer/v1/echo'] : [raw.path]) {
        t.match(
          await ask(address, { ...raw, path, body: raw.path === undefined ? BATCH : encodeHeader(null) }),
          { status, header: { code } },
        )
      }
    }
    // A prober learns no name: what is quoted is what he said.
    for (const [name, message] of [
      ['x-holdfast-cluster', "This node does not belong to cluster 'a-guess'"],
      ['x-holdfast-to', "This node is not 'a-guess'"],
    ] as const)
      t.match(
        (await ask(address, { headers: { [name]: 'a-guess' }, path: '/peer/v1/raft', body: BATCH })).header,
        {
          message,
        },
      )
    const bare = await request(`http://${address}/peer/v1/raft`, { method: 'POST' })
    t.equal(bare.statusCode, 426)
    await bare.body.dump()
    t.strictSame(a.received, [], 'no message reaches the node')
  })

  t.test('broken batches, and continues to accept good ones', async (t) => {
    for (const body of [
      new Uint8Array(0),
      Buffer.from('hello'),
      BATCH.subarray(1),
      BATCH.subarray(0, -1),
      Buffer.from([0xdd, 1, 255, 255, 255]),
    ]) {
      t.match(await ask(address, { body }), { status: 400, header: { code: 'malformed_frame' } })
    }
    t.match(await ask(address, { body: new Uint8Array(FRAME_BYTES_MAX + 1) }), {
      status: 413,
      header: { code: 'frame_too_large' },
    })
    t.strictSame(a.received, [])
    t.match(await ask(address, { body: BATCH }), { status: 204 })
    await bench.until(() => a.received.length === everyMessage({ from: 'b', to: 'a' }).length)
  })

  t.test('calls whose header is broken', async (t) => {
    const huge = Buffer.alloc(8)
    huge.writeUInt32BE(0xffff_ffff)
    const long = encodeHeader('a header').subarray(0, 6)
    for (const body of [
      new Uint8Array(0),
      Buffer.from([0, 0]),
      huge,
      long,
      Buffer.from([0, 0, 0, 1, 0xc1]),
      Buffer.from([0, 0, 0, 0]),
    ]) {
      t.match(await ask(address, { path: '/peer/v1/echo', body }), {
        status: 400,
        header: { code: 'malformed_frame' },
      })
    }
    t.match(await ask(address, { path: '/peer/v1/echo', body: encodeHeader('fine') }), {
      status: 200,
      header: 'fine',
    })
  })

  t.test('a request that ends too early, chunked or with a length', async (t) => {
    const head = Object.entries(FITTING)
      .map(([name, value]) => `${name}: ${String(value)}\r\n`)
      .join('')
    const header = encodeHeader('x')
    for (const [framing, start] of [
      ['transfer-encoding: chunked', `${(header.length + 100).toString(16)}\r\n`],
      [`content-length: ${header.length + 1000}`, ''],
    ]) {
      const before = seen.length
      const bytes = `POST /peer/v1/count HTTP/1.1\r\nhost: a\r\n${head}${framing}\r\n\r\n${start}`
      await writeAndHangUp(address, Buffer.concat([Buffer.from(bytes), header, pattern(100)]))
      await bench.until(() => seen.length > before && seen.at(-1)?.error !== null)
      t.ok(seen.at(-1)?.error instanceof PeerUnreachableError)
    }
    for (const noise of [
      '\r\n\r\n',
      'GET',
      '\x16\x03\x01\x02\x00\x01',
      'POST /peer/v1/raft HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    ]) {
      await writeAndHangUp(address, noise)
    }
    t.match(await ask(address, { path: '/peer/v1/echo', body: encodeHeader('alive') }), { status: 200 })
  })

  t.test('answers of servers that are not nodes', async (t) => {
    const answers = {
      'a web page': 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
      'an error page': 'HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\nhello',
      'a refusal without a code': `HTTP/1.1 500 X\r\ncontent-length: ${encodeHeader({}).length}\r\n\r\n${Buffer.from(encodeHeader({})).toString('latin1')}`,
      'no http': 'SSH-2.0-OpenSSH\r\n',
      'a header that is cut': 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n',
      nothing: '',
    }
    for (const [what, answer] of Object.entries(answers)) {
      bench.addresses.set(
        'b',
        await strangeServer(t, (socket) => socket.once('data', () => void socket.end(answer, 'latin1'))),
      )
      const failed = await rejection(a.transport.call('b', 'echo', { header: null }))
      t.ok(failed instanceof PeerUnreachableError, what)
      a.unreachable.length = 0
      a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
      await bench.until(() => a.unreachable.includes('b'))
    }
  })

  t.test('an answer that ends too early', async (t) => {
    const start = Buffer.concat([encodeHeader('started'), pattern(1000)])
    for (const [framing, before] of [
      [`content-length: ${start.length + 1}`, ''],
      ['transfer-encoding: chunked', `${start.length.toString(16)}\r\n`],
    ]) {
      const answer = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${before}`), start])
      bench.addresses.set(
        'b',
        await strangeServer(t, (socket) => socket.once('data', () => void socket.end(answer))),
      )
      const { header, body } = await a.transport.call('b', 'echo', { header: null })
      t.equal(header, 'started')
      t.ok((await rejection(collect(body))) instanceof PeerUnreachableError)
    }
  })
})
