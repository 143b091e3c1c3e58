/**
 * The slots that whole chunks share: fair between tenants, never lost, never more than the bound.
 */
import t from 'tap'
import { ChunkSlots } from '../../src/content/chunk-slots.ts'

const never = new AbortController().signal

t.test('ChunkSlots', async (t) => {
  t.test('serves chunks of a tenant first come, first served, and lets no later one pass', async (t) => {
    const slots = new ChunkSlots(1)
    const first = await slots.acquire('acme', never)
    const order: string[] = []
    const waiting = ['a', 'b', 'c'].map(async (name) => {
      const slot = await slots.acquire('acme', never)
      order.push(name)
      t.equal(slots.held, 1)
      slot.release()
    })
    first.release()
    const late = slots.acquire('acme', never).then((slot) => {
      order.push('late')
      slot.release()
    })
    await Promise.all([...waiting, late])
    t.strictSame(order, ['a', 'b', 'c', 'late'])
    t.equal(slots.held, 0)
  })

  t.test('serves tenants in turn: a chunk does not wait for the hundred of another tenant', async (t) => {
    const slots = new ChunkSlots(1)
    const first = await slots.acquire('evil', never)
    const order: string[] = []
    const take = async (tenantId: string): Promise<void> => {
      const slot = await slots.acquire(tenantId, never)
      order.push(tenantId)
      slot.release()
    }
    const crowd = Array.from({ length: 100 }, () => take('evil'))
    const others = [take('acme'), take('acme'), take('third')]
    first.release()
    await Promise.all([...crowd, ...others])
    t.strictSame(order.slice(0, 6), ['evil', 'acme', 'third', 'evil', 'acme', 'evil'])
    t.equal(slots.held, 0)
  })

  t.test('removes a waiter that is aborted, without losing a slot', async (t) => {
    const slots = new ChunkSlots(1)
    const held = await slots.acquire('acme', never)
    const controller = new AbortController()
    const aborted = slots.acquire('evil', controller.signal)
    const next = slots.acquire('acme', never)
    controller.abort(new Error('gone'))
    await t.rejects(aborted, { message: 'gone' })
    await t.rejects(slots.acquire('acme', controller.signal), { message: 'gone' })
    held.release()
    const slot = await next
    slot.release()
    slot.release()
    t.equal(slots.held, 0)
    await slots.acquire('acme', never)
    t.equal(slots.held, 1)
  })
})
