/**
 * Whole nodes in a simulated world whose state is behind the link between two threads: everything that crosses is cloned, and arrives
 * later. Every promise holds as it does where the halves are joined directly.
 *
 * Rerun one seed with `node test/raft-thread/simulated-link.test.ts`: the seed and the plan are all that a run follows from.
 */
import t from 'tap'
import { type Outcome, runSeed } from '../programs/simulator/run-seed.ts'
import { allowMinutes } from '../programs/simulator/time-limit.ts'

const SEEDS = 5
const EVENTS = 10_000
const MINUTES_MAX = 5

allowMinutes(t, MINUTES_MAX)

t.test('nodes whose state is behind the link', { timeout: MINUTES_MAX * 60_000 }, async (t) => {
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const outcome = await runSeed({ seed, events: EVENTS, plan: { isBehindLink: true } })
    t.equal(outcome.violation, null, `every promise is kept in seed ${seed}`)
    outcomes.push(outcome)
  }
  const sum = (figure: string): number =>
    outcomes.reduce((all, { figures }) => all + Number(Reflect.get(figures, figure)), 0)
  for (const figure of ['elections', 'acknowledged', 'reads', 'crashes', 'snapshots', 'rebuilt'])
    t.ok(sum(figure) > 0, `${sum(figure)} ${figure}`)
  const short = { seed: 2, events: 1_500, plan: { isBehindLink: true } }
  t.equal((await runSeed(short)).hash, (await runSeed(short)).hash, 'a run can be repeated')
})
