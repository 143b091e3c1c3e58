/**
 * The building blocks of transfers: parts, bounded concurrency, the progress line, names.
 */
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { scopesOf } from '../../src/cli/admin/scope-options.ts'
import { forEachBounded } from '../../src/cli/base/bounded.ts'
import { crc64nvme } from '../../src/cli/objects/digests.ts'
import { openFile } from '../../src/cli/objects/local-files.ts'
import { partBytesFor } from '../../src/cli/objects/part-size.ts'
import { joinedParts, PART_BYTES_MAX, PART_COUNT_MAX } from '../../src/client/parts.ts'
import { isLocalPath, remotePath } from '../../src/cli/objects/remote-path.ts'
import { printable, tableLines } from '../../src/cli/base/printing.ts'
import { progressLine, progressOn } from '../../src/cli/base/progress.ts'
import { collected, deferred } from '../helpers/async.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

async function* of<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

t.test('parts contain the bytes of the pieces, regardless of their sizes', async (t) => {
  const property = fc.asyncProperty(
    fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 }),
    fc.integer({ min: 1, max: 16 }),
    async (pieces, partBytes) => {
      const parts = await collected(joinedParts(of(pieces), partBytes))
      const isFull = parts.slice(0, -1).every((part) => part.length === partBytes)
      const last = parts.at(-1)?.length ?? -1
      const isEnd = last <= partBytes && (last > 0 || parts.length === 1)
      return isFull && isEnd && Buffer.concat(parts).equals(Buffer.concat(pieces))
    },
  )
  await fc.assert(property, { numRuns: 300, seed: 7 })
  t.pass('300 streams, seed 7')
})

t.test('the largest object fits in the most parts', async (t) => {
  const largest = PART_BYTES_MAX * PART_COUNT_MAX
  for (const size of [0, 1, 2 ** 30, 2 ** 40, largest]) {
    t.ok(Math.ceil(size / partBytesFor(size)) <= PART_COUNT_MAX, `${size}`)
    t.ok(partBytesFor(size) <= PART_BYTES_MAX, `${size}`)
  }
})

t.test('CRC64NVME matches the check value of the CRC catalogue', async (t) => {
  const digest = await crc64nvme()
  digest.update(Buffer.from('1234'))
  digest.update(Buffer.from('56789'))
  t.equal(digest.digest(), Buffer.from('ae8b14860a799888', 'hex').toString('base64'))
})

t.test('a file that changes while it is read is refused', async (t) => {
  const path = join(temporaryFolder(t), 'growing')
  writeFileSync(path, 'begin')
  const file = await openFile(path, new AbortController().signal)
  t.teardown(() => file.close())
  await file.assertUnchanged()
  appendFileSync(path, 'more')
  await t.rejects(file.assertUnchanged(), { code: 'file_changed' })
})

t.test('forEachBounded', async (t) => {
  await t.test('never works on more items than the limit', async (t) => {
    let now = 0
    let most = 0
    await forEachBounded(of(Array.from({ length: 20 }, (_, n) => n)), 3, async (n) => {
      most = Math.max(most, ++now)
      for (let turn = 0; turn <= n % 3; turn++) await setImmediate()
      now--
    })
    t.equal(most, 3)
  })

  await t.test('throws the first failure after the items in progress have ended', async (t) => {
    const slow = deferred()
    let hasEnded = false
    const all = forEachBounded(of([0, 1, 2, 3, 4]), 2, async (n) => {
      if (n === 1) throw new Error('one failed')
      await slow.promise
      hasEnded = true
    })
    slow.resolve()
    await t.rejects(all, { message: 'one failed' })
    t.ok(hasEnded)
  })

  await t.test('keeps nothing of items that have ended', async (t) => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const seen: WeakRef<object>[] = []
    let kept = -1
    async function* many(): AsyncGenerator<object> {
      for (let n = 0; n < 500; n++) {
        const item = { n }
        seen.push(new WeakRef(item))
        yield item
      }
      // References live to the end of a turn.
      await setImmediate()
      collectGarbage()
      kept = seen.filter((item) => item.deref() !== undefined).length
    }
    await forEachBounded(many(), 2, () => setImmediate())
    t.ok(kept >= 0 && kept < 50, `${kept} of 500 items are kept`)
  })

  await t.test('requests no item after a failure', async (t) => {
    let requested = 0
    async function* counted(): AsyncGenerator<number> {
      for (;;) yield ++requested
    }
    const all = forEachBounded(counted(), 2, async (n) => {
      await setImmediate()
      if (n === 1) throw new Error('one failed')
      await setImmediate()
    })
    await t.rejects(all, { message: 'one failed' })
    t.ok(requested <= 2, `${requested} were requested`)
  })

  await t.test('does not wait for an item that never arrives', async (t) => {
    async function* stuck(): AsyncGenerator<number> {
      yield 1
      await new Promise(() => {})
    }
    await t.rejects(
      forEachBounded(stuck(), 2, () => Promise.reject(new Error('gone'))),
      { message: 'gone' },
    )
  })
})

t.test('the bar', async (t) => {
  const screen = (isTTY: boolean) => {
    const written: string[] = []
    return { written, isTTY, columns: 60, write: (text: string) => written.push(text) }
  }
  let now = 0
  const terminal = screen(true)
  const bar = progressOn(terminal, 'cat.jpg', true, () => now)
  bar.expect(1000)
  for (now = 1; now <= 1000; now++) bar.advance(1)
  bar.end()
  t.ok(terminal.written.length <= 13, 'is drawn ten times a second')
  t.ok(terminal.written.every((line) => line.length <= 60 + '\r\u001b[K'.length))
  t.equal(terminal.written.at(-1), '\r\u001b[K', 'is erased at the end')
  for (const silent of [screen(false), screen(true)]) {
    const none = progressOn(silent, 'cat.jpg', silent.isTTY === false)
    none.expect(1)
    none.advance(1)
    none.end()
    t.same(silent.written, [], silent.isTTY ? 'not with --no-progress' : 'not into a pipe')
  }
  t.match(
    progressLine({ label: 'a\u001b[2J', done: 512, total: 1024, seconds: 2 }),
    /^"a\\u001b\[2J" {2}\[#{10}\.{10}\] {2}50% {2}512 B of 1\.0 KiB {2}256 B\/s {2}2s left$/,
  )
  t.match(progressLine({ label: 'a', done: 512, total: null, seconds: 0 }), /^a {2}512 B/)
  t.equal(
    progressLine({ label: 'join: keeping up', done: 0, total: null, seconds: 9 }),
    'join: keeping up',
    'an operation without bytes shows only its name',
  )
})

t.test('names', async (t) => {
  t.same(remotePath('photos/a//b/../c'), { bucket: 'photos', key: 'a//b/../c' })
  t.same(remotePath('photos'), { bucket: 'photos', key: '' })
  for (const text of ['', '/a', './a', '..', '../a'])
    t.throws(() => remotePath(text), { code: 'invalid_argument' })
  t.same(['.', '..', './a', '../a', '/a'].map(isLocalPath), [true, true, true, true, true])
  t.same(['a', 'a/..', '...', '.a/b'].map(isLocalPath), [false, false, false, false])
  t.equal(printable('ü b'), 'ü b')
  for (const odd of ['a\nb', 'a\u202eb', 'a\u0007', 'a\u2028b'])
    t.match(printable(odd), /^"a\\[^\p{C}\p{Zl}]+"$/u, `U+${odd.charCodeAt(1).toString(16)}`)
  t.same(
    tableLines([
      ['a', 'long', 'x'],
      ['bb', '', 'y'],
    ]),
    ['a   long  x', 'bb        y'],
  )
})

t.test('scopes of a key', async (t) => {
  t.equal(scopesOf({}), null)
  t.equal(scopesOf({ scopes: 'read,write' }), 'read,write')
  t.equal(
    scopesOf({ write: ['photos/in/', '*'], read: ['photos'] }),
    'op=read:bucket=photos:prefix=,op=write:bucket=photos:prefix=in/,op=write:bucket=*:prefix=',
  )
  // One more entry could be injected by a comma, and one more field by a colon in the bucket name.
  for (const place of ['photos/a,read', 'photos:prefix=x', '/a', ''])
    t.throws(() => scopesOf({ read: [place] }), { code: 'invalid_argument' }, place)
  t.throws(() => scopesOf({ scopes: 'read', read: ['photos'] }), { code: 'invalid_argument' })
})
