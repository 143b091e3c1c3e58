/** The end of recoveries over a real store, with copies made by the test and reported through the ledger. */
import t from 'tap'
import { rereplicationOf } from '../../src/state-machine/long-operations/rereplications.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import { endRereplications } from '../../src/workers/rereplication.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { putChunks } from '../state-machine/map-world.ts'
import { StoreWorld } from '../store/store-world.ts'
import { longOperationRanges } from '../../src/state-machine/long-operations/keys.ts'

t.test('endRecoveries', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader } = world.store
  const ledger = createCopyLedger(reader, world.propose, world.levels)
  const lines: LogLine[] = []
  let isJobRunner = true
  const round = () =>
    endRereplications({
      cluster: { isJobRunner: () => isJobRunner },
      state: reader,
      propose: world.propose,
      logger: recordingLogger(lines),
    })
  await world.do(putChunks('k', ['c1', 'c2', 'c3']))
  const { refs } = await ledger.listed('n1', null, 10)
  const recovery = () => rereplicationOf(reader, 'n1')
  const last = async () => (await reader.page(longOperationRanges.operations(), { limit: 10 })).items.at(-1)

  await t.test('waits until the inventory is through and every copy is back', async (t) => {
    await ledger.lost('n1', refs.slice(0, 2), 'inventory')
    await ledger.lost('n1', refs, 'inventory')
    t.match(recovery(), { status: 'running', progress: { blobsTotal: 3, bytesTotal: 3 * 38 } })
    await ledger.done(ledger.pending('n1', 10))
    await round()
    t.match(recovery(), { status: 'running', progress: { tasksOpen: 0 } }, 'more may be found yet')
    await ledger.inventoried('n1')
    isJobRunner = false
    await round()
    t.match(recovery(), { status: 'running' })
    isJobRunner = true
    for (let n = 0; n < 2; n++) await round()
    t.match(await last(), { status: 'succeeded', progress: { blobsDone: 3, bytesMoved: 3 * 38 } })
    t.match(lines.at(-1), { level: 'info', message: 'lost copies are back' })
    t.equal(recovery(), undefined)
  })

  await t.test(
    'begins none for a copy that was found bad by itself, and ends no inventory twice',
    async (t) => {
      await ledger.lost('n1', refs.slice(0, 1))
      const before = world.index
      for (let n = 0; n < 2; n++) await ledger.inventoried('n1')
      t.equal(world.index, before, 'nothing is proposed where there is nothing to end')
      t.equal(recovery(), undefined)
      await ledger.done(ledger.pending('n1', 10))
    },
  )

  await t.test('fails with an error when no other node has one of the copies', async (t) => {
    await ledger.lost('n2', refs.slice(0, 1))
    await ledger.lost('n1', refs.slice(0, 1), 'inventory')
    await ledger.inventoried('n1')
    await round()
    t.match(await last(), { status: 'failed', error: /cannot be made again/ })
    t.equal(lines.at(-1)?.level, 'error')
  })
})
