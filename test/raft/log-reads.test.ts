/**
 * Entries that are read back from the segments: used once, within limits, and only while the log still has them.
 */
import t from 'tap'
import { APPLY, LogReads } from '../../cluster/raft/log-reads.ts'
import { RaftLog } from '../../cluster/raft/raft-log.ts'
import { logOfTerms } from './network.ts'

const LIMITS = { bytesMax: 100, countMax: 3 }

/** Entries 1 to 20 of term 1; the last two are in memory. */
function stored(): { readonly log: RaftLog; readonly reads: LogReads } {
  const log = new RaftLog({ index: 0, term: 0 }, logOfTerms(...Array<number>(20).fill(1)))
  log.shrinkWindow({ countMax: 2, bytesMax: 1_000 }, 20)
  return { log, reads: new LogReads() }
}

const from = (index: number) => ({ from: index, through: 20, limits: LIMITS })
const indexesOf = (taken: ReturnType<LogReads['take']>) => taken.entries?.map(({ index }) => index) ?? null

t.test('reads once for each reader, and returns entries within the limits', async (t) => {
  const { log, reads } = stored()
  t.same(indexesOf(reads.take(log, 'b', from(19))), [19, 20], 'memory needs no read')
  const { read } = reads.take(log, 'b', from(5))
  t.match(read, { type: 'readLog', from: 5, through: 18 })
  t.equal(reads.take(log, 'b', from(5)).read, null, 'one read at a time')
  t.match(reads.take(log, APPLY, from(2)).read, { from: 2 }, 'another reader has its own')
  reads.finished(read?.readId ?? 0, logOfTerms(...Array<number>(9).fill(1)).slice(4))
  t.equal(reads.bytes, 10)
  t.same(indexesOf(reads.take(log, 'b', from(5))), [5, 6, 7])
  t.same(indexesOf(reads.take(log, 'b', from(8))), [8, 9])
  t.equal(reads.bytes, 0, 'used entries are dropped')
  t.match(reads.take(log, 'b', from(10)).read, { from: 10 })
})

t.test('drops entries that were truncated during the read', async (t) => {
  const { log, reads } = stored()
  const { read } = reads.take(log, APPLY, from(5))
  log.truncateFrom(7)
  log.append(logOfTerms(...Array<number>(20).fill(2)).slice(6))
  log.shrinkWindow({ countMax: 2, bytesMax: 1_000 }, 20)
  reads.finished(read?.readId ?? 0, logOfTerms(...Array<number>(9).fill(1)).slice(4))
  t.same(indexesOf(reads.take(log, APPLY, from(5))), [5, 6])
  t.match(reads.take(log, APPLY, from(7)), { entries: null, read: { from: 7 } })
})

t.test('repeats a failed read at a later tick', async (t) => {
  const { log, reads } = stored()
  const { read } = reads.take(log, 'b', from(5))
  reads.finished(read?.readId ?? 0, null)
  t.equal(reads.take(log, 'b', from(5)).read, null)
  reads.tick()
  t.match(reads.take(log, 'b', from(5)).read, { from: 5 })
})

t.test('the end of a leadership drops the entries for its peers', async (t) => {
  const { log, reads } = stored()
  const { read } = reads.take(log, 'b', from(5))
  reads.dropPeers()
  reads.finished(read?.readId ?? 0, logOfTerms(1, 1, 1, 1, 1).slice(4))
  t.equal(reads.bytes, 0)
})
