/**
 * Weights and drains by routes, with real nodes: asked at one node and carried out by another, durable before the answer. Both runbooks are
 * typed. [deploy/runbooks/drain-a-disk.md, deploy/runbooks/change-weights.md]
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { until } from '../helpers/async.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { blocksOf, installCommand, typed } from '../helpers/runbook.ts'
import { DisksScene } from './disks-scene.ts'

const OBJECTS = 16

interface ByDisk {
  readonly disks: readonly { readonly directory: string; readonly copies: number }[]
  readonly nowhere: { readonly copies: number }
}

interface Written {
  readonly cluster: { readonly members: readonly { readonly id: string }[] }
}

interface Member {
  readonly nodeId: string
  readonly weight: number
  readonly placement?: { readonly file: { readonly weight: number } }
}

t.test('placement is changed by routes', { timeout: 1_800_000 }, async (t) => {
  const scene = await DisksScene.set(t)
  const { cluster } = scene
  const folder = temporaryFolder(t)
  installCommand(folder)
  const env = {
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    HOLDFAST_ADMIN_TOKEN: cluster.setup.ownerToken,
    HOLDFAST_ADMIN_ENDPOINT: cluster.node('n1').adminUrl,
    NODE: 'n2',
    DISK: scene.directory('n2', 'd1'),
    TENANT: cluster.setup.tenantId,
  }
  const ask = async (nodeId: string, path: string): Promise<unknown> => {
    const answer = await fetch(`${cluster.node(nodeId).adminUrl}/admin/api/v1${path}`, {
      headers: { authorization: `Bearer ${env.HOLDFAST_ADMIN_TOKEN}` },
    })
    return answer.json()
  }
  const isMarked = () => existsSync(join(env.DISK, 'draining'))
  const restart = async (signal: 'SIGKILL' | 'SIGTERM') => {
    await cluster.signal('n2', signal)
    cluster.startNode('n2')
    await cluster.allReady()
  }
  await scene.store(t, OBJECTS)
  await scene.untilWhole('three copies of everything', () => scene.copiesOn('n2', 'd1') > 0)

  await t.test('copies of a bucket are shown by disk, asked at any node', async (t) => {
    const tenant = `--tenant ${env.TENANT} --bucket work`
    const shown = await typed(`holdfast cluster placement --by-disk --json ${tenant}`, env)
    const { nodes } = JSON.parse(shown) as {
      readonly nodes: readonly { readonly nodeId: string; readonly byDisk: ByDisk }[]
    }
    t.equal(nodes.length, 3)
    for (const { nodeId, byDisk } of nodes) {
      t.equal(byDisk.nowhere.copies, 0)
      for (const disk of ['d1', 'd2']) {
        const { copies } = byDisk.disks.find((one) => one.directory === scene.directory(nodeId, disk)) ?? {}
        t.equal(copies, scene.copiesOn(nodeId, disk), `${nodeId} ${disk}`)
      }
    }
    t.match(await typed('holdfast cluster placement --by-disk', env), /n3 +\S*d2 /)
  })

  await t.test(
    'a disk of another node is emptied by order, also when that node is killed at once',
    async (t) => {
      const [look = '', rehearse = '', drain = '', lookAgain = '', cancel = ''] = blocksOf('drain-a-disk.md')
      t.match(await typed(look, env), /d1 .*serving/)
      t.match(await typed(rehearse, env), new RegExp(`copies +${scene.copiesOn('n2', 'd1')}`))
      t.notOk(isMarked(), 'a dry run marks nothing')
      t.match(await typed(drain, env), /is emptied/)
      t.ok(isMarked(), 'the mark is there when the command ends')
      await restart('SIGKILL')
      await until('it is empty', async () => (await scene.statusOf('n2', 'd1')) === 'drained')
      t.equal(scene.copiesOn('n2', 'd1'), 0)
      t.match(await typed(lookAgain, env), /d1 .*drained.*take it out/)
      await scene.untilWhole('every copy is on the other disk', () => scene.copiesOn('n2', 'd2') === OBJECTS)
      await cluster.login('n1')
      await scene.assertReadable(t)
      const { records } = (await ask('n1', '/audit?operation=drainDisk')) as {
        readonly records: readonly object[]
      }
      t.match(records, [{ operation: 'drainDisk', details: { nodeId: 'n2' } }])
      await typed(cancel, env)
      t.notOk(isMarked())
      await until('it is in use', async () => (await scene.statusOf('n2', 'd1')) === 'serving')
      await t.rejects(typed('holdfast cluster disks drain n2 /nowhere --reason x', env), /has no disk/)
    },
  )

  await t.test(
    'a weight holds over the file on every node, and over restarts, until it is cleared',
    async (t) => {
      const [rehearse = '', set = '', rebalance = '', look = '', clear = ''] = blocksOf('change-weights.md')
      const weightAt = async (nodeId: string): Promise<Member | undefined> => {
        const { members } = (await ask(nodeId, '/cluster/membership?consistency=local')) as {
          members: Member[]
        }
        return members.find((member) => member.nodeId === 'n2')
      }
      const untilWeight = async (weight: number) => {
        for (const { nodeId } of cluster.plan)
          await until(`${nodeId} has it`, async () => (await weightAt(nodeId))?.weight === weight)
      }
      t.match(await typed(rehearse, env), /n2 .*33% to 50%/)
      t.match(await typed(set, env), /weight 2; its file says .* weight 1/)
      await untilWeight(2)
      const { configFile } = cluster.node('n2')
      const written = parse(readFileSync(configFile, 'utf8')) as Written
      const members = written.cluster.members.map((one) => (one.id === 'n2' ? { ...one, weight: 5 } : one))
      writeFileSync(configFile, stringify({ ...written, cluster: { ...written.cluster, members } }))
      await restart('SIGTERM')
      await untilWeight(2)
      await until('the new file is known', async () => (await weightAt('n1'))?.placement?.file.weight === 5)
      const doctor = await typed(`holdfast doctor --config "${configFile}" || true`, env)
      t.match(doctor, /holds zone .* and weight 2/)
      t.match(await typed(rebalance, env), /succeeded/)
      t.match(await typed(look, env), /n2 .*2 \(50%\)/)
      await typed(clear, env)
      await untilWeight(5)
      await t.rejects(
        typed(
          'holdfast cluster place n1 --weight 0 --reason x; holdfast cluster place n2 --weight 0 --reason x',
          env,
        ),
        /members would take new copies/,
      )
      await cluster.login('n1')
      await scene.assertReadable(t)
    },
  )
})
