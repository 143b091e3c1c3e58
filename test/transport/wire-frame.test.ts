/**
 * The bytes of frames: vectors, any cut of the stream, claims that are not believed.
 */
import t from 'tap'
import { encodeStatus, decodeStatus } from '../../cluster/transport/status-frame.ts'
import {
  decodeRequest,
  encodeCount,
  encodeRefused,
  methodHead,
} from '../../cluster/transport/frame-payloads.ts'
import { encodeHeader } from '../../cluster/transport/frame.ts'
import {
  encodeFrame,
  type Frame,
  FRAME,
  type FrameParts,
  FrameReader,
  PIECE_BYTES_MAX,
  PREFACE,
} from '../../cluster/transport/wire-frame.ts'
import { headOf } from './raw-frames.ts'
import { pattern } from './streams.ts'

const hex = (parts: FrameParts): string => Buffer.concat(encodeFrame(parts)).toString('hex')

/** [docs/formats/peer-frames.md: vectors] */
const VECTORS: readonly (readonly [string, FrameParts])[] = [
  ['000000000200000000', { type: FRAME.welcome }],
  ['000000040600000000000000ff', { type: FRAME.ack, payload: [encodeCount(255)] }],
  [
    '0000000b87000000010367657400000001c0abcd',
    {
      type: FRAME.request,
      stream: 1,
      isLast: true,
      payload: [methodHead('get'), encodeHeader(null), Buffer.from('abcd', 'hex')],
    },
  ],
  [
    '000000028900000002abcd',
    { type: FRAME.data, stream: 2, isLast: true, payload: [Buffer.from('abcd', 'hex')] },
  ],
  ['000000040a0000000200010000', { type: FRAME.credit, stream: 2, payload: [encodeCount(65_536)] }],
  ['000000000b00000002', { type: FRAME.reset, stream: 2 }],
  ['000000000c00000000', { type: FRAME.ping }],
]

function read(bytes: Buffer, cut: number): Frame[] {
  const frames: Frame[] = []
  const reader = new FrameReader({
    onHead: () => {},
    onFrame: ({ payload, ...frame }) => void frames.push({ ...frame, payload: Buffer.from(payload) }),
  })
  for (let at = 0; at < bytes.length; at += cut) reader.push(bytes.subarray(at, at + cut))
  return frames
}

/** Pieces of a body that follow each other count as one. */
function joined(frames: readonly Frame[]): Frame[] {
  const whole: Frame[] = []
  let ahead: Buffer[] = []
  for (const frame of frames) {
    ahead.push(frame.payload)
    if (frame.type === FRAME.data && !frame.isLast) continue
    whole.push({ ...frame, payload: Buffer.concat(ahead) })
    ahead = []
  }
  return whole
}

t.test('frames have the documented bytes', async (t) => {
  for (const [bytes, parts] of VECTORS) t.equal(hex(parts), bytes)
  t.equal(Buffer.from(PREFACE).toString('hex'), '00484646522f310a')
  t.equal(PREFACE[0], 0, 'which no request of HTTP begins with')
  const status = { recoveryEpoch: 1, featureLevel: 2, stateLevel: 2, appliedIndex: null, clock: null }
  t.equal(
    encodeStatus(status).toString('hex'),
    ['3ff0000000000000', '4000000000000000', '4000000000000000', ...Array(3).fill('bff0000000000000')].join(
      '',
    ),
  )
})

t.test('a stream is cut into the same frames wherever it is torn', async (t) => {
  const sent: FrameParts[] = [
    { type: FRAME.ping },
    { type: FRAME.request, stream: 3, payload: [methodHead('a.b'), encodeHeader({ x: 1 })] },
    { type: FRAME.data, stream: 3, payload: [pattern(50)] },
    { type: FRAME.data, stream: 3, isLast: true, payload: [pattern(20_000)] },
    { type: FRAME.data, stream: 3, isLast: true },
    { type: FRAME.raft, payload: [pattern(40_000)] },
    { type: FRAME.refused, stream: 9, payload: [encodeRefused('no', 'why')] },
  ]
  const bytes = Buffer.concat(sent.flatMap((parts) => encodeFrame(parts)))
  const whole = joined(read(bytes, bytes.length))
  t.equal(whole.length, sent.length - 1)
  for (const cut of [1, 2, 7, 8, 9, 10, 11, 59, 1000, 16_384])
    t.strictSame(joined(read(bytes, cut)), whole, `${cut}`)
})

t.test('claims are refused before anything is kept for them', async (t) => {
  const refused: readonly [number, number, RegExp][] = [
    [0, 0, /type 0 are unknown/],
    [0, 15, /type 15 are unknown/],
    [0, 0x7f, /type 127 are unknown/],
    [0xffff_ffff, FRAME.raft, /claims 4294967295 bytes, 16777216 are allowed/],
    [PIECE_BYTES_MAX + 1, FRAME.data, /are allowed/],
    [1, FRAME.ping, /claims 1 bytes, 0 are allowed/],
    [5, FRAME.credit, /4 are allowed/],
  ]
  for (const [length, type, message] of refused)
    t.throws(() => read(headOf(length, type), 1), { name: 'MalformedFrameError', message })
  t.throws(() => encodeFrame({ type: FRAME.credit, payload: [pattern(5)] }), RangeError)
})

t.test('payloads are checked', async (t) => {
  const malformed = { name: 'MalformedFrameError' }
  for (const bytes of ['', '00', '0541', '0147', '01', '4161616161', '0161', '0161000000', '0161ffffffff'])
    t.throws(() => decodeRequest(Buffer.from(bytes, 'hex')), malformed, bytes)
  const status = encodeStatus({
    recoveryEpoch: 0,
    featureLevel: 1,
    stateLevel: 1,
    appliedIndex: 7,
    clock: { wall: 5, majority: 4 },
  })
  t.strictSame(decodeStatus(status), {
    recoveryEpoch: 0,
    featureLevel: 1,
    stateLevel: 1,
    appliedIndex: 7,
    clock: { wall: 5, majority: 4 },
  })
  t.throws(() => decodeStatus(status.subarray(1)), malformed)
  for (const [at, number] of [
    [0, -1],
    [1, 1.5],
    [2, NaN],
    [3, -2],
    [4, 2 ** 53],
    [5, Infinity],
  ] as const) {
    const wrong = Buffer.from(status)
    wrong.writeDoubleBE(number, at * 8)
    t.throws(() => decodeStatus(wrong), malformed, `${number}`)
  }
})
