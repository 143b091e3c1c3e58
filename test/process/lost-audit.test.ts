/**
 * Five nodes; the three that hold the only segment of the audit log are destroyed. The plan of the recovery names its
 * rows as lost, and afterwards queries, verification and the doctor report the missing rows, while the rest of the log stays usable.
 */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { askLocalNode } from '../../src/cli/base/local-client.ts'
import { until } from '../helpers/async.ts'
import { QUICK_MEMBERS } from '../helpers/member-steps.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { RecoverLines } from '../helpers/recover-lines.ts'
import { runCommand } from '../helpers/run-command.ts'

const RUNBOOK = new RecoverLines('lost-quorum.md')
/** Names as in the runbook. */
const DEAD_IN_RUNBOOK = 'n3,n4,n5'
/** Rows of batch deletions list their keys: this many fill a segment. */
const BATCHES = 14
const KEYS = 256

interface Verdict {
  readonly segments: number
  readonly links: number
  readonly faults: readonly string[]
}
interface AuditStatus {
  readonly segments: number
  readonly lookedAt: number
  readonly incomplete: number
  readonly lost: number
}
interface Page {
  readonly records: readonly { readonly operation: string }[]
  readonly gaps?: readonly { readonly rows: number; readonly from: string; readonly to: string }[]
}
interface Loss {
  readonly plan: {
    readonly loss: {
      readonly chunks: number
      readonly versions: number
      readonly auditRows: readonly { readonly rows: number; readonly firstTime: number }[]
    }
  }
}

t.test('a segment of the audit log whose nodes are all destroyed', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 5, QUICK_MEMBERS)
  const dirOf = (nodeId: string): string => cluster.node(nodeId).dataDir
  const all = cluster.plan.map(({ nodeId }) => nodeId)
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"photos"}')
  for (let batch = 0; batch < BATCHES; batch++) {
    const objects = Array.from({ length: KEYS }, (_, n) => ({ key: `${batch}/${n}/${'k'.repeat(900)}` }))
    const body = JSON.stringify({ objects })
    const { status } = await cluster.call('n1', 'POST', '/buckets/photos/objects:batchDelete', body)
    if (status !== 200) throw new Error(`batch deletion: ${status}`)
  }
  const auditStatusOf = async (nodeId: string) =>
    (await askLocalNode(dirOf(nodeId), 'GET', '/audit/standing')) as AuditStatus
  await until('a segment has all its copies', async () => {
    const { lookedAt, incomplete } = await auditStatusOf('n1')
    return lookedAt === 1 && incomplete === 0
  })
  const dead = all.filter((nodeId) => holdsCopies(dirOf(nodeId)))
  const survivors = all.filter((nodeId) => !dead.includes(nodeId))
  t.equal(dead.length, 3, `copies are on ${dead.join()}`)
  for (const nodeId of all) await cluster.signal(nodeId, 'SIGKILL')
  for (const nodeId of dead)
    rmSync(join(dirname(cluster.node(nodeId).configFile), nodeId), { recursive: true })

  const recoveryFiles = temporaryFolder(t)
  const planFile = join(recoveryFiles, 'plan.json')
  const run = async (nodeId: string, step: string, having = '', more: readonly string[] = []) => {
    const places = { config: cluster.node(nodeId).configFile, reports: recoveryFiles, plan: planFile }
    const words = [...RUNBOOK.words(step, places, having === '' ? undefined : having), ...more]
    const { code, out, err } = await runCommand(
      ...words.map((word) => (word === DEAD_IN_RUNBOOK ? dead.join() : word)),
    )
    t.equal(code, 0, err)
    return out
  }
  const [first = '', second = ''] = survivors
  let lostRows = 0

  await t.test('is named by the plan, with the number and the times of its rows', async (t) => {
    for (const nodeId of survivors) await run(nodeId, 'collect')
    t.match(
      await run(first, 'plan'),
      /(\d+) rows of the audit log in 1 segments can no longer be read; they were recorded between \S+Z and \S+Z/,
    )
    const { plan } = JSON.parse(await run(first, 'plan', '--out', ['--json'])) as Loss
    t.match(plan.loss, { chunks: 1, versions: 0, auditRows: [{ rows: Number, firstTime: Number }] })
    lostRows = plan.loss.auditRows[0]?.rows ?? 0
    t.ok(lostRows >= 10, `${lostRows} rows`)
  })

  await t.test('is the only part that verification, queries and the doctor miss afterwards', async (t) => {
    for (const nodeId of survivors) await run(nodeId, 'apply')
    for (const nodeId of survivors) cluster.startNode(nodeId)
    for (const nodeId of survivors) await until(`${nodeId} serves`, () => cluster.ready(nodeId))
    for (const nodeId of survivors) {
      const verdict = (await askLocalNode(dirOf(nodeId), 'POST', '/audit/verify', null)) as Verdict
      t.match(verdict, { segments: 1, faults: [/no copy of the segment can be read/] }, nodeId)
      t.equal(verdict.faults.length, 1, verdict.faults.join('\n'))
      t.match(await auditStatusOf(nodeId), { lookedAt: 1, lost: 1 })
      const page = await audit(cluster, nodeId, '&operation=batchDeleteObjects')
      t.match(page.gaps, [{ rows: lostRows, from: /Z$/, to: /Z$/ }])
    }
    await cluster.login(second)
    await cluster.call(second, 'POST', '/buckets', '{"name":"afterwards"}')
    const later = await audit(cluster, first, '&operation=createBucket&bucket=afterwards')
    t.match(later.records, [{ operation: 'createBucket' }])
  })
})

/** No other data is stored in chunks here. */
function holdsCopies(dataDir: string): boolean {
  const entries = readdirSync(join(dataDir, 'blobs', 'packs'), { recursive: true, withFileTypes: true })
  return entries.some((entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).size > 0)
}

async function audit(cluster: ProcessCluster, nodeId: string, query: string): Promise<Page> {
  const { status, body } = await cluster.admin(nodeId, { method: 'GET', path: `/audit?since=1h${query}` })
  if (status !== 200) throw new Error(body.toString())
  return JSON.parse(body.toString()) as Page
}
