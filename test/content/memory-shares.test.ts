/** Who may hold how much of the memory for uploads. */
import fc from 'fast-check'
import t from 'tap'
import { MemoryShares, type UploadCaller } from '../../src/content/memory-shares.ts'

const MAX = 1_000_000

const caller = (tenantId: string, accessKeyId = 'k', address = 'a'): UploadCaller => ({
  tenantId,
  accessKeyId,
  address,
})

/** Takes as much as it may, in small pieces; returns what it holds then. */
function fill(shares: MemoryShares, who: UploadCaller): number {
  let bytes = 0
  for (; shares.roomFor(who) >= 1000; bytes += 1000) shares.take(who, 1000)
  return bytes
}

t.test('MemoryShares', async (t) => {
  t.test('leaves room for the next tenant, key and address', async (t) => {
    const shares = new MemoryShares(MAX)
    const first = fill(shares, caller('evil'))
    t.ok(first > 0.7 * MAX && first < 0.8 * MAX, `one alone gets ${first}`)
    for (const other of [caller('evil', 'k', 'b'), caller('evil', 'k2'), caller('acme')])
      t.ok(shares.roomFor(other) > 0, Object.values(other).join(' '))
    t.ok(fill(shares, caller('acme')) > 0.1 * MAX, 'another tenant gets a tenth at once')
    t.ok(shares.bytes < MAX)
  })

  t.test('lets a tenant with a thousand keys and addresses have no more than one with one', async (t) => {
    const many = new MemoryShares(MAX)
    for (let n = 0; n < 1000; n += 1) fill(many, caller('evil', `k${n % 30}`, `a${n}`))
    t.ok(many.bytesOfTenant(caller('evil')) <= 0.8 * MAX)
    t.ok(fill(many, caller('acme')) > 0.1 * MAX)
  })

  t.test('shrinks the share of who holds when another one comes', async (t) => {
    const shares = new MemoryShares(MAX)
    fill(shares, caller('evil'))
    fill(shares, caller('acme'))
    shares.give(caller('evil'), 100_000)
    t.ok(shares.roomFor(caller('evil')) < 0, 'what it gave back is not its own any more')
    t.ok(shares.roomFor(caller('acme')) > 0)
  })

  t.test('calls heavy only who holds the mean of its like at every level', async (t) => {
    const shares = new MemoryShares(MAX)
    shares.take(caller('evil', 'k1', 'a1'), 300)
    t.ok(shares.isHeavy(caller('evil', 'k1', 'a1')), 'the only one')
    shares.take(caller('acme'), 100)
    shares.take(caller('evil', 'k1', 'a2'), 50)
    shares.take(caller('evil', 'k2', 'a1'), 100)
    t.ok(shares.isHeavy(caller('evil', 'k1', 'a1')))
    t.notOk(shares.isHeavy(caller('evil', 'k1', 'a2')), 'a light address of a heavy key')
    t.notOk(shares.isHeavy(caller('evil', 'k2', 'a1')), 'a light key of a heavy tenant')
    t.notOk(shares.isHeavy(caller('acme')), 'a light tenant')
    t.notOk(shares.isHeavy(caller('none')))
  })

  t.test('is empty again after everything was given back, in any order', async (t) => {
    const step = fc.record({
      who: fc.nat(3),
      key: fc.nat(2),
      address: fc.nat(2),
      bytes: fc.integer({ min: 1, max: 9 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (steps, order) => {
        const shares = new MemoryShares(MAX)
        const held = steps.map(({ who, key, address, bytes }) => ({
          who: caller(`t${who}`, `k${key}`, `a${address}`),
          bytes,
        }))
        for (const { who, bytes } of held) shares.take(who, bytes)
        t.equal(
          shares.bytes,
          held.reduce((sum, { bytes }) => sum + bytes, 0),
        )
        while (held.length > 0) {
          const [gone] = held.splice(Number(order.next().value) % held.length, 1)
          if (gone !== undefined) shares.give(gone.who, gone.bytes)
        }
        t.equal(shares.bytes, 0)
        // A group that was left over would hold bytes or count as a member.
        shares.take(caller('t0', 'k0', 'a0'), 1)
        t.ok(shares.isHeavy(caller('t0', 'k0', 'a0')))
      }),
      { numRuns: 50 },
    )
  })
})
