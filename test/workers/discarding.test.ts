/** Discarded bodies and parts over a real store: released bit by bit until nothing is left. */
import assert from 'node:assert/strict'
import t from 'tap'
import type { PutBody } from '../../src/state-machine/chunks/commands.ts'
import { Discarding } from '../../src/workers/discarding.ts'
import { SILENT } from '../helpers/loggers.ts'
import { put, putChunks, remove } from '../state-machine/map-world.ts'
import { createUpload, putPart } from '../state-machine/upload-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { bodyRanges } from '../../src/state-machine/bodies/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { manifestPages } from '../../src/store/reads/manifest-reads.ts'
import { pageOfParts } from '../../src/store/reads/part-listing.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'
import type { KeyRange } from '../../src/state-machine/base/row-key.ts'
import type { RowPage } from '../../src/store/reads/state-reader.ts'

const DELAY_MS = 30_000

async function bench(t: Teardown) {
  const world = await StoreWorld.withBucket(t)
  const { reader: state } = world.store
  const duty = { isOn: true }
  const cluster = { isJobRunner: () => duty.isOn }
  const clock = { now: 0 }
  const discarding = new Discarding({
    cluster,
    state,
    propose: world.propose,
    delayMs: DELAY_MS,
    now: () => clock.now,
    logger: SILENT,
  })
  const rounds = async () => {
    let count = 0
    while (await discarding.round()) assert.ok(++count < 100, 'it comes to an end')
    return count
  }
  return { world, state, duty, rounds, clock }
}

const chunks = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}`)

function inline(n: number): PutBody {
  return { kind: 'inline', chunkId: `i${n}`, sealed: new Uint8Array(32) }
}

t.test('Discarding', async (t) => {
  t.test('releases a body some links at a time once it has waited, only on duty', async (t) => {
    const { world, state, duty, rounds, clock } = await bench(t)
    await world.do(putChunks('big', chunks(2500, 'c')))
    await world.apply([remove('big')])
    t.equal((await state.page(bodyRanges.discarded(), { limit: 10 })).items.length, 1)
    t.equal(await rounds(), 0)
    clock.now = DELAY_MS - 1
    t.equal(await rounds(), 0, 'a download may be under way')
    t.match(state.get(chunkKeys.chunk('acme', 'c0')), { references: 1 })
    clock.now = DELAY_MS
    duty.isOn = false
    t.equal(await rounds(), 0)
    duty.isOn = true
    t.equal(
      await rounds(),
      0,
      'this node does not know how long it waited while another node was the job runner',
    )
    clock.now = 2 * DELAY_MS
    t.equal(await rounds(), 10)
    t.same((await state.page(bodyRanges.discarded(), { limit: 10 })).items, [])
    t.match(await recountState(state, () => true), { differences: [] })
    t.match(state.get(chunkKeys.chunk('acme', 'c0')), { references: 0 })
    t.same(await manifestPages(state, world.photos.id, { version: '', page: 0 }, 10), [])
  })

  t.test(
    'keeps what was discarded after the mark, and releases many small bodies in one entry',
    async (t) => {
      const { world, state, rounds, clock } = await bench(t)
      for (let n = 0; n < 300; n++) await world.apply([put(`k${n % 3}`, inline(n), 4)])
      t.equal(await rounds(), 0)
      clock.now = DELAY_MS - 1
      await world.apply([remove('k0'), remove('k1')])
      t.equal(await rounds(), 0)
      clock.now = DELAY_MS
      const before = world.index
      t.equal(await rounds(), 2)
      t.equal(world.index - before, 2, '297 bodies, 256 at most in each entry')
      t.match((await state.page(bodyRanges.discarded(), { limit: 10 })).items, { length: 2 })
      clock.now = 2 * DELAY_MS - 1
      t.equal(await rounds(), 1)
      t.match(usageOf(state, 'acme'), { inlineBytes: 32 })
      t.match(await recountState(state, () => true), { differences: [] })
    },
  )

  t.test('releases all parts of an upload that was given up, and the large ones after that', async (t) => {
    const { world, state, rounds } = await bench(t)
    const upload = await world.do(createUpload('k'))
    const { uploadId } = upload
    for (let partNumber = 1; partNumber <= 150; partNumber++) {
      const mine = chunks(partNumber === 3 ? 40 : 1, `p${partNumber}x`)
      await world.do(putPart({ key: 'k', uploadId, partNumber }, mine))
    }
    await world.do({ type: 'abortUpload', tenantId: 'acme', bucket: 'photos', key: 'k', uploadId })
    t.match((await state.page(bodyRanges.discards(), { limit: 10 })).items, [
      { id: uploadId, what: { kind: 'upload', partCount: 150 } },
    ])
    t.match(await pageOfParts(state, { bucketId: world.photos.id, uploadId }, { after: 0, limit: 1000 }), {
      parts: { length: 150 },
    })
    t.ok((await rounds()) >= 3)
    t.same((await state.page(bodyRanges.discards(), { limit: 10 })).items, [])
    t.same(
      (await pageOfParts(state, { bucketId: world.photos.id, uploadId }, { after: 0, limit: 1000 })).parts,
      [],
    )
    t.match(await recountState(state, () => true), { differences: [] })
  })

  t.test('is not kept busy by rows that it cannot end', async (t) => {
    const { world } = await bench(t)
    const row = { id: 'mpu_1', tenantId: 'acme', bucketId: world.photos.id }
    const what = { kind: 'upload', partCount: 1, bytes: 1 } as const
    const discarding = new Discarding({
      cluster: { isJobRunner: () => true },
      state: {
        page: async <R extends object>({ start }: KeyRange<R>): Promise<RowPage<R>> => {
          const items = start === bodyRanges.discards().start ? [{ ...row, what }] : []
          return { items: items as object[] as R[], names: [], next: null }
        },
        // Nothing else is stored: no part of this upload, and no body.
        lease: (work) => world.store.reader.lease(work),
      },
      delayMs: DELAY_MS,
      now: () => 0,
      propose: world.propose,
      logger: SILENT,
    })
    t.equal(await discarding.round(), false)
  })
})
