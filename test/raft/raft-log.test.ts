/**
 * The window of the log: the terms of all entries, and the newest entries themselves.
 */
import t from 'tap'
import { RaftLog } from '../../cluster/raft/raft-log.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import { logOfTerms, xorshift } from './network.ts'

const WINDOW = { countMax: 8, bytesMax: 1_000 }

function entryOf(index: number, term: number, bytes: number): Entry {
  return { index, term, kind: 'command', data: new Uint8Array(bytes) }
}

t.test('durable entries leave memory, others stay', async (t) => {
  const log = new RaftLog({ index: 0, term: 0 }, logOfTerms(...Array<number>(30).fill(1)))
  log.shrinkWindow(WINDOW, 3)
  t.equal(log.storedIndex, 3)
  t.notOk(log.holdsInMemory(3))
  t.ok(log.holdsInMemory(4))
  log.shrinkWindow(WINDOW, 30)
  t.same(log.window, { entries: 8, bytes: 16 })
  t.equal(log.lastIndex, 30)
  t.throws(() => log.slice(22, 23), /not in memory/)
})

t.test('one large entry leaves no room for others', async (t) => {
  const log = new RaftLog(
    { index: 0, term: 0 },
    [1, 2, 3].map((index) => entryOf(index, 1, 600)),
  )
  log.shrinkWindow(WINDOW, 3)
  t.same(log.window, { entries: 1, bytes: 600 })
})

t.test('terms, ends and matches equal those of a log that is wholly in memory', async (t) => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = xorshift(seed)
    const small = new RaftLog({ index: 0, term: 0 }, [])
    const whole = new RaftLog({ index: 0, term: 0 }, [])
    let term = 1
    for (let step = 0; step < 200; step += 1) {
      const kind = random() % 8
      const last = whole.lastIndex
      const held = last - whole.base.index
      for (const log of [small, whole]) {
        if (kind === 0 && held > 0) log.compactTo(whole.base.index + 1 + (step % held))
        else if (kind === 1 && held > 0) log.truncateFrom(last - (step % held))
        else if (kind > 2) log.append([entryOf(log.lastIndex + 1, term, step % 90)])
      }
      if (kind === 2) term += 1
      small.shrinkWindow(WINDOW, small.lastIndex)
      const terms = (log: RaftLog) =>
        Array.from({ length: log.lastIndex + 3 }, (_, index) => log.termAt(index))
      const view = (log: RaftLog) => JSON.stringify([log.base, log.lastIndex, log.lastTerm, terms(log)])
      const probe = random() % (last + 2)
      if (view(small) !== view(whole)) t.same(view(small), view(whole), `seed ${seed}, step ${step}`)
      if (small.lastNotAfterTerm(probe, term - 1) !== whole.lastNotAfterTerm(probe, term - 1))
        t.fail(`seed ${seed}, step ${step}: another place where the logs meet`)
      if (small.window.entries > WINDOW.countMax + 1) t.fail(`the window holds ${small.window.entries}`)
    }
  }
})

t.test('sums of bytes are exact in the window and near before it', async (t) => {
  const log = new RaftLog({ index: 0, term: 0 }, [])
  for (let index = 1; index <= 5_000; index += 1) {
    log.append([entryOf(index, 1, index <= 2_500 ? 10 : 30)])
    log.shrinkWindow(WINDOW, index)
  }
  t.equal(log.bytesBetween(4_995, 5_000), 150)
  t.equal(log.bytesBetween(0, 5_000), 100_000)
  const error = Math.abs(log.bytesBetween(0, 2_600) - 28_000)
  t.ok(error < 5_120, `off by ${error}`)
})
