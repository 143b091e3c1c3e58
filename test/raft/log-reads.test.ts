/**
 * Entries that come back from the segments: used once, in bounds, and only while the log still has them.
 */
import t from 'tap'
import { APPLY, LogReads } from '../../cluster/raft/log-reads.ts'
import { RaftLog } from '../../cluster/raft/raft-log.ts'
import { logOfTerms } from './network.ts'

const LIMITS = { bytesMax: 100, countMax: 3 }

/** Entries 1 to 20 of term 1, of which the last two are in memory. */
function stored(): { readonly log: RaftLog; readonly reads: LogReads } {
  const log = new RaftLog({ index: 0, term: 0 }, logOfTerms(...Array<number>(20).fill(1)))
  log.shrinkWindow({ countMax: 2, bytesMax: 1_000 }, 20)
  return { log, reads: new LogReads() }
}

const from = (index: number) => ({ from: index, through: 20, limits: LIMITS })
const indexesOf = (taken: ReturnType<LogReads['take']>) => taken.entries?.map(({ index }) => index) ?? null

t.test('asks once for each reader, and gives what came in bounds', async (t) => {
  const { log, reads } = stored()
  t.same(indexesOf(reads.take(log, 'b', from(19))), [19, 20], 'memory needs no read')
  const { read } = reads.take(log, 'b', from(5))
  t.match(read, { type: 'readLog', from: 5, through: 18 })
  t.equal(reads.take(log, 'b', from(5)).read, null, 'one read at a time')
  t.match(reads.take(log, APPLY, from(2)).read, { from: 2 }, 'another reader has its own')
  reads.came(read?.readId ?? 0, logOfTerms(...Array<number>(9).fill(1)).slice(4))
  t.equal(reads.bytes, 10)
  t.same(indexesOf(reads.take(log, 'b', from(5))), [5, 6, 7])
  t.same(indexesOf(reads.take(log, 'b', from(8))), [8, 9])
  t.equal(reads.bytes, 0, 'what was used is gone')
  t.match(reads.take(log, 'b', from(10)).read, { from: 10 })
})

t.test('drops what a truncation overtook', async (t) => {
  const { log, reads } = stored()
  const { read } = reads.take(log, APPLY, from(5))
  log.truncateFrom(7)
  log.append(logOfTerms(...Array<number>(20).fill(2)).slice(6))
  log.shrinkWindow({ countMax: 2, bytesMax: 1_000 }, 20)
  reads.came(read?.readId ?? 0, logOfTerms(...Array<number>(9).fill(1)).slice(4))
  t.same(indexesOf(reads.take(log, APPLY, from(5))), [5, 6])
  t.match(reads.take(log, APPLY, from(7)), { entries: null, read: { from: 7 } })
})

t.test('asks again at a later tick for what could not be read', async (t) => {
  const { log, reads } = stored()
  const { read } = reads.take(log, 'b', from(5))
  reads.came(read?.readId ?? 0, null)
  t.equal(reads.take(log, 'b', from(5)).read, null)
  reads.tick()
  t.match(reads.take(log, 'b', from(5)).read, { from: 5 })
})

t.test('a leadership that ends leaves nothing for its peers', async (t) => {
  const { log, reads } = stored()
  const { read } = reads.take(log, 'b', from(5))
  reads.dropPeers()
  reads.came(read?.readId ?? 0, logOfTerms(1, 1, 1, 1, 1).slice(4))
  t.equal(reads.bytes, 0)
})
