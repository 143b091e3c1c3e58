/**
 * The bound of the audit log in bytes, with real segments: the oldest go until the rest fits, the chain stays whole, and the sum is right.
 */
import t from 'tap'
import { auditHead } from '../../src/state-machine/audit/append.ts'
import { AuditTrimming } from '../../src/workers/audit-trimming.ts'
import { SILENT } from '../helpers/loggers.ts'
import { SealingWorld } from './sealing-world.ts'

t.test('audit.max_bytes', async (t) => {
  const world = await SealingWorld.start(t, { links: 4 })
  const { reader: state, services } = world.memory
  const worker = (bytesMax: number): AuditTrimming =>
    new AuditTrimming({
      cluster: { isJobRunner: () => true },
      state,
      propose: services.propose,
      keepMs: 365 * 86_400_000,
      bytesMax,
      confirmedTime: () => Date.now() + 60_000,
      logger: SILENT,
    })
  const sizes = async (): Promise<number> => (await world.segments()).reduce((sum, { size }) => sum + size, 0)
  const reported = (trimming: AuditTrimming): number | undefined =>
    trimming.samples().find(({ name }) => name === 'holdfast_audit_log_bytes')?.value
  await world.log(40)
  await world.sealAll()
  await world.sealAll()
  await world.sealAll()
  const before = await world.segments()
  t.equal(before.length, 10)

  t.test('trims nothing while the log fits, or without a bound', async (t) => {
    for (const bytesMax of [0, await sizes()]) {
      const trimming = worker(bytesMax)
      t.equal(await trimming.round(), false)
      t.equal(reported(trimming), await sizes())
    }
    t.equal((await world.segments()).length, 10)
  })

  t.test('removes the oldest until the rest fits, and verification continues', async (t) => {
    const bytesMax = Math.floor((await sizes()) / 2)
    const trimming = worker(bytesMax)
    while (await trimming.round()) t.strictSame((await world.verify()).faults, [])
    const left = await world.segments()
    t.ok((await sizes()) <= bytesMax)
    t.ok((await sizes()) + (before.at(-left.length - 1)?.size ?? 0) > bytesMax, 'and no more than that')
    t.strictSame(left, before.slice(-left.length))
    t.equal(auditHead(state).first, left[0]?.first)
    t.equal(reported(trimming), await sizes())
    await world.log(8)
    await world.sealAll()
    while (await trimming.round()) {}
    t.equal(reported(trimming), await sizes(), 'the sum follows what is added and removed')
    t.ok((await sizes()) <= bytesMax)
  })
})
