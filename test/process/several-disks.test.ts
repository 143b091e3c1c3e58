/**
 * Nodes with two disks each. A disk that is not mounted any more and one that fails are taken out alone: every object stays readable, the
 * copies are made again on the disk that is left, and a new disk is taken into use. The runbook is typed. [deploy/runbooks/replace-a-disk.md]
 */
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { delimiter } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { blocksOf, installCommand, typed } from '../helpers/runbook.ts'
import { DisksScene } from './disks-scene.ts'

const OBJECTS = 24

t.test('nodes with two disks each', { timeout: 1_800_000 }, async (t) => {
  const scene = await DisksScene.set(t)
  const { cluster } = scene
  const [look = '', drain = '', prepare = '', lookAgain = ''] = blocksOf('replace-a-disk.md')
  const folder = temporaryFolder(t)
  installCommand(folder)
  const env = {
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    HOLDFAST_ADMIN_TOKEN: cluster.setup.ownerToken,
    HOLDFAST_ADMIN_ENDPOINT: cluster.node('n1').adminUrl,
    DISK: scene.directory('n2', 'd1'),
    CONFIG: cluster.node('n2').configFile,
  }

  await t.test('spread their copies over both', async (t) => {
    await scene.store(t, OBJECTS)
    const both = () => scene.copiesOn('n2', 'd1') + scene.copiesOn('n2', 'd2') === OBJECTS
    await scene.untilWhole('three copies of everything', both)
    for (const { nodeId } of cluster.plan)
      for (const disk of ['d1', 'd2']) t.ok(scene.copiesOn(nodeId, disk) > 0, `${nodeId} ${disk}`)
  })

  await t.test(
    'a disk that is not mounted any more is taken out alone, and its copies are made again',
    async (t) => {
      const directory = scene.directory('n2', 'd1')
      renameSync(directory, `${directory}.away`)
      mkdirSync(directory)
      await until('it is out', async () => (await scene.statusOf('n2', 'd1')) === 'absent')
      await scene.assertReadable(t)
      await scene.untilWhole('its copies are on the other disk', () => scene.copiesOn('n2', 'd2') === OBJECTS)
      t.strictSame(readdirSync(directory), [], 'nothing was written below the mount point')
      t.equal(await scene.statusOf('n2', 'd2'), 'serving')
      t.match(await typed(look, env), /n2 .*ABSENT/)
      const inUse = (disk: string, value: number): string =>
        `holdfast_disk_in_use{directory="${scene.directory('n2', disk)}"} ${value}\n`
      // A scrape shows what the one before it began to measure.
      await until('the metric of the alert says so', async () => {
        const page = await (await fetch(`${cluster.node('n2').adminUrl}/metrics`)).text()
        return page.includes(inUse('d1', 0)) && page.includes(inUse('d2', 1))
      })
    },
  )

  await t.test('a new disk in its place is taken into use, and filled', async (t) => {
    t.match(await typed(prepare, env), /is disk [0-9a-f]{32} of this node/)
    await until('it is in use', async () => (await scene.statusOf('n2', 'd1')) === 'serving')
    t.notMatch(await typed(lookAgain, env), /ABSENT/)
    await scene.store(t, OBJECTS)
    await scene.untilWhole('three copies of everything', () => scene.copiesOn('n2', 'd1') > 0)
    await t.rejects(typed(prepare, env), /already has a disk/)
  })

  await t.test('a disk that is drained is emptied, and used again when that is cancelled', async (t) => {
    const [directory, { configFile }] = [scene.directory('n1', 'd2'), cluster.node('n1')]
    const own = { ...env, DISK: directory, CONFIG: configFile }
    t.ok(scene.copiesOn('n1', 'd2') > 0)
    await typed(drain, own)
    await until('it is empty', async () => (await scene.statusOf('n1', 'd2')) === 'drained')
    t.equal(scene.copiesOn('n1', 'd2'), 0)
    t.equal(scene.copiesOn('n1', 'd1'), scene.stored.size)
    await scene.assertReadable(t)
    await typed(`holdfast disk drain "$DISK" --cancel --config "$CONFIG"`, own)
    await until('it is in use', async () => (await scene.statusOf('n1', 'd2')) === 'serving')
  })

  await t.test('a disk that fails is taken out alone, and its copies are made again', async (t) => {
    const onOther = scene.copiesOn('n3', 'd1')
    scene.break('n3', 'd2')
    await scene.assertReadable(t)
    await scene.store(t, 6)
    await until('it is out', async () => (await scene.statusOf('n3', 'd2')) === 'failed')
    const all = () => scene.copiesOn('n3', 'd1') === scene.stored.size
    await scene.untilWhole('its copies are on the other disk', all)
    t.ok(scene.copiesOn('n3', 'd1') > onOther)
    await scene.assertReadable(t)
    t.match(readFileSync(cluster.node('n3').logFile, 'utf8'), /disk of blobs taken out of use/)
  })

  await t.test('after a restart every node reads everything from its disks', async (t) => {
    scene.break('n3', 'none')
    for (const nodeId of ['n2', 'n3']) {
      await cluster.signal(nodeId, 'SIGTERM')
      cluster.startNode(nodeId)
      await cluster.allReady()
    }
    await cluster.login('n1')
    for (const disk of ['d1', 'd2'])
      for (const nodeId of ['n2', 'n3'])
        await until(`${nodeId} ${disk}`, async () => (await scene.statusOf(nodeId, disk)) === 'serving')
    await scene.untilWhole('three copies of everything', () => true)
    await scene.assertReadable(t)
  })
})
