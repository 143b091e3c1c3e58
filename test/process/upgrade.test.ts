/**
 * A cluster of the previous version becomes one of this version, node by node with the runbook, while programs write and read; then
 * each node of it is restarted once more. No call of a program fails. [deploy/runbooks/rolling-upgrade.md] [decisions 15: SIGTERM]
 *
 * Rule: acknowledged writes are read back from every node at the end, and the states are equal.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { decodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { openStore } from '../../src/store/open-store.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { membershipAt, placed } from '../helpers/member-steps.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { PREVIOUS_LEVEL, previousBuild } from '../helpers/previous-build.ts'
import { ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { blocksOf, installCommand, typed } from '../helpers/runbook.ts'
import { SteadyLoad } from '../helpers/steady-load.ts'

const NODES = ['n1', 'n2', 'n3']
const [LOOK = '', STOP = '', CHECK = '', WAIT = '', BACK = '', AFTER = '', STATUS = ''] =
  blocksOf('rolling-upgrade.md')
const WRITES_BETWEEN = 6

/** An operator who works on one node after the other. */
class Operator {
  readonly cluster: ProcessCluster
  readonly #path: string

  constructor(cluster: ProcessCluster, folder: string) {
    this.cluster = cluster
    this.#path = `${folder}:${process.env['PATH'] ?? ''}`
    installCommand(folder)
  }

  types(block: string, nodeId: string): Promise<string> {
    const { adminUrl: ADMIN, configFile: CONFIG } = this.cluster.node(nodeId)
    const PID = String(this.cluster.pid(nodeId))
    const access = { HOLDFAST_ADMIN_ENDPOINT: ADMIN, HOLDFAST_ADMIN_TOKEN: this.cluster.setup.ownerToken }
    return typed(block, { PATH: this.#path, ADMIN, CONFIG, PID, ...access })
  }

  /** Stops it with the commands of the page; resolves with the exit code. `install` runs before the next start. */
  async restarts(
    nodeId: string,
    install: () => Promise<void> = async () => undefined,
  ): Promise<number | string> {
    const ended = this.cluster.ended(nodeId)
    await this.types(STOP, nodeId)
    const how = await ended
    await install()
    this.cluster.startNode(nodeId)
    await this.types(WAIT, nodeId)
    return how
  }

  /** The level of each node. */
  levels(): Promise<readonly (number | undefined)[]> {
    return Promise.all(NODES.map((nodeId) => this.cluster.metric(nodeId, 'holdfast_raft_feature_level')))
  }

  /** The leader comes last. */
  async leaderLast(): Promise<readonly string[]> {
    let leader: string | undefined
    await until('somebody leads', async () => (leader = await this.cluster.leader()) !== undefined)
    return [...NODES.filter((nodeId) => nodeId !== leader), leader ?? '']
  }
}

/** For stopped nodes: the applied index, and the sum over the rows. */
async function states(cluster: ProcessCluster): Promise<readonly string[]> {
  return Promise.all(
    cluster.plan.map(async ({ dataDir }) => {
      const { stateMachine } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
      const { record } = await stateMachine.open()
      const { appliedIndex, featureLevel } = decodeMachineRecord(record ?? new Uint8Array())
      const sum = Buffer.from(stateMachine.checksum()).toString('hex')
      await stateMachine.close()
      return `${appliedIndex} at level ${featureLevel}: ${sum}`
    }),
  )
}

async function readBack(cluster: ProcessCluster, nodeId: string, written: ReadonlyMap<string, string>) {
  const wrong: string[] = []
  await cluster.login(nodeId)
  for (const [key, digest] of written) {
    const { status, body } = await cluster.call(nodeId, 'GET', `/buckets/work/objects/${key}`)
    if (status !== 200 || sha256(body) !== digest) wrong.push(`${key} at ${nodeId}: ${status}`)
  }
  return wrong
}

const previous = previousBuild(t) ?? ''
const skip = previous === '' && 'the history does not reach back to the previous version'

/** They name nothing that the load writes. */
const RULES = '{"rules":[{"status":"Enabled","filter":{"prefix":"none/"},"expiration":{"days":1}}]}'

t.test('a rolling upgrade', { timeout: 1_800_000, skip }, async (t) => {
  const versions = new Map(NODES.map((nodeId) => [nodeId, previous]))
  const cluster = await ProcessCluster.start(t, 3, null, {
    launch: ({ nodeId, configFile }) => ({
      command: [process.execPath, versions.get(nodeId) ?? nodeProgram(), 'server', '--config', configFile],
    }),
  })
  const operator = new Operator(cluster, temporaryFolder(t))
  await cluster.login('n1')
  t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')).status, 201)
  const load = new SteadyLoad(cluster, 'work')
  load.start()
  t.teardown(() => load.stop())
  const becomes = async (nodeId: string, version: string): Promise<void> => {
    const isNew = version === nodeProgram() && versions.get(nodeId) !== nodeProgram()
    const how = await operator.restarts(nodeId, async () => {
      versions.set(nodeId, version)
      if (isNew) await operator.types(CHECK, nodeId)
    })
    t.equal(how, 0, `${nodeId} stops in order`)
    await load.goesOn(WRITES_BETWEEN)
    t.strictSame(load.failures, [], `no call failed while ${nodeId} was restarted`)
  }
  const order = await operator.leaderLast()
  const [first = '', second = '', last = ''] = order

  await t.test('serves with both versions, and allows the first node to go back', async (t) => {
    const before = PREVIOUS_LEVEL
    await until('the previous version has raised its level', async () =>
      (await operator.levels()).every((level) => level === before),
    )
    for (const nodeId of NODES)
      t.match(await operator.types(LOOK, nodeId), new RegExp(`holdfast_raft_feature_level ${before}\n`))
    await becomes(first, nodeProgram())
    t.match(await operator.types(BACK, first), new RegExp(`holdfast_raft_feature_level ${before}\n`))
    await becomes(first, previous)
  })

  await t.test('raises the level when the last node is new, and not before', async (t) => {
    for (const nodeId of [first, second]) {
      await becomes(nodeId, nodeProgram())
      t.strictSame(
        await operator.levels(),
        NODES.map(() => PREVIOUS_LEVEL),
        `after ${nodeId}`,
      )
      const refused = await cluster.admin(nodeId, {
        method: 'POST',
        path: '/cluster/time/confirm',
        body: { withheldMs: 1, reason: 'older members would stop at the command' },
      })
      t.match(refused.body.toString(), /"version_incompatible"/)
      t.equal((await cluster.call(nodeId, 'PUT', '/buckets/work/lifecycle', RULES)).status, 412)
    }
    await becomes(last, nodeProgram())
    const raised = NODES.map(() => FEATURE_LEVEL)
    await until('the level is raised', async () => (await operator.levels()).join() === raised.join())
    for (const nodeId of NODES)
      t.match(
        await operator.types(AFTER, nodeId),
        new RegExp(`holdfast_raft_feature_level ${FEATURE_LEVEL}\n`),
        nodeId,
      )
    t.equal((await cluster.call(first, 'PUT', '/buckets/work/lifecycle', RULES)).status, 200)
    await until(
      'the members are founded',
      async () => (await membershipAt(cluster, 'n1')).members.length === 3,
    )
    t.equal(placed(await membershipAt(cluster, 'n2')), NODES.map((id) => `${id} active voter`).join(', '))
    t.match(
      await operator.types(STATUS, 'n3'),
      new RegExp(`feature level ${FEATURE_LEVEL}\n(n\\d +active +voter .* answers .*\n){3}`),
    )
  })

  await t.test('restarts of one version, the leader first and the leader last', async () => {
    const leader = (await operator.leaderLast()).at(-1) ?? ''
    await becomes(leader, nodeProgram())
    const others = (await operator.leaderLast()).filter((nodeId) => nodeId !== leader)
    for (const nodeId of others) await becomes(nodeId, nodeProgram())
  })

  await t.test('loses nothing, and leaves equal states', async (t) => {
    await load.stop()
    t.ok(
      load.acknowledged.size > 50 && load.reads > 50,
      `${load.acknowledged.size} writes, ${load.reads} reads`,
    )
    for (const nodeId of NODES) t.strictSame(await readBack(cluster, nodeId, load.acknowledged), [])
    await until('the states are equal', async () => {
      await Promise.all(NODES.map((nodeId) => cluster.signal(nodeId, 'SIGKILL')))
      const all = new Set(await states(cluster))
      if (all.size === 1) return true
      for (const nodeId of NODES) cluster.startNode(nodeId)
      await cluster.allReady()
      return false
    })
  })

  await t.test('cannot be taken back: the version before refuses a state with value files', (t) => {
    const { configFile } = cluster.node('n3')
    const started = spawnSync(
      ...withoutLoader(process.execPath, previous, 'server', '--config', configFile),
      {
        encoding: 'utf8',
        timeout: 1_800_000,
      },
    )
    t.not(started.status, 0)
    t.match(started.stderr, /Cannot open the state in .*: it has format 6, this build has 5/)
    t.match(started.stderr, /Start the build that wrote it/)
    t.end()
  })
})
