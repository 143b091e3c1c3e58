/**
 * Three real processes, random requests at each of them: every answer equals that of the model of versions.
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
/** Kinds of answers, required for a run of usual length to be meaningful. */
const OUTCOMES_MIN = 30
/** Far more than a request takes on any machine. */
const REQUEST_MS_MAX = 200

t.test('objects', { timeout: 900_000 + REQUESTS * REQUEST_MS_MAX }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  const nodes = new Random(SEED, 'nodes')
  const client = new ObjectClient(cluster, () => nodes.pick(cluster.plan).nodeId)
  const objects = new ModelledObjects(client)
  const reads = new ModelledReads(objects, new Random(SEED, 'pages'))
  const requests = new RandomRequests(objects, reads, new Random(SEED, 'requests'))

  await t.test('agree with the model at every node after every request', async (t) => {
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
