/** A recount over a real store: it finds what is wrong on disk and halts the collection. */
import t from 'tap'
import { keys } from '../../src/state-machine/keys.ts'
import { decodeRow, encodeRow, keyBytes } from '../../src/store/row-codec.ts'
import { Recounting } from '../../src/workers/recounting.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { putChunks } from '../state-machine/map-world.ts'
import { StoreWorld } from '../store/store-world.ts'

t.test('Recounting', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const lines: LogLine[] = []
  let now = 0
  let isOnDuty = false
  const { reader, stateMachine } = world.store
  const recounting = new Recounting({
    cluster: { isOnDuty: () => isOnDuty },
    state: reader,
    propose: world.propose,
    everyMs: 100,
    now: () => now,
    logger: recordingLogger(lines),
  })
  const value = (name: string) => recounting.metrics().find((sample) => sample.name === name)?.value
  await world.do(putChunks('k', ['c1', 'c2']))

  await t.test('runs when it is due, on the node on duty', async (t) => {
    now = 100
    await recounting.round()
    t.equal(value('holdfast_recounts_total'), 0)
    isOnDuty = true
    for (let i = 0; i < 2; i++) await recounting.round()
    t.equal(value('holdfast_recounts_total'), 1)
    t.equal(reader.settings().collectionHalted, null)
  })

  await t.test(
    'halts the collection and says so loudly when something differs, and corrects nothing',
    async (t) => {
      const key = keys.chunk('acme', 'c1')
      const { db } = stateMachine.handle.current
      const stored = db.getSync(keyBytes(key))
      if (stored === undefined) throw new Error('there is no row')
      await db.put(
        keyBytes(key),
        encodeRow(keyBytes(key), { ...decodeRow(key, stored), references: 0, condemnedAt: 1 }),
      )
      t.match(await recounting.recount(), [/references/, /do not follow/])
      t.match(reader.settings().collectionHalted, { reason: /^recount: references/ })
      t.match(lines.at(-1), { level: 'error', message: /halted/ })
      t.match([value('holdfast_recount_differences'), value('holdfast_collection_halted')], [2, 1])
      t.equal(reader.chunk('acme', 'c1')?.references, 0)
      const chunks = [{ tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1', condemnedAt: 1 }]
      t.match(await world.propose({ type: 'collectChunks', chunks }), {
        ok: false,
        code: 'precondition_failed',
      })
    },
  )
})
