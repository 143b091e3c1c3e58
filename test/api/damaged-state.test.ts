/**
 * Requests that find damage of this node's state, on a real store: reads are repeated on the replacement state.
 */
import t from 'tap'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { Condition } from '../../cluster/index.ts'
import { type Ask, ApiWorld } from './api-world.ts'

const OBJECT = '/api/v1/buckets/photos/objects/cat'

t.test('a request that finds a damaged row', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const { memory } = world
  const ask = (more: Partial<Ask> = {}) => world.call({ path: OBJECT, token, ...more })
  await ask({ method: 'PUT', body: 'a cat' })
  const bucketKey = bucketKeys.bucket('acme', 'photos')
  const { state } = memory.services
  const objectKey = (): string =>
    versionKeys.object(state.get(bucketKeys.bucket('acme', 'photos'))?.id ?? '', 'cat')

  await t.test('is answered by the next state when it reads', async (t) => {
    for (const row of [bucketKey, objectKey(), tenantKeys.tenant('acme')]) {
      for (const [method, text] of [
        ['GET', 'a cat'],
        ['HEAD', ''],
      ] as const) {
        await memory.damageRow(row)
        const before = memory.barriers
        const got = await ask({ method })
        t.equal(got.status, 200, `${method}, ${row}`)
        t.equal(got.bytes.toString(), text)
        t.equal(memory.barriers - before, 3, 'once, again for the new state, and then as ever')
      }
    }
    await memory.damageRow(objectKey())
    const page = await ask({ path: '/api/v1/buckets/photos/objects' })
    t.match(page.json, { objects: [{ key: 'cat' }] }, 'a listing as well')
  })

  await t.test('leader_not_ready: is refused as retryable when no state replaces it in time', async (t) => {
    await memory.damageRow(objectKey())
    const late = new Condition('leader_not_ready', 'Cannot read: the state is being replaced')
    const replaces = memory.services.cluster.readBarrier
    let calls = 0
    t.intercept(memory.services.cluster, 'readBarrier', {
      value: () => (++calls > 1 ? Promise.reject(late) : Promise.resolve()),
    })
    t.match(await ask(), { status: 503, code: 'leader_not_ready' })
    t.equal(calls, 2)
    t.intercept(memory.services.cluster, 'readBarrier', { value: replaces })
    t.equal((await ask()).bytes.toString(), 'a cat')
  })

  await t.test('leader_not_ready: is not repeated when it writes, and has changed nothing', async (t) => {
    await memory.damageRow(bucketKey)
    const before = memory.proposals
    const large = Buffer.alloc(64 * 1024 + 1)
    t.match(await ask({ method: 'PUT', body: large }), { status: 503, code: 'leader_not_ready' })
    t.equal(memory.proposals, before)
    t.equal((await ask()).bytes.toString(), 'a cat')
    t.equal((await ask({ method: 'PUT', body: 'a dog' })).status, 200)
    t.equal((await ask()).bytes.toString(), 'a dog')
  })

  await t.test(
    'damage is met by a small write without a barrier: it is served once more behind one',
    async (t) => {
      await memory.damageRow(bucketKey)
      const { barriers, proposals } = memory
      t.equal((await ask({ method: 'PUT', body: 'a bird' })).status, 200)
      t.same([memory.barriers - barriers, memory.proposals - proposals], [1, 1])
      t.equal((await ask()).bytes.toString(), 'a bird')
    },
  )
})
