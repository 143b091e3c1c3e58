/** Lines about an operation where no bar is drawn: every change at once, and a line at regular intervals without a change. */
import t from 'tap'
import { NEWS_EVERY_MS, LongOperationNews } from '../../src/cli/admin/operation-news.ts'

const PROGRESS = {
  blobsTotal: 0,
  blobsDone: 0,
  bytesTotal: 0,
  bytesMoved: 0,
  checksumFailures: 0,
  skipped: 0,
  tasksOpen: 0,
}
const JOIN = { type: 'join', status: 'running', phase: 'catching up', progress: PROGRESS } as const
const stalled = { code: 'learner_not_ready', message: '"n4" gets no vote: look at its disk' }

t.test('prints a change at once, a stall with its blocker, and a line at regular intervals', async (t) => {
  const lines: string[] = []
  let now = 0
  const news = new LongOperationNews(
    (line) => lines.push(line),
    () => now,
  )
  const look = (more: object = {}): void => news.look({ ...JOIN, blockers: [], etaSeconds: null, ...more })
  look({ etaSeconds: 10 })
  for (now = 500; now < NEWS_EVERY_MS; now += 500) look()
  t.same(lines, ['[0s] join running: catching up, about 10s left'])
  now = NEWS_EVERY_MS
  look()
  now += 500
  look({ phase: 'stalled: it cannot catch up', blockers: [stalled] })
  t.same(lines.slice(1), [
    '[30s] join running: catching up',
    `[31s] join running: stalled: it cannot catch up; blocked by learner_not_ready: ${stalled.message}`,
  ])
  const progress = {
    ...PROGRESS,
    blobsTotal: 10,
    blobsDone: 3,
    skipped: 1,
    bytesTotal: 2048,
    bytesMoved: 1024,
  }
  look({ type: 'demote', phase: 'moving copies away', progress, etaSeconds: 65 })
  t.equal(
    lines.at(-1),
    '[31s] demote running: moving copies away, 4 of 10, 1.0 KiB of 2.0 KiB, about 1m5s left',
  )
})
