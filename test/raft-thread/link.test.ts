/** Calls, errors, bytes and streams between the two threads of the machine. */
import t from 'tap'
import {
  Condition,
  EntryFailedError,
  MembershipRefusedError,
  StartError,
  StateDamagedError,
} from '../../cluster/base/types.ts'
import { parcelOf } from '../../cluster/raft-thread/link-bytes.ts'
import { CREDIT_BYTES } from '../../cluster/raft-thread/link-streams.ts'
import { PeerRefusedError, PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { collected, deferred } from '../helpers/async.ts'
import { linkedPair } from './linked-pair.ts'

interface Call<Input, Output> {
  readonly input: Input
  readonly output: Output
}

interface Calls {
  readonly echo: Call<unknown, unknown>
  readonly fail: Call<number, null>
  readonly read: Call<number, number>
  readonly wait: Call<null, string>
}

type None = Readonly<Record<never, never>>

const ERRORS: readonly Error[] = [
  new Condition('not_enough_replicas', 'one', { retryAfterMs: 70, cause: new Error('disk') }),
  new StartError('address_in_use', 'two', { hint: 'use another port' }),
  new MembershipRefusedError('configurationPending', 'three'),
  new EntryFailedError(17, new TypeError('four')),
  new StateDamagedError('five', { cause: new Error('row') }),
  new PeerRefusedError('expelled', 'six'),
  new PeerUnreachableError('n2', 'seven', { cause: new Error('no route') }),
  Object.assign(new Error('eight'), { code: 'EIO' }),
  new RangeError('nine'),
]

function answering() {
  const pair = linkedPair<Calls, None>()
  const abandoned = deferred()
  pair.left.serve<Calls>({
    echo: (input) => input,
    fail: (which) => Promise.reject(ERRORS[which] ?? new Error('no such error')),
    read: async (stream) => {
      const pieces = await collected(pair.left.receiveStream(stream))
      return pieces.reduce((sum, { length }) => sum + length, 0)
    },
    wait: (_, signal) =>
      new Promise((resolve) => {
        if (signal === undefined) return abandoned.resolve()
        signal.addEventListener('abort', () => resolve('the caller left'), { once: true })
      }),
  })
  return { ...pair, abandoned }
}

t.test(
  'an answer has what was sent, and the bytes of a turn cross in one buffer of their size',
  async (t) => {
    const { right } = answering()
    const frame = new Uint8Array(1024 * 1024).fill(7)
    const views = { first: frame.subarray(10, 13), others: [frame.subarray(100, 102), new Uint8Array(0)] }
    const answer = await right.call('echo', views)
    t.strictSame(answer, {
      first: new Uint8Array([7, 7, 7]),
      others: [new Uint8Array([7, 7]), new Uint8Array(0)],
    })
    const { buffer } = parcelOf([views, frame.subarray(0, 4)])
    t.equal(buffer?.byteLength, 3 + 2 + 4)
    t.equal(frame.length, 1024 * 1024, 'the bytes of the caller stay')
    t.strictSame(parcelOf([1, { a: null }]), { content: [1, { a: null }], buffer: null })
  },
)

t.test('an error arrives with its class, its fields and its causes', async (t) => {
  const { right } = answering()
  for (const [which, error] of ERRORS.entries()) {
    const arrived = await right.call('fail', which).then(
      () => t.fail('it is an error'),
      (crossed: unknown) => crossed,
    )
    t.ok(arrived instanceof Error)
    t.equal(Object.getPrototypeOf(arrived), Object.getPrototypeOf(which === 8 ? new Error('') : error))
    const { name, message, stack } = error
    t.match(arrived, { name, message, stack, ...Object.fromEntries(Object.entries(error)) }, error.message)
    t.match(
      (arrived as Error).cause,
      error.cause === undefined ? undefined : { message: (error.cause as Error).message },
    )
  }
})

t.test('a call of an unknown method is refused', async (t) => {
  const { right } = answering()
  await t.rejects(right.call('unknown' as 'echo', null), /does not answer 'unknown'/)
})

t.test('a caller that leaves is seen on the other thread', async (t) => {
  const { right } = answering()
  const leaving = new AbortController()
  const answer = right.call('wait', null, leaving.signal)
  leaving.abort()
  t.equal(await answer, 'the caller left')
})

t.test('everything under way ends with the link', async (t) => {
  const { left, right, abandoned } = answering()
  const answer = right.call('wait', null)
  const body = (async function* () {
    yield new Uint8Array(3)
    await new Promise(() => undefined)
  })()
  const stream = right.sendStream(body)
  await abandoned.promise
  const read = collected(left.receiveStream(stream))
  right.close(new Error('the thread is gone'))
  left.close(new Error('the thread is gone'))
  await t.rejects(answer, /the thread is gone/)
  await t.rejects(read, /the thread is gone/)
  await t.rejects(right.call('echo', 1), /the thread is gone/)
})

t.test('a stream', async (t) => {
  t.test('arrives whole, and its source is asked only as fast as it is read', async (t) => {
    const { left, right } = answering()
    const PIECE = 64 * 1024
    let asked = 0
    const source = (async function* () {
      for (; asked < 64; asked += 1) yield new Uint8Array(PIECE).fill(asked)
    })()
    const stream = right.sendStream(source)
    await right.call('echo', null)
    await right.call('echo', null)
    t.equal(asked + 1, CREDIT_BYTES / PIECE, 'unread bytes are bounded')
    const pieces = await collected(left.receiveStream(stream))
    t.strictSame(
      pieces.map(([first, ...rest]) => [first, rest.length]),
      Array.from({ length: 64 }, (_, i) => [i, PIECE - 1]),
    )
  })

  t.test('that breaks is an error for its reader, after the bytes before', async (t) => {
    const { left, right } = answering()
    const source = (async function* () {
      yield new Uint8Array([1])
      throw new PeerUnreachableError('n3', 'the peer went away')
    })()
    const stream = right.sendStream(source)
    await right.call('echo', null)
    const seen: Uint8Array[] = []
    const read = async (): Promise<void> => {
      for await (const piece of left.receiveStream(stream)) seen.push(piece)
    }
    await t.rejects(read(), { name: 'PeerUnreachableError', peer: 'n3' })
    t.strictSame(seen, [new Uint8Array([1])])
  })

  t.test('ends at its source when its reader leaves', async (t) => {
    const { left, right } = answering()
    const ended = deferred()
    const source = (async function* () {
      try {
        for (;;) yield new Uint8Array(1_024)
      } finally {
        ended.resolve()
      }
    })()
    const stream = right.sendStream(source)
    await right.call('echo', null)
    for await (const piece of left.receiveStream(stream)) {
      t.equal(piece.length, 1_024)
      break
    }
    await ended.promise
  })
})
