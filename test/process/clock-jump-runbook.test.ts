/**
 * The runbook about clocks: every line is typed verbatim, at nodes whose clocks have jumped, and the output is compared
 * with the page. [deploy/runbooks/clock-jump.md]
 */
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { installCommand, typed } from '../helpers/runbook.ts'
import { SkewedCluster, TOLERANCE_MS } from '../helpers/skewed-cluster.ts'
import { TypedPage } from '../helpers/typed-page.ts'

const PAGE = fileURLToPath(new URL('../../deploy/runbooks/clock-jump.md', import.meta.url))
const JUMP_MS = 300 * 24 * 3_600_000

interface ShownTime {
  readonly logTime: string
  readonly confirmedTime: string
  readonly withheldMs: number
  readonly majorityTime: string
}

t.test('the lines of clock-jump.md', { timeout: 1_800_000 }, async (t) => {
  const world = await SkewedCluster.start(t)
  const { cluster } = world
  const nodes = cluster.plan.map(({ nodeId }) => nodeId)
  const folder = temporaryFolder(t)
  installCommand(folder)
  const env = {
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    HOLDFAST_ADMIN_ENDPOINT: cluster.node('n2').adminUrl,
    HOLDFAST_ADMIN_TOKEN: cluster.setup.ownerToken,
  }
  const page = new TypedPage({
    page: PAGE,
    local: (text) => text,
    // Columns are as wide as their contents.
    type: async (_, lines) => (await typed(lines, env)).replaceAll(/ +/g, ' '),
  })
  const time = async (): Promise<ShownTime> => {
    const { body } = await cluster.admin('n2', { method: 'GET', path: '/cluster/time' })
    return JSON.parse(body.toString()) as ShownTime
  }
  const isNow = (text: string): boolean => Math.abs(Date.parse(text) - Date.now()) < TOLERANCE_MS
  const setAll = async (skewMs: number): Promise<void> => {
    for (const nodeId of nodes) world.skew(nodeId, skewMs)
    await until('a majority shows it', async () => {
      const { majorityTime } = await time()
      return majorityTime !== undefined && isNow(new Date(Date.parse(majorityTime) - skewMs).toISOString())
    })
    await cluster.allReady()
    // Tokens expire by the time of the majority.
    await cluster.login('n2')
  }
  t.equal((await world.ask('POST', '/buckets', { body: '{"name":"kept"}' })).status, 201)

  await t.test('all clocks are right', async (t) => {
    await page.type(t, 'How it shows')
  })

  await t.test('the cluster was off for long: the step is true, and confirmed', async (t) => {
    await setAll(JUMP_MS)
    await until('the log has made the step', async () => {
      await world.ask('PUT', '/buckets/kept/objects/after', { body: 'new' })
      return (await time()).withheldMs > JUMP_MS - TOLERANCE_MS
    })
    await page.type(t, 'The step was true')
    const { withheldMs, logTime, confirmedTime } = await time()
    t.equal(withheldMs, 0)
    t.equal(confirmedTime, logTime)
  })

  await t.test('all clocks were ahead: the log time is set back', async (t) => {
    await setAll(0)
    t.ok(Date.parse((await time()).logTime) > Date.now() + JUMP_MS - TOLERANCE_MS, 'the log is ahead')
    await page.type(t, 'The time has run ahead')
    const { withheldMs, logTime, confirmedTime } = await time()
    t.equal(withheldMs, 0)
    t.ok(isNow(logTime), logTime)
    t.ok(isNow(confirmedTime), confirmedTime)
  })

  t.same(page.untyped, [], 'every line was typed')
})
