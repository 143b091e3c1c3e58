/**
 * A cluster that is lost completely and restored from cold copies of its data directories. [deploy/runbooks/restore.md]
 *
 * Rule: every write acknowledged before the first copy is present; every write after the last copy is gone, and the
 * plan states it.
 */
import { cpSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { owesNoCopyWithin } from '../programs/chaos/owed-copies.ts'
import { until } from '../helpers/async.ts'
import { MANY_ADMIN_REQUESTS, membershipAt, placed } from '../helpers/member-steps.ts'
import { ProcessCluster, sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { RecoverLines } from '../helpers/recover-lines.ts'
import { runCommand } from '../helpers/run-command.ts'

const NODES = ['n1', 'n2', 'n3']
const RUNBOOK = new RecoverLines('restore.md')
const WHOLE_MS_MAX = 180_000

t.test(
  'a cluster is restored from copies of its disks [membership.recover.apply]',
  { timeout: 1_800_000 },
  async (t) => {
    const cluster = await ProcessCluster.start(t, NODES.length, MANY_ADMIN_REQUESTS)
    const configOf = (nodeId: string): string => cluster.node(nodeId).configFile
    const folderOf = (nodeId: string): string => join(dirname(configOf(nodeId)), nodeId)
    const copies = temporaryFolder(t)
    await cluster.login('n1')
    t.equal((await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))).status, 201)
    const put = async (name: string, bytes: Buffer): Promise<string> => {
      const { status } = await cluster.ask('n2', {
        method: 'PUT',
        path: `/buckets/kept/objects/${name}`,
        body: bytes,
      })
      if (status >= 300) throw new Error(`${name}: ${status}`)
      return sha256(bytes)
    }
    const read = async (name: string): Promise<string | number> => {
      const { status, body } = await cluster.call('n3', 'GET', `/buckets/kept/objects/${name}`)
      return status === 200 ? sha256(body) : status
    }
    const before = await put('before', Buffer.alloc(20_000, 'before the copies '))
    for (const nodeId of NODES) {
      await cluster.signal(nodeId, 'SIGTERM')
      cpSync(folderOf(nodeId), join(copies, nodeId), { recursive: true })
      cluster.startNode(nodeId)
      await until(`${nodeId} serves again`, () => cluster.ready(nodeId))
      // Writes between two copies: each copy holds more than the previous one, and the other nodes have counted this start.
      await put(`after-${nodeId}`, Buffer.alloc(20_000, nodeId))
      // Two copies are enough for an answer; the last disk must hold every copy that its rows name.
      t.ok(await owesNoCopyWithin(cluster, WHOLE_MS_MAX), 'nothing is owed')
    }
    for (const nodeId of NODES) {
      await cluster.signal(nodeId, 'SIGKILL')
      rmSync(folderOf(nodeId), { recursive: true })
      cpSync(join(copies, nodeId), folderOf(nodeId), { recursive: true })
    }

    const recoveryFiles = temporaryFolder(t)
    const planFile = join(recoveryFiles, 'plan.json')
    const typed = (nodeId: string, step: string, having?: string): readonly string[] =>
      RUNBOOK.words(step, { config: configOf(nodeId), reports: recoveryFiles, plan: planFile }, having)
    for (const nodeId of NODES) {
      const { code, err } = await runCommand(...typed(nodeId, 'collect'))
      t.equal(code, 0, err)
    }
    const refused = await runCommand(...typed('n1', 'plan').filter((word) => word !== '--restored'), '--json')
    t.match(
      JSON.parse(refused.out),
      { refusals: [{ code: 'quorum_left' }] },
      'the operator must state that they are copies',
    )
    const planned = await runCommand(...typed('n1', 'plan', '--restored'), '--json')
    t.equal(planned.code, 0, planned.err)
    t.match(JSON.parse(planned.out), {
      plan: { decision: { winner: 'n3', dead: [] }, loss: { versions: 0 } },
    })
    for (const nodeId of NODES) {
      const { code, err } = await runCommand(...typed(nodeId, 'apply'))
      t.equal(code, 0, err)
    }
    // Two of three are a majority in the configuration that they have: they must not continue without the winner.
    const asked = { method: 'GET', path: '/cluster/membership?consistency=local' } as const
    for (const nodeId of ['n1', 'n2']) cluster.startNode(nodeId)
    for (const nodeId of ['n1', 'n2'])
      await until(`${nodeId} answers`, () =>
        cluster.admin(nodeId, asked).then(
          () => true,
          () => false,
        ),
      )
    cluster.startNode('n3')
    for (const nodeId of NODES) await until(`${nodeId} serves`, () => cluster.ready(nodeId))
    await cluster.login('n1')
    t.equal(await read('before'), before)
    t.equal(await read('after-n1'), sha256(Buffer.alloc(20_000, 'n1')))
    t.equal(await read('after-n3'), 404, 'no copy is that recent')
    const again = await put('again', Buffer.alloc(20_000, 'again'))
    t.equal(await read('again'), again)
    const seen = await membershipAt(cluster, 'n1')
    t.equal(placed(seen), 'n1 active voter, n2 active voter, n3 active voter')
    t.match(seen.recoveries, [{ isRestored: true, dead: [] }])
  },
)
