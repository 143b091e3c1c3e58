/**
 * A start holds one segment and the window of the log in memory, however long the log is, and returns spans for the rest.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { membersIn } from '../../cluster/node/lifecycle/log-repair-plan.ts'
import { recover } from '../../cluster/node/log/log-recovery.ts'
import { encodeConfiguration } from '../../cluster/raft/configuration.ts'
import { createCore } from '../../cluster/raft/core.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import { endOf } from '../../cluster/wal/entry-spans.ts'
import { batchOf, entry } from '../port-suites/wal.ts'
import { LIMITS } from '../raft/network.ts'
import { logOn } from './log-on-files.ts'
import { MemoryFiles } from './memory-files.ts'

const SEGMENT_BYTES_MAX = 256 * 1024
const WINDOW = { bytesMax: 128 * 1024, entriesMax: 400 }

/** Reports the bytes of buffers in use whenever a segment is about to be read. */
class WatchedFiles extends MemoryFiles {
  readonly held: number[] = []
  #collect: (() => void) | null = null

  watch(): void {
    setFlagsFromString('--expose-gc')
    this.#collect = runInNewContext('gc') as () => void
  }

  override read(path: string, bytesMax: number): Uint8Array {
    if (this.#collect !== null && bytesMax > 4096) {
      this.#collect()
      this.held.push(process.memoryUsage().arrayBuffers)
    }
    return super.read(path, bytesMax)
  }
}

const commandOf = (index: number, term: number, bytes: number): Entry => ({
  index,
  term,
  kind: 'command',
  data: Buffer.alloc(bytes, index),
})

t.test('a start holds one segment and the window, not the log', async (t) => {
  const files = new WatchedFiles()
  const log = logOn(files, { segmentBytesMax: SEGMENT_BYTES_MAX })
  log.open()
  for (let first = 1; first <= 4_000; first += 10) {
    const entries = Array.from({ length: 10 }, (_, i) => commandOf(first + i, 1, 2_000))
    log.append([batchOf(0, { hardState: { currentTerm: 1, votedFor: null }, entries })])
  }
  log.close()
  t.ok(files.segments().length > 25, 'the log is many times the window')
  files.watch()
  const content = logOn(files, { segmentBytesMax: SEGMENT_BYTES_MAX, window: WINDOW }).open()
  const [first = 0, ...later] = files.held
  t.ok(files.held.length > 25, 'every segment was looked at')
  // One segment that was just read through, the window of it and of the one before, and buffers that the collector has not freed yet.
  const most = Math.max(...later) - first
  t.ok(most <= 8 * SEGMENT_BYTES_MAX, `${most} bytes are held at most`)
  const bytes = content.entries.reduce((sum, { data }) => sum + data.length, 0)
  t.ok(bytes <= WINDOW.bytesMax + WINDOW.bytesMax / 8, `${bytes} bytes came back`)
  t.equal(endOf(content).index, 4_000)
  const spans = content.older ?? []
  t.equal(spans.at(-1)?.last, (content.entries[0]?.index ?? 0) - 1)
  t.equal(
    spans.reduce((sum, span) => sum + span.bytes, 0),
    ((content.entries[0]?.index ?? 0) - 1) * 2_000,
  )
})

t.test('configurations are returned whole from everywhere in the log, and are in force', async (t) => {
  const files = new MemoryFiles()
  const log = logOn(files, { segmentBytesMax: SEGMENT_BYTES_MAX })
  log.open()
  const voters = ['a', 'b', 'c']
  const data = encodeConfiguration({ voters, learners: ['d'], outgoing: [] })
  const list = Array.from({ length: 600 }, (_, i) => commandOf(i + 1, 1, 10))
  list[99] = { index: 100, term: 1, kind: 'configuration', data }
  log.append([batchOf(0, { hardState: { currentTerm: 1, votedFor: null }, entries: list })])
  log.close()
  const content = logOn(files, { window: { bytesMax: 1_000, entriesMax: 50 } }).open()
  t.ok((content.entries[0]?.index ?? 0) > 100, 'it is before the window')
  const found = (content.older ?? []).flatMap((span) => span.configurations)
  t.same(
    found.map(({ index }) => index),
    [100],
  )
  t.equal(found[0]?.data.buffer.byteLength, data.length, 'the segment around it is let go')
  const initial = { voters, learners: [], outgoing: [] }
  const { restored } = recover(content, null, initial)
  const core = createCore({ nodeId: 'a', electionTicks: 10, random: () => 1, limits: LIMITS }, restored)
  t.same(core.configurations.current.learners, ['d'])
  t.same(membersIn({ log: content, record: null, fault: null }, initial), [...voters, 'd'])
})

t.test('a damaged log is read whole, regardless of the window', async (t) => {
  const files = new MemoryFiles()
  const log = logOn(files)
  log.open()
  for (let index = 1; index <= 60; index += 1)
    log.append([
      batchOf(index, { hardState: { currentTerm: 1, votedFor: null }, entries: [entry(index, 1)] }),
    ])
  log.close()
  const [path = ''] = files.segments()
  const bytes = files.bytesOf(path)
  const at = bytes.indexOf('entry 5 of')
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  const holed = logOn(files, { window: { bytesMax: 100, entriesMax: 4 } })
  const { holes, entries, older } = holed.open()
  t.same([holes, entries.length, older], [[{ index: 5, term: 1 }], 60, undefined])
  t.equal(holed.repair({ committed: [entry(5, 1)] }).entries.length, 60)
  holed.close()
  t.equal(logOn(files).open().entries.length, 60)
})
