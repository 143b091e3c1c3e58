/**
 * Frames: decoding returns exactly the encoded messages, and refuses everything else.
 */
import * as fc from 'fast-check'
import { Packr, pack } from 'msgpackr'
import t from 'tap'
import type { Message } from '../../cluster/raft/types.ts'
import {
  decodeBatch,
  decodeHeader,
  encodeBatch,
  encodeHeader,
  FRAME_BYTES_MAX,
  FRAME_MESSAGES_MAX,
  HEADER_BYTES_MAX,
  HEADER_LENGTH_BYTES,
  MalformedFrameError,
} from '../../cluster/transport/frame.ts'
import { assertPlainMsgpack } from '../../cluster/transport/msgpack-guard.ts'
import { anyMessage, everyMessage, plain, ROUTE } from './sample-messages.ts'

const maps = new Packr({ useRecords: false })
const frame = (...messages: unknown[]) => maps.pack([1, messages])
const NO_BYTES = new Uint8Array(0)

t.test('decodeBatch', async (t) => {
  t.test('returns every type of message as it was encoded', async (t) => {
    const messages = everyMessage(ROUTE)
    t.strictSame(plain(decodeBatch(encodeBatch(messages, ROUTE), ROUTE)), plain(messages))
    t.strictSame(decodeBatch(encodeBatch([], ROUTE), ROUTE), [])
  })

  t.test('returns any batch as it was encoded', async () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 5 }), (messages) => {
        const decoded = plain(decodeBatch(encodeBatch(messages, ROUTE), ROUTE))
        return JSON.stringify(sorted(decoded)) === JSON.stringify(sorted(plain(messages)))
      }),
      { seed: 20, numRuns: 400 },
    )
  })

  t.test('names sender and receiver from the connection, not from the frame', async (t) => {
    const bytes = encodeBatch([{ type: 'TimeoutNow', ...ROUTE, term: 1 }], ROUTE)
    t.match(decodeBatch(bytes, { from: 'x', to: 'y' }), [{ from: 'x', to: 'y' }])
  })

  t.test('refuses every frame that is truncated or extended', async (t) => {
    const bytes = encodeBatch(everyMessage(ROUTE).slice(1), ROUTE)
    for (let length = 0; length < bytes.length; length++) {
      t.throws(() => decodeBatch(bytes.subarray(0, length), ROUTE), MalformedFrameError)
    }
    t.throws(() => decodeBatch(Buffer.concat([bytes, Buffer.from([0])]), ROUTE), MalformedFrameError)
  })

  t.test('refuses a frame with a flipped bit or reads a well-formed message from it', async (t) => {
    const bytes = Buffer.from(encodeBatch(everyMessage(ROUTE).slice(1), ROUTE))
    let refused = 0
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Buffer.from(bytes)
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7))
      if (!survives(damaged)) refused++
    }
    t.ok(refused > 0)
  })

  t.test('refuses random bytes or reads a well-formed message from them', async () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => survives(bytes) || true),
      { seed: 21, numRuns: 3000 },
    )
  })

  t.test('refuses MessagePack that is not a batch', async (t) => {
    const append = [1, 7, 10, 4, 9, 3]
    const corpus: Record<string, Uint8Array> = {
      'a number': pack(1),
      nil: pack(null),
      'a map': maps.pack({ 0: 1, 1: [] }),
      'an unknown frame version': pack([2, []]),
      'no messages': pack([1]),
      'a third field': pack([1, [], 0]),
      'messages that are not an array': pack([1, 'x']),
      'a message that is not an array': frame(7),
      'an empty message': frame([]),
      'type 0': frame([0, 1]),
      'an unknown type': frame([10, 1]),
      'a type that is a string': frame(['TimeoutNow', 1]),
      'no term': frame([9]),
      'a negative term': frame([9, -1]),
      'a broken term': frame([9, 1.5]),
      'a term that is NaN': frame([9, Number.NaN]),
      'a term beyond 2^53': frame([9, 2 ** 53]),
      'a term of 64 bits': frame([9, 2n ** 60n]),
      'a field too many': frame([9, 1, 1]),
      'a boolean as a number': frame([4, 1, 1, 0]),
      'entries that are missing': frame(append),
      'entries that are a map': frame([...append, {}]),
      'an entry that is not an array': frame([...append, [5]]),
      'an entry without data': frame([...append, [[1, 0]]]),
      'an entry of an unknown kind': frame([...append, [[1, 3, NO_BYTES]]]),
      'an entry of a negative kind': frame([...append, [[1, -1, NO_BYTES]]]),
      'entry data that are a string': frame([...append, [[1, 1, 'abc']]]),
      'entry data that are an array': frame([...append, [[1, 1, [1, 2]]]]),
      'an entry with a field too many': frame([...append, [[1, 1, NO_BYTES, 0]]]),
      'indexes that leave the safe range': frame([1, 7, 2 ** 53 - 1, 4, 9, 3, [[1, 0, NO_BYTES]]]),
      'a node id that is a number': frame([5, 1, 1, 1, [1], [], []]),
      'a node id that is empty': frame([5, 1, 1, 1, [''], [], []]),
      'a node id that is too long': frame([5, 1, 1, 1, ['n'.repeat(65)], [], []]),
      'too many node ids': frame([5, 1, 1, 1, repeat(65, 'n'), [], []]),
      'an index that is false': frame([8, 1, 1, false]),
      'too many messages': frame(...repeat(FRAME_MESSAGES_MAX + 1, [9, 1])),
    }
    for (const [what, bytes] of Object.entries(corpus)) {
      t.throws(() => decodeBatch(bytes, ROUTE), MalformedFrameError, what)
    }
  })

  t.test('refuses claims that its bytes do not cover, before it allocates anything', async (t) => {
    const bombs = {
      'an array of 32 million elements': [0xdd, 0x01, 0xff, 0xff, 0xff],
      'an array of 4 billion elements': [0xdd, 0xff, 0xff, 0xff, 0xff],
      'arrays within arrays': repeat(1000, [0xdd, 0x01, 0xff, 0xff, 0xff]).flat(),
      'a map of 4 billion pairs': [0xdf, 0xff, 0xff, 0xff, 0xff],
      'a string of 4 GiB': [0xdb, 0xff, 0xff, 0xff, 0xff],
      'bytes of 4 GiB': [0xc6, 0xff, 0xff, 0xff, 0xff],
      'deep nesting': [...repeat(200_000, 0x91), 0xc0],
      'an extension': [0xc7, 0x01, 0x01, 0x00],
      'a date': [0xd6, 0xff, 0, 0, 0, 0],
      'a record definition': [0xd4, 0x72, 0x40],
      'the byte that is never used': [0xc1],
    }
    for (const [what, bytes] of Object.entries(bombs)) {
      t.throws(() => assertPlainMsgpack(Uint8Array.from(bytes)), MalformedFrameError, what)
      t.throws(() => decodeBatch(Uint8Array.from(bytes), ROUTE), MalformedFrameError, what)
    }
    t.throws(() => decodeBatch(new Uint8Array(FRAME_BYTES_MAX + 1), ROUTE), MalformedFrameError)
  })
})

t.test('encodeBatch', async (t) => {
  t.test('refuses a message of another route', async (t) => {
    t.throws(() => encodeBatch([{ type: 'TimeoutNow', from: 'a', to: 'c', term: 1 }], ROUTE), RangeError)
  })

  t.test('refuses entries with a gap and batches beyond the limit', async (t) => {
    const append = (index: number, size: number): Message => ({
      type: 'AppendEntries',
      ...ROUTE,
      term: 1,
      prevLogIndex: 4,
      prevLogTerm: 1,
      leaderCommit: 0,
      readToken: 0,
      entries: [{ index, term: 1, kind: 'command', data: new Uint8Array(size) }],
    })
    t.throws(() => encodeBatch([append(6, 0)], ROUTE), /without a gap/)
    t.throws(() => encodeBatch([append(5, FRAME_BYTES_MAX)], ROUTE), RangeError)
  })
})

t.test('encodeHeader', async (t) => {
  t.test('carries plain data by value', async (t) => {
    const header = {
      text: 'ä',
      list: [1, -1, 1.5, 2 ** 40],
      bytes: Buffer.from('xyz'),
      none: null,
      gap: undefined,
      yes: true,
    }
    t.strictSame(decodeHeader(encodeHeader(header).subarray(HEADER_LENGTH_BYTES)), header)
    t.equal(decodeHeader(encodeHeader(undefined).subarray(HEADER_LENGTH_BYTES)), null)
  })

  t.test('refuses a header that is too large or not plain data', async (t) => {
    t.throws(() => encodeHeader('x'.repeat(HEADER_BYTES_MAX)), RangeError)
    t.throws(() => encodeHeader({ at: new Date(0) }), TypeError)
    t.throws(() => encodeHeader(nested(20)), TypeError)
  })

  t.test('decodeHeader refuses anything but a single plain value', async (t) => {
    for (const bytes of [[], [0xc1], [0x01, 0x01], [0x81], [0xd6, 0xff, 0, 0, 0, 0]]) {
      t.throws(() => decodeHeader(Uint8Array.from(bytes)), MalformedFrameError)
    }
  })
})

/** Decodes into messages that can be encoded again, or throws MalformedFrameError; any other error is thrown on. */
function survives(bytes: Uint8Array): boolean {
  try {
    encodeBatch(decodeBatch(bytes, ROUTE), ROUTE)
    return true
  } catch (err) {
    if (err instanceof MalformedFrameError) return false
    throw err
  }
}

function sorted(messages: unknown[]): unknown[] {
  return messages.map((message) => Object.entries(message as object).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function nested(depth: number): unknown {
  return depth === 0 ? null : [nested(depth - 1)]
}

function repeat<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value)
}
