/**
 * The entries that `log.entries` returns: committed ones, and of the others only the lost entry itself.
 */
import t from 'tap'
import { Packr } from 'msgpackr'
import { logEntriesHandler } from '../../cluster/node/log/log-entries-call.ts'
import type { Entry } from '../../cluster/raft/types.ts'

/** Entries 1 to 4 of term 2; the first two are committed. */
const entries: readonly Entry[] = [1, 2, 3, 4].map((index) => {
  return { index, term: 2, kind: 'command', data: Uint8Array.of(index) }
})

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The returned indexes. */
async function indexesFor(header: { readonly indexes: number[]; readonly terms?: (number | null)[] }) {
  const handler = logEntriesHandler(() => ({
    baseIndex: 0,
    commitIndex: 2,
    entry: (index) => entries[index - 1] ?? null,
    onAskedBeyond: () => undefined,
  }))
  const { body } = await handler({ from: 'n2', header, body: nothing() })
  const rows = new Packr({ useRecords: false }).unpack(body as Uint8Array) as readonly [number][]
  return rows.map(([index]) => index)
}

t.test('log.entries', async (t) => {
  t.test('returns committed entries, for any requested term', async (t) => {
    t.strictSame(await indexesFor({ indexes: [1, 2], terms: [1, null] }), [1, 2])
  })

  t.test('returns no uncommitted entry of another term than the lost one', async (t) => {
    t.strictSame(await indexesFor({ indexes: [2, 3, 4], terms: [2, 1, 3] }), [2])
  })

  t.test(
    'returns no uncommitted entry to a caller that does not know the term of the lost entry',
    async (t) => {
      t.strictSame(await indexesFor({ indexes: [3, 4], terms: [null, null] }), [])
      t.strictSame(await indexesFor({ indexes: [3, 4] }), [])
    },
  )

  t.test('returns the lost entry itself, committed or not', async (t) => {
    t.strictSame(await indexesFor({ indexes: [3, 4], terms: [2, 2] }), [3, 4])
  })
})
