/** Values that were used lately: the bounds hold for any use, and what is used stays. */
import t from 'tap'
import fc from 'fast-check'
import { Recent } from '../../src/base/recent.ts'

t.test('never holds more than two generations, and never gives another value than was set last', (t) => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    what: fc.constantFrom('set', 'get', 'delete'),
    weight: fc.integer({ min: 0, max: 4 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const recent = new Recent<number>({ countMax: 3, weightMax: 6 })
      const last = new Map<string, number>()
      for (const [value, { name, what, weight }] of steps.entries()) {
        if (what === 'set') {
          recent.set(name, value, weight)
          last.set(name, value)
        } else if (what === 'delete') {
          recent.delete(name)
          last.delete(name)
        } else {
          const kept = recent.get(name)
          if (kept !== undefined && kept !== last.get(name)) return false
        }
        if (recent.size > 6) return false
      }
      return true
    }),
  )
  t.end()
})

t.test('keeps what is used while others come and go', (t) => {
  const recent = new Recent<string>({ countMax: 4, weightMax: 100 })
  recent.set('used', 'x', 1)
  for (let n = 0; n < 100; n++) {
    recent.set(`n${n}`, 'y', 1)
    t.equal(recent.get('used'), 'x')
  }
  t.equal(recent.get('n0'), undefined)
  t.end()
})

t.test('is bounded by weight as well', (t) => {
  const recent = new Recent<string>({ countMax: 1_000, weightMax: 10 })
  for (let n = 0; n < 100; n++) recent.set(`n${n}`, 'y', 5)
  t.ok(recent.size <= 4)
  recent.clear()
  t.equal(recent.size, 0)
  recent.set('one', 'y', 5)
  recent.set('two', 'y', 5)
  t.equal(recent.get('one'), 'y', 'cleared weights are forgotten')
  t.end()
})
