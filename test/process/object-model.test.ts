/**
 * Three real processes, random requests at each of them through the native or the S3 API: every answer equals that of the model of versions.
 *
 * A failure names its seed. HOLDFAST_SEED repeats it, HOLDFAST_REQUESTS (800), or `--runs N` in its place, makes it longer.
 */
import { parseArgs } from 'node:util'
import t from 'tap'
import { ObjectClient } from '../helpers/object-client.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { s3Nodes } from '../helpers/s3-nodes.ts'
import { S3Translation } from '../helpers/s3-translation.ts'
import { Random } from '../programs/simulator/random.ts'
import { ModelledObjects } from './modelled-objects.ts'
import { ModelledReads } from './modelled-reads.ts'
import { RandomRequests } from './random-requests.ts'

const { values } = parseArgs({ options: { runs: { type: 'string' } }, strict: false })
const REQUESTS = Number(values.runs ?? process.env['HOLDFAST_REQUESTS'] ?? 800)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? 20_261_122)
/** Kinds of answers, required for a run of usual length to be meaningful. */
const OUTCOMES_MIN = 30
/** Far more than a request takes on any machine. */
const REQUEST_MS_MAX = 200

t.test('objects', { timeout: 1_800_000 + REQUESTS * REQUEST_MS_MAX }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  const nodes = new Random(SEED, 'nodes')
  const { accessKeyId, secretKey, tenantId } = cluster.setup
  const apis = new Random(SEED, 'apis')
  const translation = new S3Translation(s3Nodes(t, cluster), {
    secret: { accessKeyId: accessKeyId ?? '', secretKey: secretKey ?? '' },
    now: () => new Date(),
    isWanted: () => apis.chance(0.5),
  })
  const client = new ObjectClient(cluster, () => nodes.pick(cluster.plan).nodeId, translation.translate)
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
    const usage = await cluster.admin('n2', { method: 'GET', path: `/tenants/${tenantId}/usage` })
    if (requests.lost === 0) reads.usage(JSON.parse(usage.body.toString()) as Record<string, unknown>)
    const actions = [...translation.actions].map(([action, times]) => `${action} ${times}`)
    t.comment(`through S3: ${actions.join(', ')}`)
    const outcomes = [...objects.outcomes].map(([outcome, times]) => `${outcome} ${times}`).sort()
    t.comment(`${client.requests} requests, ${requests.lost} with unknown outcome: ${outcomes.join(', ')}`)
    t.ok(client.requests >= REQUESTS)
    t.ok(actions.length >= 20 || REQUESTS < 800, `${actions.length} actions of S3`)
    t.ok(outcomes.length >= OUTCOMES_MIN || REQUESTS < 800, `${outcomes.length} kinds of answers are many`)
  })
})
