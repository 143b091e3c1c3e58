/**
 * ThreadWal keeps the contract on a real disk, survives SIGKILL with every acknowledged entry, and reports failures.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ThreadWal } from '../../cluster/wal/thread-wal.ts'
import { batchOf, entries, entry, plain, walContract, WalSession } from '../port-suites/wal.ts'

/** This file runs compiled as well, when coverage is measured. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const scratch = mkdtempSync(join(tmpdir(), 'holdfast-wal-'))
t.teardown(() => rmSync(scratch, { recursive: true, force: true }))

const identity = { clusterId: 'cluster-1', nodeId: 'node-a', incarnation: 'first', reserveBytes: 4096 }
let places = 0
function newDir(): string {
  return join(scratch, `place-${++places}`, 'raft')
}

/** A file system of half a megabyte, or the reason why there is none. */
function mountSmall(): { path: string } | string {
  const path = join(scratch, 'small')
  mkdirSync(path)
  const mount = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', path])
  return mount.status === 0
    ? { path }
    : `mounting needs rights that this run does not have: ${mount.error?.message ?? mount.stderr.toString()}`
}

/** Flips a bit of the text that the entry was made with. */
function damageIn(dir: string, index: number): void {
  for (const name of readdirSync(dir).filter((file) => file.endsWith('.wal'))) {
    const bytes = readFileSync(join(dir, name))
    const offset = bytes.indexOf(`entry ${index} of term`)
    if (offset === -1) continue
    bytes[offset] = (bytes[offset] as number) ^ 1
    writeFileSync(join(dir, name), bytes)
  }
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

  t.test('returns holes, and closes them with the given entries', async (t) => {
    const dir = newDir()
    const session = await WalSession.open(new ThreadWal({ dir, ...identity }))
    await session.settled(session.append({ entries: entries(1, 5) }))
    await session.wal.close()
    damageIn(dir, 2)
    const holed = await WalSession.open(new ThreadWal({ dir, ...identity }))
    t.same(holed.content?.holes, [{ index: 2, term: 1 }])
    t.throws(() => holed.wal.append(batchOf(1)), { message: /no holes/ })
    const repaired = await holed.wal.repair({ committed: entries(2, 2) })
    t.same(plain(repaired), plain({ ...repaired, entries: entries(1, 5) }))
    await holed.settled(holed.append({ entries: entries(6, 6) }))
    await holed.wal.close()
    damageIn(dir, 6)
    const again = await WalSession.open(new ThreadWal({ dir, ...identity }))
    await t.rejects(again.wal.repair({ base: { index: 5, term: 1 } }), { message: /does not reach the hole/ })
    again.append({})
    await again.wal.close()
    t.same(again.durable, [])
  })

  t.test('reports once that the disk is full, and acknowledges no batch that it does not keep', async (t) => {
    const mounted = mountSmall()
    if (typeof mounted === 'string') return t.plan(0, mounted)
    t.teardown(() => spawnSync('/bin/umount', [mounted.path]))
    const options = { dir: join(mounted.path, 'raft'), ...identity, reserveBytes: 128 * 1024 }
    const wal = new ThreadWal(options)
    const session = await WalSession.open(wal)
    await session.settled(session.append({ entries: entries(1, 1) }))
    t.equal(new Set(readdirSync(options.dir)).has('reserve'), true, 'it is there before anything is written')
    t.equal(wal.metrics().reserveBytes, 128 * 1024)
    let index = 1
    while (session.fatal.length === 0) {
      index++
      await session.settled(session.append({ entries: [entry(index, 1, 'x'.repeat(8000))] }))
    }
    await session.wal.close()
    t.equal(session.diskFull, 1)
    t.match(session.fatal[0], { name: 'WalWriteError', message: /the disk is full; free space/ })
    t.ok(index * 8000 > 128 * 1024, `${index - 1} entries had room`)
    const room = join(scratch, 'with-room')
    cpSync(options.dir, room, { recursive: true })
    const again = await WalSession.open(new ThreadWal({ ...options, dir: room }))
    t.ok((again.content?.entries.length ?? 0) >= session.durable.length)
    await again.wal.close()
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
