/**
 * Hand-written ends of a connection of frames: clients and servers that send what no correct node would send.
 */
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { until } from '../helpers/async.ts'
import { encodeHeader, HEADER_LENGTH_BYTES } from '../../cluster/transport/frame.ts'
import { decodeRefused } from '../../cluster/transport/frame-payloads.ts'
import {
  encodeFrame,
  type Frame,
  FRAME,
  type FrameParts,
  FrameReader,
  PREFACE,
} from '../../cluster/transport/wire-frame.ts'
import type { PeerAddress } from '../../cluster/base/types.ts'
import { FITTING } from './raw-peer.ts'

const packed = (value: unknown): Uint8Array => encodeHeader(value).subarray(HEADER_LENGTH_BYTES)

/** What node `b` would say to `a`, or with other claims. */
export function helloFrame(claims: Readonly<Record<string, unknown>> = {}): FrameParts {
  return { type: FRAME.hello, payload: [packed({ ...FITTING, ...claims })] }
}

export function requestFrame(stream: number, method: string, isLast = true): FrameParts {
  const name = Buffer.from(method, 'latin1')
  const payload = [Buffer.of(name.length), name, encodeHeader(null)]
  return { type: FRAME.request, stream, isLast, payload }
}

export const bytesOf = (parts: FrameParts): Buffer => Buffer.concat(encodeFrame(parts))

/** A head that claims a payload. */
export function headOf(length: number, type: number, stream = 0): Buffer {
  const head = Buffer.alloc(9)
  head.writeUInt32BE(length, 0)
  head[4] = type
  head.writeUInt32BE(stream, 5)
  return head
}

export class RawFrames {
  readonly frames: Frame[] = []
  readonly socket: Socket
  isClosed = false

  constructor(socket: Socket) {
    this.socket = socket
    const reader = new FrameReader({
      onHead: () => {},
      onFrame: ({ payload, ...frame }) => void this.frames.push({ ...frame, payload: Buffer.from(payload) }),
    })
    socket.on('data', (chunk: Buffer) => reader.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => (this.isClosed = true))
  }

  /** A client that has sent the preface. */
  static async connect(t: Test, address: PeerAddress): Promise<RawFrames> {
    const [host, port] = address.split(':')
    const socket = connect({ host, port: Number(port) })
    t.teardown(() => socket.destroy())
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    socket.write(PREFACE)
    return new RawFrames(socket)
  }

  /** A client whose hello was accepted. */
  static async welcomed(t: Test, address: PeerAddress): Promise<RawFrames> {
    const raw = await RawFrames.connect(t, address)
    raw.send(helloFrame())
    await raw.frame(FRAME.welcome)
    return raw
  }

  send(...parts: FrameParts[]): void {
    this.socket.write(Buffer.concat(parts.map(bytesOf)))
  }

  /** The first frame of this type, and of this stream. */
  async frame(type: number, stream = 0): Promise<Frame> {
    const found = (): Frame | undefined =>
      this.frames.find((one) => one.type === type && one.stream === stream)
    await until(`a frame of type ${type} arrives`, () => found() !== undefined)
    return found() as Frame
  }

  /** The code of the refusal that ends the connection. Throws when the other side still answers. */
  async ending(): Promise<string> {
    this.send({ type: FRAME.ping })
    const first = (): Frame | undefined =>
      this.frames.find(({ type, stream }) => type === FRAME.pong || (type === FRAME.refused && stream === 0))
    await until('the connection is refused or answers', () => first() !== undefined)
    const { type, payload } = first() as Frame
    if (type === FRAME.pong) throw new Error('the connection is still answered')
    await until('the connection is closed', () => this.isClosed)
    return decodeRefused(payload).code
  }
}
