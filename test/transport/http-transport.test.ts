/**
 * HttpTransport over real sockets on loopback.
 */
import t from 'tap'
import { transportContract } from '../port-suites/transport.ts'
import { HttpBench } from './benches.ts'

t.test('HttpTransport as a Transport', (t) => {
  transportContract(t, async (t) => new HttpBench(t))
  t.end()
})
