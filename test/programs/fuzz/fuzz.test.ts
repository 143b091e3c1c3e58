/** A slice of the fuzz: every operation of both planes and every action of S3 at a real node, and no answer that the documents and tables do not know. */
import t from 'tap'
import { shareOf } from '../../helpers/proof-size.ts'
import { FuzzRun } from './fuzz-run.ts'
import { FuzzWorld } from './fuzz-world.ts'
import { S3FuzzRun } from './s3-fuzz-run.ts'

const SEED = 1
const REQUESTS = shareOf(2500, 1000)
const S3_REQUESTS = shareOf(1500, 600)

t.test(
  `${REQUESTS} nearly right requests, npm run fuzz -- --seed ${SEED}`,
  { timeout: 1_800_000 },
  async (t) => {
    const world = await FuzzWorld.start(t, 1)
    const { faults, operations, statuses, requests } = await new FuzzRun(world.target, SEED).run(
      (report) => report.requests >= REQUESTS,
    )
    t.same(faults, [])
    t.same(world.errors, [], 'nothing in the log that an operator would have to see')
    t.ok(await world.isWell())
    t.ok(operations.size > 50, `${operations.size} operations`)
    const passed = [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0)
    t.ok(passed > requests / 10, `${passed} of ${requests} went through`)
  },
)

t.test(`${S3_REQUESTS} nearly right requests of the S3 API`, { timeout: 1_800_000 }, async (t) => {
  const world = await FuzzWorld.start(t, 1)
  const { faults, operations, statuses, requests } = await new S3FuzzRun(world.s3Target, SEED).run(
    (report) => report.requests >= S3_REQUESTS,
  )
  t.same(faults, [])
  t.same(world.errors, [], 'nothing in the log that an operator would have to see')
  t.ok(await world.isWell())
  t.ok(operations.size > 40, `${operations.size} actions`)
  const passed = [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0)
  t.ok(passed > requests / 10, `${passed} of ${requests} went through`)
})
