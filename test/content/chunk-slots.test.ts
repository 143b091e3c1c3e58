/**
 * The slots that uploads share: fair, never lost, never more than the bound.
 */
import t from 'tap'
import { CHUNK_BYTES, ChunkSlots } from '../../src/content/chunk-slots.ts'

const never = new AbortController().signal

t.test('ChunkSlots', async (t) => {
  t.test('serves waiting uploads first come, first served, and lets no later one pass', async (t) => {
    const slots = new ChunkSlots(1)
    const first = await slots.acquire(never)
    const order: string[] = []
    const waiting = ['a', 'b', 'c'].map(async (name) => {
      const slot = await slots.acquire(never)
      order.push(name)
      t.equal(slots.held, 1)
      slot.release()
    })
    first.release()
    const late = slots.acquire(never).then((slot) => {
      order.push('late')
      slot.release()
    })
    await Promise.all([...waiting, late])
    t.strictSame(order, ['a', 'b', 'c', 'late'])
    t.equal(slots.held, 0)
  })

  t.test('removes a waiter that is aborted, without losing a slot', async (t) => {
    const slots = new ChunkSlots(1)
    const held = await slots.acquire(never)
    const controller = new AbortController()
    const aborted = slots.acquire(controller.signal)
    const next = slots.acquire(never)
    controller.abort(new Error('gone'))
    await t.rejects(aborted, { message: 'gone' })
    await t.rejects(slots.acquire(controller.signal), { message: 'gone' })
    held.release()
    const slot = await next
    slot.release()
    slot.release()
    t.equal(slots.held, 0)
    await slots.acquire(never)
    t.equal(slots.held, 1)
  })

  t.test('reuses a plain buffer as soon as it is dropped, while the chunk still counts', async (t) => {
    const slots = new ChunkSlots(2)
    const one = await slots.acquire(never)
    const buffer = one.plain
    t.equal(buffer.length, CHUNK_BYTES)
    one.dropPlain()
    t.throws(() => one.plain, { name: 'AssertionError' })
    const two = await slots.acquire(never)
    t.equal(two.plain, buffer)
    t.equal(slots.held, 2)
    one.release()
    two.release()
    t.equal((await slots.acquire(never)).plain, buffer)
  })
})
