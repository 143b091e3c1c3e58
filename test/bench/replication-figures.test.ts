/** The table of a measured replication. */
import t from 'tap'
import { replicationTable } from '../../scripts/bench/replication-figures.ts'

const SPAN = {
  objects: 200,
  bytes: 200 * 1024,
  writtenSeconds: 1,
  sentSeconds: 4,
  processorHere: 1.5,
  processorThere: 2,
  lags: [0.1, 2.5, 0],
}

t.test('rates are those until everything is there, not until it is acknowledged', async (t) => {
  const large = { ...SPAN, objects: 2, bytes: 64 * 1024 ** 2, lags: [] }
  const table = replicationTable({ small: SPAN, large, single: [30, 10, 20] })
  t.equal(table[2], '| 200 objects of 1024 bytes | 1.00 | 4.00 | 50.00 | 0.05 | 1.50 | 2.00 | 2.50 |')
  t.equal(table[3], '| 2 objects of 32 MiB | 1.00 | 4.00 | 0.50 | 16.78 | 1.50 | 2.00 | 0.00 |')
  t.match(table.at(-1), /^A single change: 20 ms .*, at most 30 ms, of 3$/)
})
