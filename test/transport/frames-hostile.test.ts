/**
 * What a node refuses on connections of frames: foreign identities, members that changed, bytes that follow no format, on both sides.
 */
import { connect } from 'node:net'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { encodeBatch, encodeHeader } from '../../cluster/transport/frame.ts'
import { decodeRefused, encodeCount, encodeRefused } from '../../cluster/transport/frame-payloads.ts'
import { encodeStatus } from '../../cluster/transport/status-frame.ts'
import { PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { FIRST_CREDIT, FRAME, type FrameParts, PREFACE } from '../../cluster/transport/wire-frame.ts'
import { PeerBench } from './benches.ts'
import { strangeServer, writeAndHangUp } from './raw-peer.ts'
import { bytesOf, headOf, helloFrame, RawFrames, requestFrame } from './raw-frames.ts'
import { everyMessage } from './sample-messages.ts'
import { PatientClock } from './patient-clock.ts'
import { pattern, rejection } from './streams.ts'

const BATCH = encodeBatch(everyMessage({ from: 'b', to: 'a' }), { from: 'b', to: 'a' })
const STATUS = { recoveryEpoch: 0, featureLevel: 1, stateLevel: 1, appliedIndex: null, clock: null }
const batchFrame: FrameParts = { type: FRAME.raft, payload: [BATCH] }

t.test('a node refuses over frames', async (t) => {
  const gone = new Set<string>()
  const clock = new PatientClock()
  const bench = new PeerBench(t, {
    clock,
    judge({ nodeId, incarnation, boot, recoveryEpoch, featureLevel, stateLevel }) {
      if (incarnation === `dead-${nodeId}` || gone.has(nodeId))
        return { code: 'member_tombstoned', message: 'dead' }
      if (boot < 1) return { code: 'member_rolled_back', message: 'an older one' }
      if (recoveryEpoch > 0) return { code: 'stale_epoch', message: 'left behind' }
      return stateLevel > featureLevel ? { code: 'feature_level_too_high', message: 'too new' } : null
    },
  })
  const outcomes: unknown[] = []
  const a = await bench.start('a', {
    echo: async ({ header, body }) => ({ header, body }),
    hang: () => new Promise(() => {}),
    count: async ({ body }) => {
      let bytes = 0
      try {
        for await (const chunk of body) bytes += chunk.length
        outcomes.push(bytes)
      } catch (err) {
        outcomes.push(err)
      }
      return { header: bytes }
    },
  })
  const address = a.transport.address
  const isAlive = async (): Promise<void> => {
    const raw = await RawFrames.welcomed(t, address)
    raw.send(requestFrame(1, 'echo'))
    await raw.frame(FRAME.answer, 1)
    raw.socket.destroy()
  }

  t.test('every identity that does not fit, in the order of the checks over HTTP', async (t) => {
    const cases = [
      ['unsupported_protocol', { 'x-holdfast-protocol': '2', 'x-holdfast-cluster': 'another' }],
      ['foreign_cluster', { 'x-holdfast-cluster': 'another', 'x-holdfast-to': 'c' }],
      ['wrong_node', { 'x-holdfast-to': 'c', 'x-holdfast-from': 'unknown' }],
      ['unknown_member', { 'x-holdfast-from': 'unknown' }],
      ['unknown_member', { 'x-holdfast-from': 'a' }],
      ['malformed_request', { 'x-holdfast-incarnation': '' }],
      ['malformed_request', { 'x-holdfast-boot': '-1' }],
      ['member_tombstoned', { 'x-holdfast-incarnation': 'dead-b' }],
      ['member_rolled_back', { 'x-holdfast-boot': '0' }],
      ['stale_epoch', { 'x-holdfast-recovery-epoch': '1' }],
      ['feature_level_too_high', { 'x-holdfast-state-level': '2' }],
      ['malformed_frame', { 'x-holdfast-to': 7 }],
    ] as const
    for (const [code, claims] of cases) {
      const raw = await RawFrames.connect(t, address)
      raw.send(helloFrame(claims), batchFrame, requestFrame(1, 'echo'))
      t.equal(await raw.ending(), code)
      t.notOk(
        raw.frames.some(({ type }) => type === FRAME.answer),
        'nothing that follows is read',
      )
    }
    t.strictSame(a.received, [])
  })

  t.test('a member whose acceptance changes, with its next batch, call or status', async (t) => {
    for (const next of [batchFrame, requestFrame(2, 'echo')]) {
      const raw = await RawFrames.welcomed(t, address)
      raw.send(requestFrame(1, 'echo'))
      await raw.frame(FRAME.answer, 1)
      gone.add('b')
      raw.send(next)
      t.equal(await raw.ending(), 'member_tombstoned')
      const refused = raw.frames.find(({ type, stream }) => type === FRAME.refused && stream === 2)
      if (next.type === FRAME.request)
        t.match(decodeRefused(refused?.payload ?? Buffer.of()), { code: 'member_tombstoned' })
      gone.clear()
    }
    const left = await RawFrames.welcomed(t, address)
    bench.addresses.delete('b')
    left.send(batchFrame)
    t.equal(await left.ending(), 'unknown_member')
    bench.addresses.set('b', '127.0.0.1:1')
    const stale = await RawFrames.welcomed(t, address)
    stale.send({ type: FRAME.status, payload: [encodeStatus({ ...STATUS, recoveryEpoch: 1 })] }, batchFrame)
    t.equal(await stale.ending(), 'stale_epoch')
    t.strictSame(a.received, [])
  })

  t.test('what follows no format, and continues to answer others', async (t) => {
    const oversized = headOf(0xffff_ffff, FRAME.raft)
    const cases: Readonly<Record<string, Uint8Array | readonly FrameParts[]>> = {
      'an unknown type': headOf(0, 99),
      'a claim of four gigabytes': oversized,
      'a second hello': [helloFrame()],
      'a frame of the other direction': [{ type: FRAME.welcome }],
      'a batch that is none': [{ type: FRAME.raft, payload: [pattern(100)] }],
      'a status that is none': [{ type: FRAME.status, payload: [pattern(48)] }],
      'a request that names no method': [{ type: FRAME.request, stream: 1, payload: [Buffer.of(0)] }],
      'a number that was used': [requestFrame(5, 'echo'), requestFrame(5, 'echo')],
      'a number that is lower': [requestFrame(5, 'echo'), requestFrame(4, 'echo')],
      'the number zero': [requestFrame(0, 'echo')],
      'bytes of a call that was never made': [{ type: FRAME.data, stream: 3, payload: [pattern(9)] }],
      'a reset of a call that was never made': [{ type: FRAME.reset, stream: 3 }],
      'more bytes than there is credit for': [
        requestFrame(1, 'hang', false),
        { type: FRAME.data, stream: 1, payload: [pattern(FIRST_CREDIT)] },
        { type: FRAME.data, stream: 1, payload: [pattern(1)] },
      ],
      'more calls than a client makes': Array.from({ length: 1025 }, (_, i) => requestFrame(i + 1, 'hang')),
    }
    for (const [what, sent] of Object.entries(cases)) {
      const raw = await RawFrames.welcomed(t, address)
      raw.socket.write(sent instanceof Uint8Array ? sent : Buffer.concat(sent.map(bytesOf)))
      t.equal(await raw.ending(), 'malformed_frame', what)
    }
    await isAlive()
    t.strictSame(a.received, [])
  })

  t.test('anything before a hello, without keeping what is claimed', async (t) => {
    for (const sent of [batchFrame, requestFrame(1, 'echo'), { type: FRAME.ping } as const]) {
      const raw = await RawFrames.connect(t, address)
      raw.send(sent)
      t.equal(await raw.ending(), 'malformed_frame')
    }
    const claim = await RawFrames.connect(t, address)
    claim.socket.write(headOf(16 * 1024 * 1024, FRAME.raft))
    t.equal(await claim.ending(), 'malformed_frame')
    const noise = ['\0', '\0HFFR/2\n', `\0${'x'.repeat(70_000)}`, '\0\0\0\0\0\0\0\0\0\0']
    for (const bytes of noise) await writeAndHangUp(address, bytes)
    await isAlive()
  })

  t.test('a client that is slow to say hello, byte by byte or not at all', async (t) => {
    const [host, port] = address.split(':')
    const slow = [PREFACE.subarray(0, 3), Buffer.concat([PREFACE, bytesOf(helloFrame()).subarray(0, 20)])]
    for (const bytes of slow) {
      const raw = new RawFrames(connect({ host, port: Number(port) }))
      t.teardown(() => raw.socket.destroy())
      await new Promise((resolve) => raw.socket.write(bytes, resolve))
      await until('the connection is closed', () => {
        clock.look()
        return raw.isClosed
      })
    }
    await isAlive()
  })

  t.test('a body that breaks off is an error for its handler', async (t) => {
    const piece: FrameParts = { type: FRAME.data, stream: 1, payload: [pattern(100)] }
    for (const how of ['reset', 'hang up', 'garbage']) {
      outcomes.length = 0
      const raw = await RawFrames.welcomed(t, address)
      raw.send(requestFrame(1, 'count', false), piece)
      if (how === 'reset') raw.send({ type: FRAME.reset, stream: 1 })
      else if (how === 'garbage') raw.socket.write(headOf(0, 99))
      else raw.socket.end()
      await until('the handler has ended', () => outcomes.length === 1)
      t.ok(outcomes[0] instanceof PeerUnreachableError, how)
    }
  })

  t.test('and takes good batches, whose arrival it confirms', async (t) => {
    const raw = await RawFrames.welcomed(t, address)
    raw.send(batchFrame, batchFrame)
    t.equal((await raw.frame(FRAME.ack)).payload.readUInt32BE(0), 2)
    t.equal(a.received.length, 2 * everyMessage({ from: 'b', to: 'a' }).length)
  })
})

t.test('a node that calls over frames', async (t) => {
  const bench = new PeerBench(t, { limits: { callTimeoutMs: 500, batchTimeoutMs: 500 }, shortMethods: ['x'] })
  const a = await bench.start('a')
  const answer = (stream: number, isLast: boolean): FrameParts => {
    return { type: FRAME.answer, stream, isLast, payload: [encodeHeader('fine')] }
  }
  /** A peer that accepts every hello, and says this to the first call. */
  const server = (says: Uint8Array | readonly FrameParts[]): Promise<string> =>
    strangeServer(t, (socket) => {
      let calls = 0
      socket.on('data', () => {
        if (calls++ === 0) return void socket.write(bytesOf({ type: FRAME.welcome }))
        socket.write(says instanceof Uint8Array ? says : Buffer.concat(says.map(bytesOf)))
      })
    })

  const hostile: Readonly<Record<string, Uint8Array | readonly FrameParts[]>> = {
    'an unknown type': headOf(0, 99),
    'a claim of four gigabytes': headOf(0xffff_ffff, FRAME.answer, 1),
    'a second welcome': [{ type: FRAME.welcome }],
    'an answer to a call that was never made': [answer(9, true)],
    'an answer without a header': [{ type: FRAME.answer, stream: 1, isLast: true, payload: [pattern(3)] }],
    'a refusal without a code': [{ type: FRAME.refused, stream: 1, payload: [encodeHeader({}).subarray(4)] }],
    'a body before its answer': [{ type: FRAME.data, stream: 1, payload: [pattern(3)] }],
    'a confirmation of batches that were never sent': [{ type: FRAME.ack, payload: [encodeCount(7)] }],
    silence: [],
  }
  for (const [what, says] of Object.entries(hostile)) {
    t.test(`ends the connection for ${what}`, async (t) => {
      bench.addresses.set('b', await server(says))
      const failed = await rejection(a.transport.call('b', 'x', { header: null }))
      t.ok(failed instanceof PeerUnreachableError, failed.message)
    })
  }

  t.test('gives its reader an error for a second answer, too many bytes, a reset and an end', async (t) => {
    const started = answer(1, false)
    const broken: Readonly<Record<string, readonly FrameParts[]>> = {
      'a second answer': [started, started],
      'more bytes than it gave credit for': [
        started,
        { type: FRAME.data, stream: 1, payload: [pattern(FIRST_CREDIT)] },
        { type: FRAME.data, stream: 1, payload: [pattern(9)] },
      ],
      'a reset': [started, { type: FRAME.reset, stream: 1 }],
      'a refusal of the connection': [started, { type: FRAME.refused, payload: [encodeRefused('x', 'y')] }],
    }
    for (const [what, says] of Object.entries(broken)) {
      bench.addresses.set('b', await server(says))
      const outcome = a.transport.call('b', 'x', { header: null }).then(async ({ body }) => {
        for await (const _ of body) continue
      })
      t.ok((await rejection(outcome)) instanceof PeerUnreachableError, what)
    }
  })

  t.test(
    'learns from a refusal with a code, and loses nothing of it when the peer closes at once',
    async (t) => {
      bench.addresses.set(
        'b',
        await server([
          { type: FRAME.refused, stream: 1, payload: [encodeRefused('not_leader', 'c leads').subarray(0)] },
        ]),
      )
      t.match(await rejection(a.transport.call('b', 'x', { header: null })), {
        name: 'PeerRefusedError',
        code: 'not_leader',
      })
      bench.addresses.set(
        'b',
        await strangeServer(t, (socket) =>
          socket.once('data', () => {
            socket.end(bytesOf({ type: FRAME.refused, payload: [encodeRefused('member_removed', 'gone')] }))
          }),
        ),
      )
      t.match(await rejection(a.transport.call('b', 'x', { header: null })), {
        name: 'PeerRefusedError',
        code: 'member_removed',
      })
      a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
      await bench.until(() => a.refused.includes('b member_removed'))
    },
  )
})
