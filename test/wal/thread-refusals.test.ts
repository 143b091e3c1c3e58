/**
 * ThreadWal refuses a log that it cannot use, and an invalid batch. Nothing of either is acknowledged.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ThreadWal } from '../../cluster/wal/thread-wal.ts'
import { WalCorruptError } from '../../cluster/wal/wal-errors.ts'
import { StartError } from '../../cluster/base/types.ts'
import { entries, WalSession } from '../port-suites/wal.ts'

const scratch = mkdtempSync(join(tmpdir(), 'holdfast-wal-refusals-'))
t.teardown(() => rmSync(scratch, { recursive: true, force: true }))

const identity = { clusterId: 'cluster-1', nodeId: 'node-a', incarnation: 'first', reserveBytes: 4096 }
let places = 0
function newDir(): string {
  return join(scratch, `place-${++places}`, 'raft')
}

t.test('ThreadWal', async (t) => {
  t.test('refuses a damaged log with the file, the place and what to do', async (t) => {
    const dir = newDir()
    const session = await WalSession.open(new ThreadWal({ dir, ...identity }))
    await session.settled(session.append({ entries: entries(1, 3) }))
    await session.wal.close()
    const file = join(dir, readdirSync(dir).find((name) => name.endsWith('.wal')) as string)
    writeFileSync(file, 'no log at all')
    const error = await WalSession.open(new ThreadWal({ dir, ...identity })).catch((cause: unknown) => cause)
    t.ok(error instanceof WalCorruptError)
    t.match(error, { code: 'log_damaged', file, offset: 0, hint: /copy/ })
  })

  t.test('refuses the log of another cluster, node or incarnation', async (t) => {
    const dir = newDir()
    await (await WalSession.open(new ThreadWal({ dir, ...identity }))).wal.close()
    for (const other of [{ clusterId: 'cluster-2' }, { nodeId: 'node-b' }, { incarnation: 'second' }]) {
      const error = await WalSession.open(new ThreadWal({ dir, ...identity, ...other })).catch(
        (cause: unknown) => cause,
      )
      t.ok(error instanceof StartError)
      t.match(error, { code: 'log_foreign' })
    }
  })

  t.test('reports an invalid batch once as fatal and acknowledges nothing after it', async (t) => {
    const session = await WalSession.open(new ThreadWal({ dir: newDir(), ...identity }))
    await session.settled(session.append({ entries: entries(1, 2) }))
    session.append({ entries: entries(9, 9) })
    session.append({ entries: entries(3, 3) })
    await session.wal.close()
    t.same(session.durable, [1])
    t.equal(session.fatal.length, 1)
    t.match(session.fatal[0]?.message, /leaves a gap/)
    session.append({ entries: entries(3, 3) })
  })
})
