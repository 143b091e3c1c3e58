/**
 * Names that were resolved once never wait for a name server again.
 */
import type { LookupAddress } from 'node:dns'
import t from 'tap'
import { AddressMemory, type ResolveName } from '../../cluster/transport/address-memory.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { PeerBench } from './benches.ts'

/** A name server that answers when the test says so, in the order of the questions. */
class NameServer {
  readonly open: { name: string; answer: (...addresses: string[]) => void; fail: (code: string) => void }[] =
    []

  readonly resolve: ResolveName = (name, _options, callback) => {
    const answer = (...addresses: string[]): void =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    const fail = (code: string): void => callback(Object.assign(new Error(code), { code }), [])
    this.open.push({ name, answer, fail })
  }
}

function find(memory: AddressMemory, name: string, family?: 4 | 6): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    memory.lookup(name, { all: true, ...(family === undefined ? {} : { family }) }, (error, addresses) =>
      error === null && Array.isArray(addresses) ? resolve(addresses) : reject(error),
    )
  })
}

const addressesOf = async (found: Promise<readonly LookupAddress[]>): Promise<readonly string[]> =>
  (await found).map(({ address }) => address)

t.test('AddressMemory', async (t) => {
  t.test('answers from memory while the name server is silent', async (t) => {
    const server = new NameServer()
    const memory = new AddressMemory(server.resolve)
    memory.remember('n2')
    server.open.shift()?.answer('10.0.0.2')
    t.same(await addressesOf(find(memory, 'n2')), ['10.0.0.2'])
    t.same(await addressesOf(find(memory, 'n2')), ['10.0.0.2'])
    t.equal(server.open.length, 1, 'one question at a time')
  })

  t.test('learns a new address from the lookup that the last use started', async (t) => {
    const server = new NameServer()
    const memory = new AddressMemory(server.resolve)
    memory.remember('n2')
    server.open.shift()?.answer('10.0.0.2')
    await find(memory, 'n2')
    server.open.shift()?.answer('10.0.0.9')
    t.same(await addressesOf(find(memory, 'n2')), ['10.0.0.9'])
    server.open.shift()?.fail('EAI_AGAIN')
    t.same(await addressesOf(find(memory, 'n2')), ['10.0.0.9'], 'a failed lookup keeps the known addresses')
  })

  t.test('waits for the first answer, together with all callers meanwhile', async (t) => {
    const server = new NameServer()
    const memory = new AddressMemory(server.resolve)
    const both = [find(memory, 'n2'), find(memory, 'n2', 6)]
    t.equal(server.open.length, 1)
    server.open.shift()?.answer('10.0.0.2', 'fd00::2')
    t.same(await Promise.all(both.map(addressesOf)), [['10.0.0.2', 'fd00::2'], ['fd00::2']])
  })

  t.test('passes on an error when no address is known, and asks again', async (t) => {
    const server = new NameServer()
    const memory = new AddressMemory(server.resolve)
    const found = find(memory, 'n2')
    server.open.shift()?.fail('ENOTFOUND')
    await t.rejects(found, { code: 'ENOTFOUND' })
    const again = find(memory, 'n2')
    server.open.shift()?.answer('10.0.0.2')
    t.same(await addressesOf(again), ['10.0.0.2'])
  })

  t.test('holds a bounded number of waiters', async (t) => {
    const memory = new AddressMemory(new NameServer().resolve)
    for (let i = 0; i < 64; i++) memory.lookup('n2', { all: true }, () => t.fail('no server answers'))
    await t.rejects(find(memory, 'n2'), { code: 'ENOTFOUND' })
  })

  t.test('returns one address to a caller that requests one', async (t) => {
    const server = new NameServer()
    const memory = new AddressMemory(server.resolve)
    memory.remember('127.0.0.1')
    t.equal(server.open.length, 0, 'an address is not a name')
    const one = new Promise((resolve) => memory.lookup('n2', {}, (...answer) => resolve(answer)))
    server.open.shift()?.answer('10.0.0.2', '10.0.0.3')
    t.same(await one, [null, '10.0.0.2', 4])
  })
})

t.test('PeerTransport resolves the names of its peers periodically, until it stops', async (t) => {
  const server = new NameServer()
  const clock = new VirtualClock()
  const bench = new PeerBench(t, { resolveName: server.resolve, clock })
  bench.addresses.set('b', 'localhost:1')
  const { transport } = await bench.start('a')
  t.equal(server.open.length, 1)
  await clock.advance(10_000)
  t.equal(server.open.length, 1, 'no second lookup before the first is answered')
  server.open.shift()?.answer('127.0.0.1')
  await clock.advance(10_000)
  t.equal(server.open.length, 1)
  server.open.shift()?.answer('127.0.0.1')
  await transport.stop()
  await clock.advance(60_000)
  t.equal(server.open.length, 0)
})

t.test('PeerTransport reaches a peer for the first time after the name server went silent', async (t) => {
  const server = new NameServer()
  const bench = new PeerBench(t, { resolveName: server.resolve })
  await bench.start('b', { echo: async ({ header }) => ({ header }) })
  const port = bench.addresses.get('b')?.split(':')[1]
  bench.addresses.set('b', `localhost:${port}`)
  const a = await bench.start('a')
  const [question] = server.open
  t.equal(question?.name, 'localhost', 'the name is resolved before it is needed')
  question?.answer('127.0.0.1')
  const { header } = await a.transport.call('b', 'echo', { header: 'still there' })
  t.equal(header, 'still there')
  t.equal(server.open.length, 2, 'its connection started another lookup, and did not wait')
})
