import t from 'tap'
import type { Propose } from '../../src/commands/propose.ts'
import { AuditTrimming } from '../../src/workers/audit-trimming.ts'
import { SILENT } from '../helpers/loggers.ts'
import { ask, links, verdict } from '../state-machine/audit-world.ts'
import { put, worldWithBucket } from '../state-machine/map-world.ts'

t.test('AuditTrimming', async (t) => {
  const world = worldWithBucket()
  for (let n = 0; n < 300; n++) ask(world, put('a', { kind: 'empty' }, 0))
  const keepMs = 700
  const now = world.time
  let isJobRunner = true
  let proposals = 0
  const propose = async (command: Parameters<Propose>[0]) => {
    proposals++
    return world.run(command)
  }
  const trimming = new AuditTrimming({
    cluster: { isJobRunner: () => isJobRunner },
    state: world,
    propose: propose as Propose,
    keepMs,
    bytesMax: 0,
    confirmedTime: () => now,
    logger: SILENT,
  })

  await t.test('asks for nothing where another node is on duty', async (t) => {
    isJobRunner = false
    t.equal(await trimming.round(), false)
    t.equal(proposals, 0)
    isJobRunner = true
  })

  await t.test('trims what is older than is kept, a bounded number at once', async (t) => {
    while (await trimming.round()) t.strictSame(verdict(world), [])
    const left = links(world)
    t.ok(left.length > 0 && left.length <= 101)
    t.ok(left.every(({ time }) => time >= now - keepMs))
    t.strictSame(verdict(world), [])
  })

  await t.test('asks for nothing while nothing is too old', async (t) => {
    const before = proposals
    t.equal(await trimming.round(), false)
    t.equal(proposals, before)
  })
})
