/**
 * What every backup target guarantees: the promises of src/backup/targets/target.ts as tests.
 *
 * Rule: a place gives a target over a store of its own that is empty at first.
 */
import type { Test } from 'tap'
import { type BackupTarget, TargetMissing, TargetRefused } from '../../src/backup/targets/target.ts'

export interface TargetPlace {
  readonly target: BackupTarget
}

export async function* piecesOf(...pieces: readonly (string | Uint8Array)[]): AsyncIterable<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
}

export async function readAll(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(Uint8Array.from(piece))
  return Buffer.concat(pieces)
}

export async function namesIn(target: BackupTarget, prefix: string): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of target.list(prefix)) names.push(name)
  return names
}

export function testTarget(t: Test, open: (t: Test) => Promise<TargetPlace>): void {
  t.test('what was put comes back, whole and in ranges', async (t) => {
    const { target } = await open(t)
    await target.put('a/b.c', piecesOf('hello', ' ', 'world'), 11)
    t.equal((await readAll(target.get('a/b.c'))).toString(), 'hello world')
    t.equal((await readAll(target.get('a/b.c', { offset: 4, length: 3 }))).toString(), 'o w')
    t.equal(await target.head('a/b.c'), 11)
  })

  t.test('a second put replaces the first', async (t) => {
    const { target } = await open(t)
    await target.put('a', piecesOf('first'), 5)
    await target.put('a', piecesOf('two'), 3)
    t.equal((await readAll(target.get('a'))).toString(), 'two')
    t.equal(await target.head('a'), 3)
  })

  t.test('no bytes are an object as well', async (t) => {
    const { target } = await open(t)
    await target.put('empty', piecesOf(), 0)
    t.equal((await readAll(target.get('empty'))).length, 0)
    t.equal(await target.head('empty'), 0)
  })

  t.test('nothing is stored when the bytes end early, are too many or fail', async (t) => {
    const { target } = await open(t)
    const failure = new Error('the source failed')
    await t.rejects(target.put('a', piecesOf('abc'), 4), TargetRefused)
    await t.rejects(target.put('a', piecesOf('abc', 'de'), 4), TargetRefused)
    await t.rejects(target.put('a', failing(failure), 4), failure)
    t.equal(await target.head('a'), undefined)
    t.same(await namesIn(target, ''), [])
  })

  t.test('what is not there is missing', async (t) => {
    const { target } = await open(t)
    await t.rejects(readAll(target.get('nothing/here')), TargetMissing)
    t.equal(await target.head('nothing/here'), undefined)
    await target.remove('nothing/here')
  })

  t.test('a list is in the order of names and holds the prefix alone', async (t) => {
    const { target } = await open(t)
    const names = ['a-b', 'a/b', 'a/c/d', 'a/c-d', 'a.b', 'b/a', 'a0', 'ab']
    for (const name of names) await target.put(name, piecesOf(name), name.length)
    t.same(await namesIn(target, ''), names.toSorted())
    t.same(await namesIn(target, 'a/'), ['a/b', 'a/c-d', 'a/c/d'])
    t.same(await namesIn(target, 'a/c'), ['a/c-d', 'a/c/d'])
    t.same(await namesIn(target, 'c'), [])
  })

  t.test('what was removed is gone, and its neighbours stay', async (t) => {
    const { target } = await open(t)
    await target.put('a/b', piecesOf('1'), 1)
    await target.put('a/c', piecesOf('2'), 1)
    await target.remove('a/b')
    t.same(await namesIn(target, ''), ['a/c'])
    await target.remove('a/c')
    t.same(await namesIn(target, ''), [])
    await target.put('a/d', piecesOf('3'), 1)
    t.same(await namesIn(target, ''), ['a/d'])
  })

  for (const name of [
    '',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/../b',
    '.a',
    'A',
    'a b',
    'a\\b',
    'ä',
    'a'.repeat(513),
  ]) {
    t.test(`the name ${JSON.stringify(name.slice(0, 20))} is refused`, async (t) => {
      const { target } = await open(t)
      await t.rejects(target.put(name, piecesOf('x'), 1), TargetRefused)
      await t.rejects(target.head(name), TargetRefused)
      await t.rejects(target.remove(name), TargetRefused)
      await t.rejects(readAll(target.get(name)), TargetRefused)
    })
  }
}

async function* failing(error: Error): AsyncIterable<Uint8Array> {
  yield Buffer.from('ab')
  throw error
}
