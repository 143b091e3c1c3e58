/**
 * Three real processes, random requests at each of them: every answer is the one that the model of versions gives.
 *
 * A failure names its seed. HOLDFAST_SEED repeats it, HOLDFAST_REQUESTS (800) makes it longer.
 */
import t from 'tap'
import { ObjectClient } from '../helpers/object-client.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { Random } from '../programs/simulator/random.ts'
import { ModelledObjects } from './modelled-objects.ts'
import { ModelledReads } from './modelled-reads.ts'
import { RandomRequests } from './random-requests.ts'

const REQUESTS = Number(process.env['HOLDFAST_REQUESTS'] ?? 800)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? 20_261_122)
/** Kinds of answers, without which a run of usual length shows little. */
const OUTCOMES_MIN = 30
/** Far more than it takes on any machine. */
const REQUEST_MS_MAX = 200

t.test('objects', { timeout: 900_000 + REQUESTS * REQUEST_MS_MAX }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  const nodes = new Random(SEED, 'nodes')
  const client = new ObjectClient(cluster, () => nodes.pick(cluster.plan).nodeId)
  const objects = new ModelledObjects(client)
  const reads = new ModelledReads(objects, new Random(SEED, 'pages'))
  const requests = new RandomRequests(objects, reads, new Random(SEED, 'requests'))

  await t.test('are at every node what the model says, from one request to the next', async (t) => {
    try {
      await requests.run(REQUESTS)
    } catch (cause) {
      t.comment(client.lines.join('\n'))
      throw new Error(`seed ${SEED}, request ${client.requests}: ${String(cause)}`, { cause })
    }
    const outcomes = [...objects.outcomes].map(([outcome, times]) => `${outcome} ${times}`).sort()
    t.comment(`${client.requests} requests, ${requests.lost} with unknown outcome: ${outcomes.join(', ')}`)
    t.ok(client.requests >= REQUESTS)
    t.ok(outcomes.length >= OUTCOMES_MIN || REQUESTS < 800, `${outcomes.length} kinds of answers are many`)
  })
})
