/**
 * LoopbackTransport on a virtual clock.
 */
import t from 'tap'
import { transportContract } from '../port-suites/transport.ts'
import { LoopbackBench } from './benches.ts'

t.test('LoopbackTransport as a Transport', (t) => {
  transportContract(t, async () => new LoopbackBench())
  t.end()
})
