/**
 * Entries that are read back from the segments are those that were written last at their indexes, or the log fails.
 */
import t, { type Test } from 'tap'
import { RaftLog } from '../../cluster/raft/raft-log.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import { termIn } from '../../cluster/wal/entry-spans.ts'
import type { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import type { WalContent, WalWindow } from '../../cluster/wal/wal.ts'
import { batchOf, entries, entry } from '../port-suites/wal.ts'
import { xorshift } from '../raft/network.ts'
import { logOn } from './log-on-files.ts'
import { MemoryFiles } from './memory-files.ts'

const SEGMENT_BYTES_MAX = 16 * 1024
const ANY_BYTES = 1 << 30

/** The expected content of a log, as a plain list. */
class Model {
  base = 0
  list: Entry[] = []

  get last(): number {
    return this.base + this.list.length
  }

  append(added: readonly Entry[]): void {
    const [first] = added
    if (first !== undefined) this.list.length = first.index - this.base - 1
    this.list.push(...added)
  }

  range(from: number, through: number): readonly Entry[] {
    return from <= this.base ? [] : this.list.slice(from - this.base - 1, through - this.base)
  }
}

const textsOf = (found: readonly Entry[] | null): readonly string[] =>
  (found ?? []).map(({ index, term, data }) => `${index}/${term} ${Buffer.from(data).toString()}`)

/** One random change of the log and of the model. */
function change(
  log: SegmentedLog,
  model: Model,
  step: { readonly random: () => number; term: number },
): void {
  const { random } = step
  const kind = random() % 12
  if (kind === 2) {
    const index = model.base + 1 + (random() % (model.list.length + 10))
    const hardState = { currentTerm: step.term, votedFor: null }
    log.append([batchOf(0, { hardState, base: { index, term: step.term } })])
    model.base = index
    model.list = []
    return
  }
  if (kind === 0 && model.last > model.base) {
    const index = model.base + 1 + (random() % model.list.length)
    const { term } = model.list[index - model.base - 1] ?? entry(0, 0)
    log.compact({ index, term })
    model.list = model.list.slice(index - model.base)
    model.base = index
    return
  }
  if (kind === 1) step.term += 1
  const from = kind === 1 ? model.base + 1 + (random() % (model.list.length + 1)) : model.last + 1
  const size = [0, 5, 300, 3_000][random() % 4] ?? 0
  const added = Array.from({ length: 1 + (random() % 6) }, (_, i) =>
    entry(from + i, step.term, `${random()}`.padEnd(size, '.')),
  )
  const hardState = { currentTerm: step.term, votedFor: null }
  log.append([batchOf(0, { hardState, entries: added })])
  model.append(added)
}

interface Opened {
  readonly seed: number
  readonly count: number
  readonly model: Model
  readonly window: WalWindow | null
}

/** The result of a start describes the whole log, including the part that stays in the segments. */
function compareOpened(t: Test, { seed, count, model, window }: Opened, content: WalContent): void {
  const where = `seed ${seed}, step ${count}`
  const { base, older = [], entries: found } = content
  const first = found[0]?.index ?? model.last + 1
  const spans = older.map((span) => [span.first, span.last])
  const gaps = spans.filter(([start], i) => start !== (spans[i - 1]?.[1] ?? base.index) + 1)
  if (base.index !== model.base || gaps.length > 0 || (older.at(-1)?.last ?? base.index) !== first - 1)
    t.same(spans, [], `${where}: spans do not reach from ${base.index} to ${first}`)
  const expected = model.range(first, model.last)
  if (textsOf(found).join('\n') !== textsOf(expected).join('\n'))
    t.same(textsOf(found), textsOf(expected), where)
  const log = new RaftLog(base, found, older)
  for (const { index, term } of model.list)
    if (log.termAt(index) !== term || termIn(content, index) !== term) t.fail(`${where}: term of ${index}`)
  const bytes = found.reduce((sum, { data }) => sum + data.length, 0)
  if (window && (found.length > window.entriesMax * 1.125 || bytes > window.bytesMax * 1.125))
    t.fail(`${where}: ${found.length} entries of ${bytes} bytes are more than the window`)
}

t.test(
  'returns the entries written last, over truncations, compactions, segments and restarts',
  async (t) => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const files = new MemoryFiles()
      const step = { random: xorshift(seed), term: 1 }
      const model = new Model()
      let log = logOn(files, { segmentBytesMax: SEGMENT_BYTES_MAX })
      log.open()
      for (let count = 0; count < 150; count += 1) {
        change(log, model, step)
        if (step.random() % 20 === 0) {
          log.close()
          const window = step.random() % 3 === 0 ? null : { entriesMax: step.random() % 20, bytesMax: 5_000 }
          log = logOn(files, { segmentBytesMax: SEGMENT_BYTES_MAX, window })
          compareOpened(t, { seed, count, model, window }, log.open())
        }
        const from = model.base + 1 + (step.random() % (model.list.length + 1))
        const through = from + (step.random() % 40)
        const found = textsOf(log.read({ from, through, bytesMax: ANY_BYTES }))
        if (found.join('\n') !== textsOf(model.range(from, through)).join('\n'))
          t.same(found, textsOf(model.range(from, through)), `seed ${seed}, ${from}..${through}`)
      }
      log.close()
    }
  },
)

t.test('keeps to the limit of bytes, but returns one entry however large it is', async (t) => {
  const log = logOn(new MemoryFiles())
  log.open()
  log.append([batchOf(1, { entries: [1, 2, 3, 4].map((index) => entry(index, 1, 'x'.repeat(1_000))) })])
  const indexes = (bytesMax: number) => log.read({ from: 2, through: 9, bytesMax })?.map(({ index }) => index)
  t.same(indexes(0), [2])
  t.same(indexes(2_500), [2, 3])
  t.same(indexes(ANY_BYTES), [2, 3, 4])
  t.equal(log.read({ from: 5, through: 9, bytesMax: ANY_BYTES }), null, 'beyond the end there is nothing')
})

t.test('a flipped bit gives no entry: the log fails until the next start finds the hole', async (t) => {
  const files = new MemoryFiles()
  const log = logOn(files)
  log.open()
  for (let index = 1; index <= 8; index += 1) log.append([batchOf(index, { entries: entries(index, index) })])
  const [path = ''] = files.segments()
  const bytes = files.bytesOf(path)
  const at = bytes.indexOf('entry 5 of')
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  t.equal(log.read({ from: 1, through: 4, bytesMax: ANY_BYTES })?.length, 4, 'intact entries are returned')
  const unreadable = { code: 'log_unreadable', hint: /Start this node again.*unreadable-disk\.md/ }
  t.throws(() => log.read({ from: 4, through: 8, bytesMax: ANY_BYTES }), {
    ...unreadable,
    message: /at byte/,
  })
  t.throws(
    () => log.append([batchOf(9, { entries: entries(9, 9) })]),
    unreadable,
    'nothing is acknowledged afterwards',
  )
  log.close()
  t.match(logOn(files).open().holes, [{ index: 5, term: 1 }])
})
