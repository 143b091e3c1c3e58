/**
 * One host becomes three and five, the leader dies and is replaced, five become three, under load: `npm run chaos -- --plan walk`. HOLDFAST_SEED sets
 * what clients do. Skipped with a reason where hosts cannot be made; then process/members.test.ts covers a part.
 */
import t from 'tap'
import { PLAYS_WHOLE } from '../../helpers/proof-size.ts'
import type { FailedRequest } from './http-ledger-client.ts'
import { keptReport } from './kept-report.ts'
import { obstacle } from './private-host.ts'
import { requestVerdict } from './request-verdict.ts'

const SEED = Number(process.env['HOLDFAST_SEED'] ?? 3)
const obstructed = obstacle()
const skip = !PLAYS_WHOLE
  ? 'a long proof, played by npm test -- --whole; process/members.test.ts does a part of it'
  : obstructed !== null && `hosts cannot be made here, see process/members.test.ts: ${obstructed}`
const STEPS = ['join', 'rebalance', 'restart', 'transfer', 'kill', 'replace', 'demote', 'remove']

t.test(`npm run chaos -- --plan walk --seed ${SEED}`, { skip, timeout: 1_800_000 }, async (t) => {
  const report = await keptReport(t, {
    plan: 'walk',
    nodes: 3,
    seconds: 60,
    nemeses: [],
    holdSeconds: null,
    seed: SEED,
  })
  const struck = report?.struck.map(({ nemesis }) => nemesis)
  t.same([...new Set(struck)].sort(), [...STEPS].sort())
})

t.test('a request that failed', async (t) => {
  const kills = [{ at: 100, doneAt: 110 }]
  const failed = (startedAt: number, endedAt: number): FailedRequest => ({
    what: 'put a',
    startedAt,
    endedAt,
  })
  const faults = (...requests: FailedRequest[]) => requestVerdict(requests, kills).faults

  await t.test('is excused when it was running at a kill', async (t) => {
    t.same(faults(failed(50, 105), failed(105, 900), failed(50, 900)), [])
  })
  await t.test('counts when it ended before, or started after', async (t) => {
    t.same(faults(failed(50, 99), failed(111, 900)), ['put a', 'put a'])
  })
})
