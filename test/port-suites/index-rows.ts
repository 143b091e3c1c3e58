/**
 * What every store of the rows of a pack index must do.
 */
import type { Test } from 'tap'
import type { IndexRows } from '../../cluster/blobs/packs/index-rows.ts'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

/** `makeRows` gives rows that are open and empty. */
export async function indexRowsContract(t: Test, makeRows: (t: Test) => Promise<IndexRows>): Promise<void> {
  const keysOf = async (rows: IndexRows, range: Parameters<IndexRows['entries']>[0]) => {
    const keys: string[] = []
    for await (const [key] of rows.entries(range)) keys.push(key)
    return keys
  }

  t.test('returns the last written value, and nothing for a removed key', async (t) => {
    const rows = await makeRows(t)
    await rows.write(
      new Map([
        ['na', bytes(1)],
        ['nb', bytes(2)],
        ['nc', bytes()],
      ]),
    )
    await rows.write(
      new Map([
        ['na', null],
        ['nb', bytes(3, 4)],
        ['nx', null],
      ]),
    )
    t.equal(await rows.get('na'), undefined)
    t.strictSame([...((await rows.get('nb')) ?? [])], [3, 4])
    t.strictSame([...((await rows.get('nc')) ?? [9])], [])
  })

  t.test('goes through a range in order, both ends excluded, up to a limit', async (t) => {
    const rows = await makeRows(t)
    const keys = ['m', 'n', 'n0.a', 'n0.b', 'n00.a', 'n1.-', 'n1.0', 'o', 'p1']
    await rows.write(new Map(keys.toReversed().map((key) => [key, bytes(1)])))
    t.strictSame(await keysOf(rows, { after: 'n', before: 'o' }), keys.slice(2, 7))
    t.strictSame(await keysOf(rows, { after: 'n0.a', before: 'o', limit: 2 }), keys.slice(3, 5))
    await rows.clear()
    t.strictSame(await keysOf(rows, { after: '', before: 'z' }), [])
  })

  t.test('hides later writes from a walk', async (t) => {
    const rows = await makeRows(t)
    await rows.write(new Map(['na', 'nb', 'nc'].map((key) => [key, bytes(1)])))
    const seen: string[] = []
    for await (const [key] of rows.entries({ after: 'n', before: 'o' })) {
      seen.push(key)
      await rows.write(
        new Map([
          ['nb', null],
          ['nz', bytes(1)],
        ]),
      )
    }
    t.strictSame(seen, ['na', 'nb', 'nc'])
  })
}
