/** Orders about single disks: what is counted, what is marked and when, what is refused; and what other nodes send and answer. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { DiskOrders, PLACES_MAX } from '../../cluster/disk-orders.ts'
import type { BlobName, DiskOrder } from '../../cluster/base/types.ts'
import { PeerRefusedError, type CallHandler, type PeerCalls } from '../../cluster/transport/transport.ts'
import { SILENT } from '../helpers/loggers.ts'
import { sampleBlob } from './blob-samples.ts'
import { DisksWorld, largeBlobs, writeAll } from './disks-world.ts'

type Blob = ReturnType<typeof sampleBlob>
const GIB = 1024 ** 3
const sizes = (world: DisksWorld, freeBytes: number) =>
  Object.fromEntries(world.directories.map((directory) => [directory, { totalBytes: 1000 * GIB, freeBytes }]))

async function scene(t: Parameters<typeof DisksWorld.make>[0]) {
  const world = await DisksWorld.make(t)
  world.sizes = sizes(world, 900 * GIB)
  const opened = await world.open()
  const all = largeBlobs(20)
  await writeAll(opened.store, all)
  const [first, second] = opened.set.all
  if (first === undefined || second === undefined) throw new Error('two disks are expected')
  const held: Blob[] = []
  for (const blob of all) if ((await world.where(blob)).includes(first.directory)) held.push(blob)
  const bySize = new Map(all.map((blob) => [blob.id, blob.size]))
  const sizeOf = ({ id }: BlobName) => bySize.get(id) ?? null
  const isMarked = (directory: string) =>
    stat(join(directory, 'draining')).then(
      () => true,
      () => false,
    )
  return { world, ...opened, all, held, first, second, sizeOf, isMarked }
}

t.test(
  'an order to empty a disk counts, marks it before it is answered, and ends when it is used again',
  async (t) => {
    const { set, store, held, first, sizeOf, isMarked } = await scene(t)
    const order = { diskId: first.diskId, isDraining: true, isRehearsal: true }
    const bytes = held.reduce((sum, { size }) => sum + size, 0)
    const plan = { copies: held.length, bytes, isComplete: true, directory: first.directory }
    t.match(await store.drains.order(order, sizeOf), { kind: 'done', plan: { ...plan, status: 'serving' } })
    t.notOk(await isMarked(first.directory), 'a rehearsal marks nothing')
    const ordered = await store.drains.order({ ...order, isRehearsal: false }, sizeOf)
    t.match(ordered, { kind: 'done', plan: { ...plan, status: 'draining' } })
    t.ok(await isMarked(first.directory))
    await set.look()
    t.equal(first.status, 'draining')
    await store.drains.order({ ...order, isDraining: false, isRehearsal: false }, sizeOf)
    t.notOk(await isMarked(first.directory))
    await set.look()
    t.equal(first.status, 'serving')
  },
)

t.test(
  'an order is refused without room, for a disk that is out, and for one that is not there',
  async (t) => {
    const { world, set, store, first, second, sizeOf, isMarked } = await scene(t)
    const order: DiskOrder = { diskId: first.diskId, isDraining: true, isRehearsal: false }
    world.sizes = sizes(world, 30 * GIB + 1)
    await store.usage()
    t.match(await store.drains.order(order, sizeOf), { why: 'no_room', plan: { roomBytes: 1 } })
    t.notOk(await isMarked(first.directory))
    world.sizes = sizes(world, 900 * GIB)
    await store.usage()
    t.match(await store.drains.order({ ...order, diskId: 'f'.repeat(32) }, sizeOf), { why: 'no_disk' })
    set.fail(second, new Error('EIO'))
    t.match(
      await store.drains.order(order, sizeOf),
      { why: 'no_room', plan: { roomBytes: 0 } },
      'the other one fails',
    )
    await set.look()
    t.match(await store.drains.order({ ...order, diskId: second.diskId }, sizeOf), { why: 'out' })
  },
)

t.test('each copy has the disk on which it lies; one that is nowhere has none', async (t) => {
  const { world, store, all, first } = await scene(t)
  const { disks, found } = await store.drains.places([...all, sampleBlob(999)])
  for (const [at, blob] of all.entries())
    t.strictSame(await world.where(blob), [disks[found[at] ?? -1]?.directory])
  t.equal(found.at(-1), null)
  t.equal(disks[0]?.diskId, first.diskId)
})

t.test('orders and answers of other nodes are checked', async (t) => {
  const handlers = new Map<string, CallHandler>()
  let answer: unknown = null
  let fault: Error | null = null
  const transport: PeerCalls = {
    handle: (method: string, handler: CallHandler) => handlers.set(method, handler),
    call: async () => {
      if (fault !== null) throw fault
      return { header: answer, body: (async function* () {})() }
    },
  }
  const orders = new DiskOrders({
    nodeId: 'n1',
    transport,
    drains: null,
    sizeOf: () => null,
    onMarked: () => undefined,
    logger: SILENT,
  })
  const order: DiskOrder = { diskId: 'a', isDraining: true, isRehearsal: true }
  t.same(await orders.order('n1', order), { kind: 'refused', why: 'one_disk' })
  t.equal(await orders.places('n1', []), null)
  const asked = (method: string, header: unknown) =>
    handlers.get(method)?.({ header } as Parameters<CallHandler>[0])
  await t.rejects(Promise.resolve(asked('disk.order', { diskId: 7 })), { code: 'bad_request' })
  const many = Array.from({ length: PLACES_MAX + 1 }, () => ['a', 'b'])
  await t.rejects(Promise.resolve(asked('disk.places', many)), { code: 'bad_request' })
  const wrong = [
    null,
    {},
    { kind: 'done' },
    { kind: 'refused', why: 'moon' },
    { kind: 'done', plan: { copies: -1 } },
  ]
  for (const one of wrong) {
    answer = one
    t.same(await orders.order('n2', order), { kind: 'refused', why: 'no_answer' }, JSON.stringify(one))
  }
  answer = { kind: 'refused', why: 'out' }
  t.same(await orders.order('n2', order), answer)
  for (const one of [{}, { disks: [], found: [0] }, { disks: [{}], found: [null] }]) {
    answer = one
    t.equal(await orders.places('n2', [sampleBlob(1)]), null, JSON.stringify(one))
  }
  answer = { disks: [{ diskId: 'a', directory: '/d' }], found: [0] }
  t.same(await orders.places('n2', [sampleBlob(1)]), answer)
  fault = new PeerRefusedError('unknown_method', 'an older build')
  t.same(await orders.order('n2', order), { kind: 'refused', why: 'no_answer' })
})
