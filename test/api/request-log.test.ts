/** Which requests have a line in the log. */
import t from 'tap'
import { isProblem } from '../../src/api/request-log.ts'
import { until } from '../helpers/async.ts'
import { ApiWorld } from './api-world.ts'

const OBJECT = '/api/v1/buckets/photos/objects/cat'

const statusesOf = ({ memory }: ApiWorld): readonly unknown[] =>
  memory.lines
    .filter(({ message }) => message === 'request served')
    .map(({ fields }) => 'status' in fields && fields.status)

t.test('problems, unless set otherwise: what is refused has a line, what goes well has none', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const before = statusesOf(world)
  t.same(before, [])
  await world.call({ path: OBJECT, token, method: 'PUT', body: 'a cat' })
  await world.call({ path: OBJECT, token })
  await world.call({ path: `${OBJECT}s`, token })
  await world.call({ path: OBJECT, token: 'none' })
  await until('the refusals are logged', () => statusesOf(world).length >= 2)
  t.same(statusesOf(world), [404, 401])
})

t.test('all: each request has a line', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t, { requestLines: 'all' })
  const before = statusesOf(world).length
  await world.call({ path: OBJECT, token, method: 'PUT', body: 'a cat' })
  await world.call({ path: OBJECT, token })
  await until('both are logged', () => statusesOf(world).length === before + 2)
  t.same(statusesOf(world).slice(before), [200, 200])
})

t.test(
  'probes have no line, of a node that is not ready neither; a scrape that is refused has one',
  async (t) => {
    const { world } = await ApiWorld.withBucket(t)
    await world.call({ path: '/readyz' })
    world.memory.notReady = ['it starts']
    t.equal((await world.call({ path: '/readyz' })).status, 503)
    await world.call({ path: OBJECT, token: 'none' })
    await until('the refusal after them is logged', () => statusesOf(world).length >= 1)
    t.same(statusesOf(world), [401])
  },
)

t.test('what is slow or breaks off is a problem too', (t) => {
  const well = { status: 200, finished: true, durationMs: 999 }
  t.equal(isProblem(well), false)
  t.equal(isProblem({ ...well, durationMs: 1_000 }), true)
  t.equal(isProblem({ ...well, finished: false }), true)
  t.equal(isProblem({ ...well, status: 304 }), false)
  t.equal(isProblem({ ...well, status: 400 }), true)
  t.end()
})
