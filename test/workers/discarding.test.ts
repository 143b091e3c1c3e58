/** Discarded bodies and parts over a real store: released bit by bit until nothing is left. */
import assert from 'node:assert/strict'
import t from 'tap'
import { Discarding } from '../../src/workers/discarding.ts'
import { SILENT } from '../helpers/loggers.ts'
import { putChunks, remove } from '../state-machine/map-world.ts'
import { createUpload, putPart } from '../state-machine/upload-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'

async function bench(t: Teardown) {
  const world = await StoreWorld.withBucket(t)
  const { reader: state } = world.store
  const duty = { isOn: true }
  const cluster = { isOnDuty: () => duty.isOn }
  const discarding = new Discarding({ cluster, state, propose: world.propose, logger: SILENT })
  const rounds = async () => {
    let count = 0
    while (await discarding.round()) assert.ok(++count < 100, 'it comes to an end')
    return count
  }
  return { world, state, duty, rounds }
}

const chunks = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}`)

t.test('Discarding', async (t) => {
  t.test('releases a large body some links at a time, only on duty', async (t) => {
    const { world, state, duty, rounds } = await bench(t)
    await world.do(putChunks('big', chunks(2500, 'c')))
    await world.apply([remove('big')])
    t.equal((await state.discards(10)).length, 1)
    duty.isOn = false
    t.equal(await rounds(), 0)
    duty.isOn = true
    t.equal(await rounds(), 10)
    t.same(await state.discards(10), [])
    t.match(await state.recount(() => true), { differences: [] })
    t.match(state.chunk('acme', 'c0'), { references: 0 })
    t.same(await state.manifestPages(world.photos.id, { version: '', page: 0 }, 10), [])
  })

  t.test('releases all parts of an upload that was given up, and the large ones after that', async (t) => {
    const { world, state, rounds } = await bench(t)
    const upload = await world.do(createUpload('k'))
    const { uploadId } = upload
    for (let partNumber = 1; partNumber <= 150; partNumber++) {
      const mine = chunks(partNumber === 3 ? 40 : 1, `p${partNumber}x`)
      await world.do(putPart({ key: 'k', uploadId, partNumber }, mine))
    }
    await world.do({ type: 'abortUpload', tenantId: 'acme', bucket: 'photos', key: 'k', uploadId })
    t.match(await state.discards(10), [{ id: uploadId, what: { kind: 'upload', partCount: 150 } }])
    t.match(await state.parts(world.photos.id, uploadId, 0, 1000), { parts: { length: 150 } })
    t.ok((await rounds()) >= 3)
    t.same(await state.discards(10), [])
    t.same((await state.parts(world.photos.id, uploadId, 0, 1000)).parts, [])
    t.match(await state.recount(() => true), { differences: [] })
  })

  t.test('is not kept busy by rows that it cannot end', async (t) => {
    const { world } = await bench(t)
    const row = { id: 'mpu_1', tenantId: 'acme', bucketId: world.photos.id }
    const what = { kind: 'upload', partCount: 1, bytes: 1 } as const
    const discarding = new Discarding({
      cluster: { isOnDuty: () => true },
      state: { discards: async () => [{ ...row, what }], parts: async () => ({ parts: [], next: null }) },
      propose: world.propose,
      logger: SILENT,
    })
    t.equal(await discarding.round(), false)
  })
})
