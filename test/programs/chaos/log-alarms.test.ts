import t from 'tap'
import { waitingText } from '../../../src/cli/local/server-command.ts'
import { alarmingLines, isExplained, isRemovalNotice } from './log-alarms.ts'

const line = (level: string, at: number, rest: object): string =>
  JSON.stringify({ level, time: new Date(at).toISOString(), node: 'n1', ...rest })

t.test('alarmingLines', async (t) => {
  const bug = line('error', 2000, { msg: 'request failed unexpectedly' })
  const log = [
    line('info', 1000, { msg: 'node started' }),
    line('warn', 1500, { msg: 'slow' }),
    bug,
    '',
  ].join('\n')

  await t.test('are those of level error and above', async (t) => t.strictSame(alarmingLines(log), [bug]))

  await t.test('show the message of an error without its stack', async (t) => {
    const [shown = ''] = alarmingLines(
      line('error', 2000, { err: { message: 'no copy: n3 is away', stack: 'at x' } }),
    )
    t.match(shown, /no copy: n3 is away/)
    t.notMatch(shown, /at x/)
  })

  await t.test('are all lines that are no log line: the output of a crashing program', async (t) => {
    t.strictSame(alarmingLines(`${line('info', 1000, {})}\nTypeError: x is undefined\n`), [
      'TypeError: x is undefined',
    ])
  })
})

t.test('isExplained', async (t) => {
  const excuses = [{ since: 10_000, until: 12_000 }]
  const full = (at: number): string =>
    line('fatal', at, { msg: 'node failed', err: { message: 'No space left on device' } })
  const left = (log: string): number => alarmingLines(log, (one) => isExplained(one, excuses)).length

  await t.test('excuses messages of a full disk while it was full', async (t) => {
    t.equal(left(full(11_000)), 0)
    t.equal(left(full(9000)), 1)
    t.equal(left(full(60_000)), 1)
  })

  await t.test('excuses the last words of a program by the time of the line before', async (t) => {
    t.equal(left(`${full(11_000)}\nerror: Cannot write: the disk is full; free space`), 0)
    t.equal(left(`${full(60_000)}\nerror: Cannot write: the disk is full; free space`), 2)
  })

  await t.test('reads the cause that a program prints below its last words', async (t) => {
    const words = 'error: Cannot trust the blob disk any more: Cannot flush blobs to the disk'
    t.equal(left(`${full(11_000)}\n${words}\n  because: ENOSPC: no space left on device, fsync`), 0)
    t.equal(left(`${full(11_000)}\n${words}\n  because: EIO: i/o error, fsync`), 1)
  })

  await t.test('excuses a first start on a full disk, which has no line before it', async (t) => {
    const words =
      'error: Cannot lock the data directory /data\n  because: IO error: LOCK: No space left on device'
    t.equal(left(words), 0)
    t.equal(alarmingLines(words, (one) => isExplained(one, [])).length, 1, 'and no disk was ever full')
  })

  await t.test('excuses nothing else in that time', async (t) => {
    t.equal(left(line('error', 11_000, { msg: 'states of the nodes differ' })), 1)
  })
})

t.test('the notice of a waiting node is no crash', async (t) => {
  const identity = { nodeId: 'n4', incarnation: 'i', peerAddress: '10.0.0.4:9002' }
  for (const fingerprint of [null, 'AB:CD'])
    t.same(alarmingLines(waitingText({ ...identity, fingerprint })), [])
  t.same(alarmingLines('n4 waits for nothing'), ['n4 waits for nothing'])
})

t.test('isRemovalNotice', async (t) => {
  const left = (log: string): number => alarmingLines(log, isRemovalNotice).length

  await t.test('excuses only the removal notice of a node', async (t) => {
    const msg = 'other nodes refuse this data directory'
    t.equal(left(line('error', 1000, { code: 'member_tombstoned', msg })), 0)
    t.equal(left(line('error', 1000, { code: 'member_rolled_back', msg })), 1)
    t.equal(left(line('error', 1000, { msg: 'states of the nodes differ' })), 1)
  })
})
