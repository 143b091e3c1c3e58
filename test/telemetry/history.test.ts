/** The last hour of a node: the ring, its bytes for other nodes, and how counters become a point. */
import t from 'tap'
import { readHistory, writeHistory } from '../../src/telemetry/history/history-bytes.ts'
import { type Reading, pointOf, quantile } from '../../src/telemetry/history/history-point.ts'
import { HistoryRing } from '../../src/telemetry/history/history-ring.ts'
import { HISTORY_POINTS, type Point, SERIES } from '../../src/telemetry/history/series.ts'

const pointWith = (value: number): Point =>
  Object.fromEntries(SERIES.map((name, row) => [name, value + row / 100])) as Point
const known = (values: Float64Array): readonly number[] => [...values].filter((value) => !Number.isNaN(value))

t.test('HistoryRing', async (t) => {
  await t.test('keeps one hour in as much memory as at first', async (t) => {
    const ring = new HistoryRing()
    t.ok(ring.byteLength < 100_000, `${ring.byteLength} bytes`)
    t.same(known(ring.read(0).memory), [], 'nothing is known at first')
    for (let n = 1000; n < 1000 + 3 * HISTORY_POINTS; n++) ring.push(n, pointWith(n))
    const { nativeOk, heap } = ring.read(ring.last)
    t.equal(known(nativeOk).length, HISTORY_POINTS)
    t.equal(nativeOk[0], 1000 + 2 * HISTORY_POINTS)
    t.equal(nativeOk.at(-1), 1000 + 3 * HISTORY_POINTS - 1)
    t.equal(heap.at(-1), 1000 + 3 * HISTORY_POINTS - 1 + (SERIES.length - 1) / 100, 'series do not mix')
  })

  await t.test('has a gap where nothing was pushed, however long', async (t) => {
    const ring = new HistoryRing()
    ring.push(10, pointWith(1))
    ring.push(13, pointWith(2))
    t.same(Array.from(ring.read(14).nativeOk.slice(-5)), [1, NaN, NaN, 2, NaN])
    ring.push(13 + 2 * HISTORY_POINTS, pointWith(3))
    t.same(known(ring.read(ring.last).nativeOk), [3])
  })

  await t.test('forgets what the clock reaches again when it is set back', async (t) => {
    const ring = new HistoryRing()
    for (const n of [10, 11, 12, 13]) ring.push(n, pointWith(n))
    ring.push(11, pointWith(1))
    t.equal(ring.last, 11)
    t.same(known(ring.read(11).nativeOk), [10, 1])
    ring.push(13, pointWith(2))
    t.same(Array.from(ring.read(13).nativeOk.slice(-4)), [10, 1, NaN, 2])
    t.throws(() => ring.push(1.5, pointWith(1)), RangeError)
  })
})

t.test('history bytes', async (t) => {
  const ring = new HistoryRing()
  for (const n of [100, 102]) ring.push(n, pointWith(n))
  const bytes = writeHistory(ring)
  t.ok(bytes.length < 40_000, `${bytes.length} bytes`)
  const { last, values } = readHistory(bytes)
  t.equal(last, 102)
  t.same(Array.from(values.nativeOk.slice(-3)), [100, NaN, 102])

  await t.test(
    'a series of another version is passed over, and one that is not there is unknown',
    async (t) => {
      const other = Buffer.from(bytes)
      other.write('nativeXx', other.indexOf('nativeOk'), 'latin1')
      const read = readHistory(other)
      t.same(known(read.values.nativeOk), [])
      t.same(known(read.values.sentBytes).length, 2)
    },
  )

  await t.test('anything else is refused', async (t) => {
    const head = Buffer.from(bytes)
    head.writeUInt32LE(2 ** 31, 4)
    for (const wrong of [
      Buffer.alloc(0),
      Buffer.from('HHR2'),
      bytes.subarray(0, -1),
      Buffer.concat([bytes, Buffer.alloc(1)]),
      head,
    ])
      t.throws(() => readHistory(wrong), TypeError)
  })
})

const NO_ANSWERS = { counts: Array.from({ length: 17 }, () => 0), sum: 0 }
const QUIET = { Ok: 0, Refused: 0, Failed: 0 }

function lookAt(
  atMs: number,
  { s3 = QUIET, counts = NO_ANSWERS.counts, samples = [] }: Partial<Given> = {},
): Reading {
  const totals = {
    requests: { native: QUIET, s3, admin: QUIET },
    receivedBytes: atMs,
    sentBytes: 0,
    answers: { counts, sum: 0 },
  }
  return { atMs, totals, samples, eventLoopP99: 0.002, memory: 7, heap: 5 }
}

interface Given {
  readonly s3: typeof QUIET
  readonly counts: readonly number[]
  readonly samples: Reading['samples']
}

const gauge = (name: string, value: number) => ({ name, help: '', kind: 'gauge', value }) as const

t.test('pointOf', async (t) => {
  await t.test('gives rates of what happened between two looks, and what is now', async (t) => {
    const samples = [
      gauge('holdfast_raft_commit_index', 12),
      gauge('holdfast_raft_applied_index', 9),
      gauge('holdfast_raft_last_log_index', 15),
      gauge('holdfast_raft_peer_match_index', 15),
      gauge('holdfast_raft_peer_match_index', 4),
      gauge('holdfast_blob_disk_total_bytes', 100),
      gauge('holdfast_blob_disk_free_bytes', 30),
    ]
    const counts = NO_ANSWERS.counts.with(3, 10)
    const after = lookAt(20_000, { s3: { Ok: 50, Refused: 5, Failed: 1 }, counts, samples })
    const point = pointOf(lookAt(10_000), after)
    t.match(point, { s3Ok: 5, s3Refused: 0.5, s3Failed: 0.1, nativeOk: 0, receivedBytes: 1000, sentBytes: 0 })
    t.match(point, { unapplied: 3, followerLag: 11, diskUsed: 70, diskTotal: 100, memory: 7, heap: 5 })
    t.match(point, { answerP50: 0.00075, eventLoopP99: 0.002 })
  })

  await t.test('tells nothing of what was not measured', async (t) => {
    const { answerP99, flushP99, commitP99, followerLag, diskTotal } = pointOf(lookAt(1), lookAt(2))
    t.same([answerP99, flushP99, commitP99, followerLag, diskTotal], [NaN, NaN, NaN, NaN, NaN])
  })

  await t.test('counts a counter that fell from its beginning', async (t) => {
    const before = lookAt(0, { s3: { ...QUIET, Ok: 1000 } })
    t.equal(pointOf(before, lookAt(10_000, { s3: { ...QUIET, Ok: 20 } })).s3Ok, 2)
  })
})

t.test('quantile spreads evenly inside of a bucket, as Prometheus does', async (t) => {
  const counts = NO_ANSWERS.counts
  t.ok(Number.isNaN(quantile(counts, 0.99)))
  t.equal(quantile(counts.with(0, 4), 0.5), 0.00005)
  t.equal(quantile(counts.with(6, 1).with(9, 1), 0.99), 0.05 + 0.05 * 0.98)
  t.equal(quantile(counts.with(16, 1), 0.5), 10, 'above all bounds')
})
