/**
 * Three real processes, clients at each of them, nodes killed and paused: the answers to the clients fit one order per object.
 *
 * HOLDFAST_SECONDS sets how long (60), HOLDFAST_SEED which faults. A conditional upload or delete is a cas. Unless one of them is set,
 * chaos/chaos.test.ts replaces it on machines that can create separate hosts.
 * [thesis 6.4: reads at any node are linearizable]
 */
import t from 'tap'
import { obstacle } from '../programs/chaos/private-host.ts'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { ProcessNemesis } from '../helpers/process-nemesis.ts'
import { RecordedWork } from '../helpers/recorded-work.ts'
import { explainVerdict } from '../programs/simulator/explain-verdict.ts'
import { registerModel } from '../programs/simulator/history-models.ts'
import { seeded } from '../programs/simulator/invented-history.ts'
import { checkHistory } from '../programs/simulator/linearizability.ts'

const isAskedFor = ['HOLDFAST_SECONDS', 'HOLDFAST_SEED'].some((name) => process.env[name] !== undefined)
const skip = !isAskedFor && obstacle() === null ? 'chaos/chaos.test.ts does it on hosts of their own' : false
const SECONDS = Number(process.env['HOLDFAST_SECONDS'] ?? 60)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 100_000)
const CONFIGURATIONS_MAX = 10_000_000

/** Far less than the lifetime of a token. */
const FAULTS_A_TOKEN = 100

function logIn(cluster: ProcessCluster): Promise<void> {
  return until('there is a token', () =>
    cluster.login('n1').then(
      () => true,
      () => false,
    ),
  )
}

t.test('a cluster of three processes', { skip, timeout: (SECONDS + 840) * 1000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await logIn(cluster)
  t.equal((await cluster.call('n2', 'POST', '/buckets', '{"name":"work"}')).status, 201)
  const work = new RecordedWork(cluster, { clientsPerNode: 3, keys: 5, seed: SEED })
  const nemesis = new ProcessNemesis(cluster, work, seeded(SEED))

  await t.test('gives its clients one order per object while nodes are killed and paused', async (t) => {
    const end = performance.now() + SECONDS * 1000
    work.start()
    t.teardown(() => work.stop())
    while (performance.now() < end && work.violations.length === 0) {
      await nemesis.strike()
      if (nemesis.done.length % FAULTS_A_TOKEN === 0) await logIn(cluster)
    }
    await work.stop()
    const { operations, failures, violations } = work
    const open = operations.filter(({ answer }) => answer === null).length
    const verdict = checkHistory(registerModel, operations, { configurationsMax: CONFIGURATIONS_MAX })
    const run = [
      `seed ${SEED}: ${operations.length} operations, ${open} with unknown outcome, not done: ${JSON.stringify([...failures])}`,
      `${nemesis.done.length} faults: ${nemesis.done.join(', ')}`,
    ].join('\n')
    t.strictSame(violations, [], `every answer is allowed\n${run}`)
    t.equal(verdict.outcome, 'linearizable', `${explainVerdict(registerModel, verdict)}\n${run}`)
    t.comment(run)
  })
})
