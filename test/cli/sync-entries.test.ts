/**
 * The decisions of a sync: every name once, in order; equal entries stay; nothing is removed without --delete.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { comparePaths, type Entry, isFilePath, sideBySide, stepFor } from '../../src/cli/sync/entry.ts'
import { fileFor, localEntries, removeFile } from '../../src/cli/sync/local-side.ts'
import { collected } from '../helpers/async.ts'

const entry = (path: string, size = 1, modifiedAt = 1000): Entry => ({ path, size, modifiedAt })

async function* of(entries: readonly Entry[]): AsyncGenerator<Entry> {
  yield* entries
}

const NAMES = fc.array(fc.constantFrom('a', 'b', 'a.b', 'a/', 'é', '\u{10000}', '\uffff'), {
  minLength: 1,
  maxLength: 3,
})
const PATHS = fc.uniqueArray(
  NAMES.map((names) => names.join('')),
  { maxLength: 8 },
)
const inOrder = (paths: readonly string[]): Entry[] => paths.toSorted(comparePaths).map((path) => entry(path))

t.test('both sides are merged as if all names were in memory', async (t) => {
  const property = fc.asyncProperty(PATHS, PATHS, async (left, right) => {
    const pairs = await collected(sideBySide(of(inOrder(left)), of(inOrder(right))))
    const all = [...new Set([...left, ...right])].toSorted(comparePaths)
    return (
      JSON.stringify(pairs.map(({ path, source, target }) => [path, source !== null, target !== null])) ===
      JSON.stringify(all.map((path) => [path, left.includes(path), right.includes(path)]))
    )
  })
  await fc.assert(property, { numRuns: 300, seed: 7 })
  t.pass('300 pairs of listings, seed 7')
})

t.test('a side that is out of order fails before an existing entry looks missing', async (t) => {
  await t.rejects(collected(sideBySide(of([entry('b'), entry('a')]), of([]))), /out of order/)
  await t.rejects(collected(sideBySide(of([]), of([entry('a'), entry('a')]))), /out of order/)
})

t.test('stepFor', async (t) => {
  const plain = { removes: false, comparesBytes: false }
  const mirror = { ...plain, removes: true }
  const step = (source: Entry | null, target: Entry | null, rule = plain) =>
    stepFor({ path: 'a', source, target }, rule)
  t.equal(step(entry('a'), null), 'copy')
  t.equal(step(entry('a', 2), entry('a', 1)), 'copy', 'of another size')
  t.equal(step(entry('a', 1, 2000), entry('a', 1, 1000)), 'copy', 'newer')
  t.equal(step(entry('a', 1, 1000), entry('a', 1, 1000)), 'keep')
  t.equal(step(entry('a', 1, 1000), entry('a', 1, 2000)), 'keep', 'older')
  t.equal(step(null, entry('a')), 'keep', 'nothing is removed without --delete')
  t.equal(step(null, entry('a'), mirror), 'remove')
  t.equal(step(entry('a', 1, 2000), entry('a', 1, 1000), { ...plain, comparesBytes: true }), 'compare')
  t.equal(
    step(entry('a', 2), entry('a', 1), { ...plain, comparesBytes: true }),
    'copy',
    'sizes that differ are enough',
  )
  const timed = { ...plain, keepsTimes: true }
  const object = (fileTime?: number | null): Entry => ({
    ...entry('a', 1, 9000),
    ...(fileTime === undefined ? {} : { fileTime }),
  })
  t.equal(step(object(), entry('a', 1, 1000), timed), 'ask', 'the listing does not say')
  t.equal(step(object(1001), entry('a', 1, 1000), timed), 'keep', 'it has the time that is kept')
  t.equal(step(object(1002), entry('a', 1, 1000), timed), 'copy')
  t.equal(step(object(null), entry('a', 1, 1000), timed), 'copy', 'no time is kept')
  t.equal(step(entry('a', 1, 9001), object(9001), timed), 'keep', 'the object may be the target')
  t.equal(step(entry('a', 1, 9001), object(), timed), 'ask')
  const link = { ...entry('a', 0), isLeftAlone: true }
  t.equal(step(null, link, mirror), 'keep', 'a link is not removed')
  t.equal(step(entry('a'), link, mirror), 'keep', 'a link is not replaced')
  t.equal(step(link, entry('a'), mirror), 'keep', 'the target of a link at the source is not removed')
})

t.test('a key that would lead out of the folder is not a file path', async (t) => {
  for (const path of ['a', 'a/b', '..a/b..', '...', 'a b/ü#?', '-rf', 'x'.repeat(255)])
    t.ok(isFilePath(path), path)
  const bad = [
    '',
    '..',
    '../a',
    'a/../b',
    'a/..',
    '.',
    './a',
    'a/./b',
    '/a',
    '/etc/passwd',
    'a//b',
    'a/',
    'a\0b',
  ]
  for (const path of [...bad, 'x'.repeat(256)]) t.notOk(isFilePath(path), JSON.stringify(path))
})

function folder(t: { teardown(callback: () => void): unknown }, files: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'hf-sync-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), file)
  }
  return root
}

t.test('a folder is listed in the order in which the service lists keys', async (t) => {
  const files = ['a.b', 'a/1', 'a/b/2', 'a-', 'ab', 'é', 'z', '\u{10000}', '\uffff']
  const root = folder(t, [...files, '.holdfast-0123456789abcdef.part', 'a/.holdfast-0123456789abcdef.part'])
  symlinkSync('/etc', join(root, 'link'))
  const found = await collected(localEntries(root))
  t.same(
    found.map(({ path }) => path),
    [...files, 'link'].toSorted(comparePaths),
    'without unfinished transfers',
  )
  t.match(
    found.filter(({ isLeftAlone }) => isLeftAlone === true).map(({ path }) => path),
    ['link'],
    'a link is listed and not followed',
  )
})

t.test('nothing is written or removed behind a link that leads out of the folder', async (t) => {
  const outside = folder(t, ['kept'])
  const root = folder(t, ['inside/1'])
  symlinkSync(outside, join(root, 'out'))
  await t.rejects(fileFor(root, 'out/new'), { code: 'outside_of_folder' })
  await t.rejects(removeFile(root, 'out/kept'), { code: 'outside_of_folder' })
  t.same(
    (await collected(localEntries(outside))).map(({ path }) => path),
    ['kept'],
  )
  t.equal(await fileFor(root, 'inside/deeper/2'), join(root, 'inside/deeper/2'))
  await removeFile(root, 'inside/1')
  t.same(
    (await collected(localEntries(root))).map(({ path }) => path),
    ['out'],
  )
})
