/**
 * What a node remembers of the flush, commit and apply of single entries, for traces: in which order, for how many, and what it forgets.
 */
import t from 'tap'
import { EntryTimes } from '../../cluster/node/base/entry-times.ts'
import type { Entry } from '../../cluster/raft/types.ts'

class Hands {
  ms = 0
  now(): number {
    return this.ms
  }
  wallTime(): number {
    return this.ms
  }
  after(): never {
    throw new Error('no timer is needed')
  }
}

const entries = (...indexes: readonly number[]): readonly Entry[] =>
  indexes.map((index) => ({ index, term: 1, kind: 'command', data: Buffer.of(1) }))
const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

t.test('an entry of a leader has its commit, its flush and its apply, in ms before now', async (t) => {
  const clock = new Hands()
  const times = new EntryTimes(clock)
  times.onAppend(1, entries(5, 6), true)
  clock.ms = 10
  times.onDurable(1)
  t.match(
    times.of({ index: 6 }),
    { isWhole: false, pieces: [{ name: 'flush log' }] },
    'what has ended so far',
  )
  clock.ms = 30
  times.onCommitted(6)
  clock.ms = 45
  times.onApplied(5, 6, 40)
  clock.ms = 100
  const attributes = { 'holdfast.log_index': 6 }
  t.same(times.of({ index: 6 }), {
    index: 6,
    isWhole: true,
    pieces: [
      { name: 'commit', startAgoMs: 100, endAgoMs: 70, attributes },
      { name: 'flush log', startAgoMs: 100, endAgoMs: 90, attributes },
      { name: 'apply', startAgoMs: 60, endAgoMs: 55, attributes },
    ],
  })
})

t.test(
  'a follower reports no commit, and an entry that replaced another is the one that counts',
  async (t) => {
    const clock = new Hands()
    const times = new EntryTimes(clock)
    times.onAppend(1, entries(5), true)
    times.onDurable(1)
    clock.ms = 10
    times.onAppend(2, entries(5), false)
    clock.ms = 12
    times.onDurable(2)
    times.onCommitted(5)
    const report = times.of({ index: 5 })
    t.match(report?.pieces, [{ name: 'flush log', startAgoMs: 2, endAgoMs: 0 }])
    t.equal(report?.pieces.length, 1)
  },
)

t.test('it finds an entry by the span that proposed it, and forgets what is old', async (t) => {
  const times = new EntryTimes(new Hands())
  times.onProposed(TRACE, 7)
  t.equal(times.of({ proposedBy: TRACE })?.index, 7)
  t.equal(times.of({ proposedBy: TRACE.replace('a', 'c') }), null)
  for (let index = 1; index <= 10_000; index++) {
    times.onAppend(index, entries(index), false)
    times.onDurable(index)
    times.onApplied(index, index, 0)
    times.onProposed(`${TRACE}${index}`, index)
  }
  t.same(times.of({ index: 1 }), { index: 1, isWhole: false, pieces: [] })
  t.equal(times.of({ index: 9_000 })?.isWhole, true, 'the last 2,048 at least')
  t.equal(times.of({ proposedBy: TRACE }), null)
})
