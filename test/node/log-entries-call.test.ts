/**
 * What of a log leaves by `log.entries`: what is committed, and of the rest only the very entry that was lost.
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

/** The indexes that come back. */
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
  t.test('gives what is committed, whatever term was asked for', async (t) => {
    t.strictSame(await indexesFor({ indexes: [1, 2], terms: [1, null] }), [1, 2])
  })

  t.test('gives no uncommitted entry of another term than the lost one had', async (t) => {
    t.strictSame(await indexesFor({ indexes: [2, 3, 4], terms: [2, 1, 3] }), [2])
  })

  t.test('gives no uncommitted entry to whoever does not know the term of what was lost', async (t) => {
    t.strictSame(await indexesFor({ indexes: [3, 4], terms: [null, null] }), [])
    t.strictSame(await indexesFor({ indexes: [3, 4] }), [])
  })

  t.test('gives the very entry that was lost, committed or not', async (t) => {
    t.strictSame(await indexesFor({ indexes: [3, 4], terms: [2, 2] }), [3, 4])
  })
})
