/** A recount over a real store: it finds what is wrong on disk and halts the collection. */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type { Propose } from '../../src/commands/propose.ts'
import { decodeRow, encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { Recounting } from '../../src/workers/recounting.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { putChunks, startOperation } from '../state-machine/map-world.ts'
import { StoreWorld } from '../store/store-world.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { settingsOf } from '../../src/state-machine/chunks/collection.ts'
import { putRow } from '../helpers/database-rows.ts'

t.test('Recounting', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const lines: LogLine[] = []
  let now = 0
  let isJobRunner = false
  const { reader, stateMachine } = world.store
  const recounting = new Recounting({
    cluster: { isJobRunner: () => isJobRunner, nodeId: 'n1' },
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
    isJobRunner = true
    for (let i = 0; i < 2; i++) await recounting.round()
    t.equal(value('holdfast_recounts_total'), 1)
    t.equal(settingsOf(reader).collectionHalted, null)
  })

  await t.test('is done for who asks, and shows its beginning, its end and what it found', async (t) => {
    await world.do({ ...startOperation('op1'), kind: 'recount' })
    isJobRunner = false
    await recounting.round()
    t.match(reader.get(longOperationKeys.operation('op1')), { status: 'queued' })
    isJobRunner = true
    await recounting.round()
    t.match(reader.get(longOperationKeys.operation('op1')), {
      status: 'succeeded',
      startedAt: Number,
      phase: 'counting rows on n1',
    })
    t.match(settingsOf(reader).lastRecount, { node: 'n1', differences: 0, first: null, at: Number })
    t.ok((settingsOf(reader).lastRecount?.rows ?? 0) > 5)
  })

  await t.test(
    'continues one that another node had started, and gives up one that is cancelled',
    async (t) => {
      await world.do({ ...startOperation('op2'), kind: 'recount' })
      const started = { operationId: 'op2', from: '', cursor: '', phase: 'counting rows on n2', counted: {} }
      await world.do({ type: 'advanceOperation', ...started })
      const before = settingsOf(reader).lastRecount
      const cancel = { operationId: 'op2', action: 'cancel', error: null } as const
      await world.do({ type: 'setOperationStatus', ...cancel })
      t.same(await recounting.recount('op2'), [])
      t.same(
        [settingsOf(reader).lastRecount, reader.get(longOperationKeys.operation('op2'))?.status],
        [before, 'cancelled'],
      )
      await world.do({ ...startOperation('op3'), kind: 'recount' })
      await world.do({ type: 'advanceOperation', ...started, operationId: 'op3' })
      await recounting.round()
      t.equal(reader.get(longOperationKeys.operation('op3'))?.status, 'succeeded')
    },
  )

  await t.test('says now and then how far it is', async (t) => {
    await world.do({ ...startOperation('op5'), kind: 'recount' })
    const phases: string[] = []
    let turn: Promise<unknown> = Promise.resolve()
    const propose: Propose = async (command) => {
      if ('phase' in command) phases.push(command.phase)
      const done = turn.then(() => world.propose(command))
      turn = done
      return done
    }
    const reported = new Recounting({
      cluster: { isJobRunner: () => true, nodeId: 'n1' },
      state: reader,
      propose,
      everyMs: 1_000_000,
      // Every look at the clock is a minute later.
      now: () => (now += 60_000),
      logger: recordingLogger(lines),
    })
    await reported.round()
    t.match(phases, ['counting rows on n1', /^counting rows on n1, \d+ so far$/])
    t.equal(reader.get(longOperationKeys.operation('op5'))?.status, 'succeeded')
  })

  await t.test(
    'halts the collection and says so loudly when something differs, and corrects nothing',
    async (t) => {
      const key = chunkKeys.chunk('acme', 'c1')
      const { db } = stateMachine.handle.current
      const stored = db.getSync(keyBytes(key))
      if (stored === undefined) throw new Error('there is no row')
      await putRow(
        db,
        keyBytes(key),
        encodeRow(keyBytes(key), { ...decodeRow(key, stored), references: 0, condemnedAt: 1 }),
      )
      await world.do({ ...startOperation('op4'), kind: 'recount' })
      await recounting.round()
      t.match(reader.get(longOperationKeys.operation('op4')), {
        status: 'failed',
        error: /^2 differences; .* halted; the first: references/,
      })
      t.match(settingsOf(reader).lastRecount, { differences: 2, first: /references/ })
      t.match(await recounting.recount(null), [/references/, /do not follow/])
      t.match(settingsOf(reader).collectionHalted, { reason: /^recount: references/ })
      t.match(lines.at(-1), { level: 'error', message: /halted/ })
      t.match([value('holdfast_recount_differences'), value('holdfast_collection_halted')], [2, 1])
      t.equal(reader.get(chunkKeys.chunk('acme', 'c1'))?.references, 0)
      const chunks = [{ tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1', condemnedAt: 1 }]
      t.match(await world.propose({ type: 'collectChunks', chunks }), {
        ok: false,
        code: 'precondition_failed',
      })
    },
  )
})
