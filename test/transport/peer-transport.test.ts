/**
 * PeerTransport over real sockets on loopback: over frames, and with a node of a version that knows only HTTP on either side.
 */
import t from 'tap'
import { transportContract } from '../port-suites/transport.ts'
import { PeerBench } from './benches.ts'

const HTTP = { speaks: 'http' } as const

t.test('PeerTransport as a Transport', (t) => {
  transportContract(t, async (t) => new PeerBench(t))
  t.end()
})

t.test('PeerTransport as a Transport whose calls are all short', (t) => {
  transportContract(
    t,
    async (t) => new PeerBench(t, { shortMethods: ['echo', 'later', 'flood', 'read', 'hang'] }),
  )
  t.end()
})

for (const [what, only] of [
  ['towards a node that knows only HTTP', { b: HTTP }],
  ['of a node that knows only HTTP', { a: HTTP }],
] as const) {
  t.test(`PeerTransport as a Transport ${what}`, (t) => {
    transportContract(t, async (t) => new PeerBench(t, {}, only))
    t.end()
  })
}
