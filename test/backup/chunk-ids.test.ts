/** A set of chunk ids that takes little memory. */
import { hash } from 'node:crypto'
import t from 'tap'
import { ChunkIds } from '../../src/backup/read/chunk-ids.ts'

const idOf = (n: number): string => hash('sha256', `chunk ${n}`, 'hex')

t.test('ChunkIds', async (t) => {
  t.test('knows what was added, and nothing else, also what is added after a look', async (t) => {
    const ids = new ChunkIds()
    t.notOk(ids.has(idOf(0)))
    for (let n = 0; n < 5_000; n++) ids.add(idOf(n))
    for (let n = 0; n < 5_000; n++) if (!ids.has(idOf(n))) t.fail(`chunk ${n} is known`)
    for (let n = 5_000; n < 10_000; n++) if (ids.has(idOf(n))) t.fail(`chunk ${n} was not added`)
    ids.add(idOf(7_000))
    t.ok(ids.has(idOf(7_000)) && ids.has(idOf(4_999)) && !ids.has(idOf(7_001)))
    for (const id of ['0'.repeat(64), 'f'.repeat(64)]) {
      t.notOk(ids.has(id), id)
      ids.add(id)
      t.ok(ids.has(id), id)
    }
  })
})
