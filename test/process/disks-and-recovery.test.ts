/**
 * Nodes with several disks in the two ways back: a majority that is gone, and a cluster from a backup. [deploy/runbooks/lost-quorum.md]
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { until } from '../helpers/async.ts'
import { sha256, temporaryFolder } from '../helpers/process-cluster.ts'
import { RecoverLines } from '../helpers/recover-lines.ts'
import { runCommand } from '../helpers/run-command.ts'
import { ended, restoreWith, startBackedUp, startBackup, startRestored } from './backup-world.ts'
import { DisksScene } from './disks-scene.ts'

const RUNBOOK = new RecoverLines('lost-quorum.md')
const OBJECTS = 12

t.test(
  'one node with two disks comes back when the two others are gone',
  { timeout: 1_800_000 },
  async (t) => {
    const scene = await DisksScene.set(t)
    const { cluster } = scene
    await scene.store(t, OBJECTS)
    await scene.untilWhole('three copies of everything', () => scene.copiesOn('n1', 'd2') > 0)
    const onSecond = scene.copiesOn('n1', 'd2')
    for (const { nodeId } of cluster.plan) await cluster.signal(nodeId, 'SIGKILL')
    for (const nodeId of ['n2', 'n3'])
      rmSync(join(dirname(cluster.node(nodeId).configFile), nodeId), { recursive: true })
    const directory = scene.directory('n1', 'd2')

    const recover = async (step: string, having?: string) => {
      const words = RUNBOOK.words(
        step,
        { config: cluster.node('n1').configFile, reports, plan: planFile },
        having,
      )
      return runCommand(...words.map((word) => (word === 'n3,n4,n5' ? 'n2,n3' : word)), '--json')
    }
    let reports = temporaryFolder(t)
    let planFile = join(reports, 'plan.json')

    await t.test('a disk that is not mounted is left alone, and its copies are named as lost', async (t) => {
      renameSync(directory, `${directory}.away`)
      mkdirSync(directory)
      const { code, err } = await recover('collect')
      t.equal(code, 0, err)
      t.strictSame(readdirSync(directory), [], 'nothing is written below the mount point')
      const planned = await recover('plan', '--out')
      t.equal(planned.code, 0, planned.err)
      t.match(JSON.parse(planned.out), { plan: { loss: { versions: onSecond } } })
    })

    await t.test('with both disks nothing is lost, and everything is read', async (t) => {
      rmdirSync(directory)
      renameSync(`${directory}.away`, directory)
      reports = temporaryFolder(t)
      planFile = join(reports, 'plan.json')
      for (const [step, having] of [['collect'], ['plan', '--out'], ['apply']] as const) {
        const { code, out, err } = await recover(step, having)
        t.equal(code, 0, err)
        if (step === 'plan') t.match(JSON.parse(out), { plan: { loss: { versions: 0 } } })
      }
      cluster.startNode('n1')
      await until('n1 serves', () => cluster.ready('n1'))
      await cluster.login('n1')
      for (const [path, digest] of scene.stored)
        t.equal(sha256((await cluster.call('n1', 'GET', path)).body), digest, path)
      for (const disk of ['d1', 'd2']) t.equal(await scene.statusOf('n1', disk), 'serving')
    })
  },
)

interface Written {
  readonly node: object
}

t.test(
  'a backup is restored onto nodes with several disks, over all of them',
  { timeout: 1_800_000 },
  async (t) => {
    const { cluster, backups } = await startBackedUp(t, 1)
    await cluster.login('n1')
    t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')).status, 201)
    const stored = new Map<string, string>()
    for (let n = 0; n < OBJECTS; n++) {
      const [path, bytes] = [`/buckets/work/objects/${n}`, randomBytes(300_000)]
      t.equal((await cluster.call('n1', 'PUT', path, bytes)).status, 200)
      stored.set(path, sha256(bytes))
    }
    const { operationId } = await startBackup(cluster, 'n1')
    t.equal((await ended(cluster, 'n1', operationId)).status, 'succeeded')
    const disks = temporaryFolder(t)
    const restored = await startRestored(t, cluster, 1, async (configFile, nodeId) => {
      const directories = ['d1', 'd2', 'd3'].map((name) => join(disks, `${nodeId}-${name}`))
      for (const directory of directories) mkdirSync(directory)
      const { node, ...rest } = parse(readFileSync(configFile, 'utf8')) as Written
      writeFileSync(configFile, stringify({ ...rest, node: { ...node, blob_directories: directories } }))
      const { code, restored: seen, err } = await restoreWith(backups, configFile)
      t.equal(code, 0, err)
      t.match(seen, { missing: [], damaged: [], lost: { versions: 0 } })
      for (const directory of directories)
        t.ok(readdirSync(directory, { recursive: true }).length > 3, `${directory} has copies`)
    })
    await restored.login('n1')
    for (const [path, digest] of stored)
      t.equal(sha256((await restored.call('n1', 'GET', path)).body), digest, path)
  },
)
