/**
 * ThreadWal keeps the contract on a real disk, survives SIGKILL with every acknowledgement, and fails aloud.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ThreadWal } from '../../cluster/wal/thread-wal.ts'
import { WalCorruptError } from '../../cluster/wal/wal-errors.ts'
import { StartError } from '../../cluster/types.ts'
import { entries, entry, walContract, WalSession } from '../contracts/wal.ts'

/** This file runs compiled as well, when coverage is measured. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const scratch = mkdtempSync(join(tmpdir(), 'holdfast-wal-'))
t.teardown(() => rmSync(scratch, { recursive: true, force: true }))

const identity = { clusterId: 'cluster-1', nodeId: 'node-a', incarnation: 'first' }
let places = 0
function newDir(): string {
  return join(scratch, `place-${++places}`, 'raft')
}

walContract('ThreadWal', () => {
  const dir = newDir()
  return { wal: () => new ThreadWal({ dir, ...identity }) }
})

walContract('ThreadWal with tiny segments', () => {
  const dir = newDir()
  return { wal: () => new ThreadWal({ dir, ...identity, segmentBytesMax: 1024 }) }
})

t.test('ThreadWal', async (t) => {
  t.test('loses no acknowledged entry when the process is killed', async (t) => {
    const dir = newDir()
    const writer = fileURLToPath(new URL(`wal-writer.${EXTENSION}`, import.meta.url))
    let before = 0
    for (const acksBeforeKill of [3, 40, 150]) {
      const child = spawn(process.execPath, [writer, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
      let acked = 0
      let acks = 0
      for await (const line of createInterface({ input: child.stdout })) {
        acked = Number(line)
        if (++acks === acksBeforeKill) child.kill('SIGKILL')
      }
      const session = await WalSession.open(new ThreadWal({ dir, ...identity, segmentBytesMax: 64 * 1024 }))
      const kept = session.content?.entries ?? []
      await session.wal.close()
      t.ok(kept.length >= acked && acked > before, `${kept.length} entries are kept of ${acked} acknowledged`)
      t.ok(
        kept.every(
          ({ index, data }, position) => index === position + 1 && data.every((byte) => byte === index % 251),
        ),
      )
      before = acked
    }
  })

  t.test('counts fsyncs and bytes', async (t) => {
    const wal = new ThreadWal({ dir: newDir(), ...identity })
    const session = await WalSession.open(wal)
    const { fsyncs, bytes } = wal.metrics()
    await session.settled(session.append({ entries: [entry(1, 1, 'x'.repeat(10_000))] }))
    t.equal(wal.metrics().fsyncs, fsyncs + 1)
    t.ok(wal.metrics().bytes > bytes + 10_000)
    t.ok(wal.metrics().fsyncSecondsTotal > 0)
    await wal.close()
  })

  t.test('does not touch the bytes that it was given', async (t) => {
    const session = await WalSession.open(new ThreadWal({ dir: newDir(), ...identity }))
    const given = entry(1, 1, 'still here')
    await session.settled(session.append({ entries: [given] }))
    t.equal(new TextDecoder().decode(given.data), 'still here')
    await session.wal.close()
  })

  t.test('refuses a damaged log with the file, the place and what to do', async (t) => {
    const dir = newDir()
    const session = await WalSession.open(new ThreadWal({ dir, ...identity }))
    await session.settled(session.append({ entries: entries(1, 3) }))
    await session.wal.close()
    const file = join(dir, readdirSync(dir)[0] as string)
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

  t.test('tells an impossible batch once as fatal and acknowledges nothing after it', async (t) => {
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

  t.test('rejects open when the directory cannot be made', async (t) => {
    const blocked = join(scratch, 'blocked')
    writeFileSync(blocked, '')
    chmodSync(blocked, 0o600)
    await t.rejects(WalSession.open(new ThreadWal({ dir: join(blocked, 'raft'), ...identity })), {
      name: 'WalWriteError',
    })
  })
})
