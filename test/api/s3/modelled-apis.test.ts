/**
 * Random sequences of requests, split at random between the native and the S3 API: both show one state, that of the model of versions.
 *
 * A failure is shrunk step by step and names its seed: HOLDFAST_SEED repeats it, HOLDFAST_RUNS (12) makes the search longer.
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Answer, Asked } from '../../helpers/process-cluster.ts'
import { ObjectClient, type ObjectServer } from '../../helpers/object-client.ts'
import { type ActionCounts, type S3Sent, type S3Server, S3Translation } from '../../helpers/s3-translation.ts'
import { ModelledObjects } from '../../process/modelled-objects.ts'
import { ModelledReads } from '../../process/modelled-reads.ts'
import { RandomRequests } from '../../process/random-requests.ts'
import { Random } from '../../programs/simulator/random.ts'
import { allowMinutes } from '../../programs/simulator/time-limit.ts'
import { type ApiAnswer, ApiWorld } from '../api-world.ts'

const RUNS = Number(process.env['HOLDFAST_RUNS'] ?? 12)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? 20_261_126)
const STEPS_MAX = 80

class WorldServer implements ObjectServer, S3Server {
  readonly #world: ApiWorld
  readonly #token: string

  constructor(world: ApiWorld, token: string) {
    this.#world = world
    this.#token = token
  }

  async ask(_: string, { method, path, body, headers = {} }: Asked): Promise<Answer> {
    const isText = typeof body === 'string'
    const type: Record<string, string> = isText ? { 'content-type': 'application/json' } : {}
    const bytes = isText || body instanceof Uint8Array ? { body: Buffer.from(body) } : {}
    const ask = {
      method,
      path: `/api/v1${path}`,
      token: this.#token,
      headers: { ...type, ...headers },
      ...bytes,
    }
    return answerOf(await this.#world.send(ask))
  }

  authority(): string {
    return `127.0.0.1:${this.#world.dataPort}`
  }

  async send(_: string, { body, ...sent }: S3Sent): Promise<Answer> {
    return answerOf(await this.#world.send(body === null ? sent : { ...sent, body }))
  }
}

const answerOf = ({ status, headers, bytes }: ApiAnswer): Answer => ({ status, headers, body: bytes })

async function runs(t: Test): Promise<(seeds: readonly number[]) => Promise<ActionCounts>> {
  const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 1_000_000 } })
  const { memory } = world
  const owner = await memory.adminToken('owner')
  let tenants = 0
  return async (seeds) => {
    const tenant = `tenant-${(tenants += 1)}`
    await memory.tenant(tenant)
    const scopes = 'read,write,delete,admin'
    const server = new WorldServer(world, await memory.bearer(tenant, scopes))
    let apis = new Random(seeds[0] ?? 0, 'buckets')
    const translation = new S3Translation(server, {
      secret: await memory.accessKey(tenant, scopes),
      now: () => new Date(memory.now),
      isWanted: () => apis.chance(0.5),
    })
    const client = new ObjectClient(server, () => 'n1', translation.translate)
    const objects = new ModelledObjects(client)
    const reads = new ModelledReads(objects, new Random(SEED, 'pages'))
    const requests = new RandomRequests(objects, reads, new Random(SEED, 'requests'))
    function* sources(): Generator<Random> {
      for (const seed of seeds) {
        apis = new Random(seed, 'apis')
        yield new Random(seed, 'requests')
      }
    }
    try {
      await requests.steps(sources())
      const path = `/admin/api/v1/tenants/${tenant}/usage`
      reads.usage((await world.send({ path, token: owner, admin: true })).json)
    } catch (cause) {
      throw new Error(`${String(cause)}\n${client.lines.slice(-8).join('\n')}`, { cause })
    }
    return translation.actions
  }
}

const MINUTES_MAX = 2 + RUNS
allowMinutes(t, MINUTES_MAX)

t.test('both APIs agree with one model', { timeout: MINUTES_MAX * 60_000 }, async (t) => {
  const run = await runs(t)
  const actions = new Map<string, number>()
  const steps = fc.array(fc.nat(), { minLength: 1, maxLength: STEPS_MAX, size: 'max' })
  const property = fc.asyncProperty(steps, async (seeds) => {
    for (const [action, times] of await run(seeds)) actions.set(action, (actions.get(action) ?? 0) + times)
  })
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: false, includeErrorInReport: true })
  t.comment([...actions].map(([action, times]) => `${action} ${times}`).join(', '))
  t.ok(actions.size > 15 || RUNS < 12, `${actions.size} actions of S3`)
})
