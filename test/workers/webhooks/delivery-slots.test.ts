/** Who may send how much at once. */
import t from 'tap'
import {
  DeliverySlots,
  HOOK_SLOTS_MAX,
  SLOTS_MAX,
  TENANT_SLOTS_MAX,
} from '../../../src/workers/webhooks/delivery-slots.ts'

const hook = (n: number, tenant = `t${n}`, failures = 0) => ({ hookId: `h${n}`, tenantId: tenant, failures })

function takeAll(slots: DeliverySlots, claimant: ReturnType<typeof hook>): number {
  let taken = 0
  while (slots.freeFor(claimant) > 0) {
    slots.take(claimant)
    taken++
  }
  return taken
}

t.test('DeliverySlots', async (t) => {
  t.test('one hook has a bound, and a lower one while it only fails', async (t) => {
    const slots = new DeliverySlots()
    t.equal(takeAll(slots, hook(1)), HOOK_SLOTS_MAX)
    t.equal(takeAll(slots, hook(2, 't2', 2)), HOOK_SLOTS_MAX)
    t.equal(takeAll(slots, hook(3, 't3', 3)), 1)
    slots.release(hook(1))
    t.equal(slots.freeFor(hook(1)), 1)
  })

  t.test('one tenant has a bound, however many hooks it has', async (t) => {
    const slots = new DeliverySlots()
    let taken = 0
    for (let n = 0; n < 200; n++) taken += takeAll(slots, hook(n, 'greedy'))
    t.equal(taken, TENANT_SLOTS_MAX)
    t.equal(slots.freeFor(hook(999, 'other')), HOOK_SLOTS_MAX)
  })

  t.test('the last half is for those that have none, so slow ones never take everything', async (t) => {
    const slots = new DeliverySlots()
    let hooks = 0
    while (slots.freeFor(hook(hooks)) > 1) takeAll(slots, hook(hooks++))
    t.equal(hooks, SLOTS_MAX / 2 / HOOK_SLOTS_MAX)
    let late = 0
    for (let n = 1000; takeAll(slots, hook(n)) === 1; n++) late++
    t.equal(late, SLOTS_MAX / 2, 'one each')
    t.equal(slots.taken, SLOTS_MAX)
    t.equal(slots.freeFor(hook(0)), 0, 'never below none')
  })

  t.test('what was taken and released leaves nothing behind', async (t) => {
    const slots = new DeliverySlots()
    for (const change of ['take', 'release'] as const)
      for (let n = 0; n < 5; n++) slots[change](hook(n % 2, 't'))
    t.equal(slots.taken, 0)
    t.equal(slots.freeFor(hook(0)), HOOK_SLOTS_MAX)
  })
})
