/**
 * The disks of three hosts are full together, and the only remedy is an operator who deletes a bucket and a tenant: a short form of
 * `npm run chaos -- --plan full-disks`. HOLDFAST_SECONDS sets how long they are full.
 */
import t from 'tap'
import { PLAYS_WHOLE } from '../../helpers/proof-size.ts'
import { keptReport } from './kept-report.ts'
import { obstacle } from './private-host.ts'

const SECONDS = Number(process.env['HOLDFAST_SECONDS'] ?? 3)
const obstructed = obstacle()
const skip = !PLAYS_WHOLE
  ? 'a long proof, played by npm test -- --whole; node/full-group.test.ts does a part of it'
  : obstructed !== null && `hosts cannot be made here, see node/full-group.test.ts: ${obstructed}`

t.test(
  `npm run chaos -- --plan full-disks --seconds ${SECONDS}`,
  { skip, timeout: (SECONDS + 840) * 1000 },
  async (t) => {
    const report = await keptReport(t, {
      plan: 'full-disks',
      nodes: 3,
      seconds: SECONDS,
      nemeses: [],
      holdSeconds: null,
      seed: 1,
    })
    t.equal(report?.struck.length, 1)
  },
)
