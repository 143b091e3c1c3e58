import t from 'tap'
import { Latencies, percentile } from '../../scripts/bench/statistics.ts'

const of = (values: readonly number[]): Float64Array => {
  const latencies = new Latencies(10_000)
  for (const value of values) latencies.add(value)
  return latencies.sorted()
}

t.test('percentile', (t) => {
  const hundred = of(Array.from({ length: 100 }, (_, i) => 100 - i))
  t.equal(percentile(hundred, 0.5), 50, 'is a recorded value')
  t.equal(percentile(hundred, 0.99), 99, 'leaves one of a hundred above it')
  t.equal(percentile(hundred, 1), 100, 'of all is the largest')
  t.equal(percentile(hundred, 0), 1, 'of none is the smallest')
  t.equal(percentile(of([7]), 0.99), 7, 'of one value is that value')
  t.equal(percentile(of([]), 0.5), null, 'of nothing is unknown')
  t.equal(percentile(of([9, 100, 20]), 1), 100, 'orders numbers as numbers')
  t.throws(() => percentile(hundred, 99), RangeError, 'refuses a share above one')
  t.end()
})

t.test('Latencies', (t) => {
  const many = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5000)
  t.equal(percentile(of(many), 0.5), 2499, 'keeps every value when it grows')
  const two = new Latencies(2)
  two.add(1)
  t.notOk(two.isFull)
  two.add(2)
  t.ok(two.isFull)
  t.throws(() => two.add(3), RangeError, 'refuses more values than its capacity')
  t.equal(two.count, 2)
  t.end()
})
