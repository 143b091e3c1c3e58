/** However much one tenant asks for, every waiting tenant has its turns in each round. */
import t from 'tap'
import { FairQueue, type Turn } from '../../src/limits/fair-queue.ts'

interface Named extends Turn {
  readonly name: string
}

class Node {
  readonly blocked = new Set<string>()
  readonly queue = new FairQueue<Named>({
    workMax: 4,
    tenantWorkMax: () => 3,
    leaseMs: 100,
    waitingMax: 1_000,
    mayBegin: ({ tenant }) => !this.blocked.has(tenant),
  })
  readonly waiting: Named[] = []

  /** Asks for a turn, and waits where there is none. */
  ask(tenant: string, turn: Partial<Named> = {}, nowMs = 0): Named {
    const named = { tenant, lane: '', weight: 1, isContinued: false, name: tenant, ...turn }
    if (!this.queue.begin(named, nowMs)) this.queue.wait(named)
    return named
  }

  /** Ends what works, one after the other, and returns what begins in its place. */
  serve(count: number): readonly Named[] {
    const served: Named[] = []
    for (let n = 0; n < count; n++) {
      const next = this.queue.next(0)
      if (next === null) break
      served.push(next)
      this.queue.end(next)
    }
    return served
  }
}

t.test('FairQueue', async (t) => {
  t.test('a tenant with 1,000 requests has one turn for each turn of a tenant with few', async (t) => {
    const node = new Node()
    const first = Array.from({ length: 3 }, () => node.ask('many'))
    for (let n = 0; n < 997; n++) node.ask('many')
    t.equal(node.queue.working, 3, 'one tenant does not take every turn')
    node.ask('few')
    t.equal(node.queue.working, 4, 'another has its turn at once')
    for (let n = 0; n < 5; n++) node.ask('few')
    for (const turn of first) node.queue.end(turn)
    const order = node.serve(10).map(({ tenant }) => tenant)
    t.same(order.filter((tenant) => tenant === 'few').length, 5)
    t.same(node.queue.waiting, 992)
  })

  t.test('a tenant of weight three has three turns in a round', async (t) => {
    const node = new Node()
    const held = ['x', 'y'].flatMap((tenant) => [node.ask(tenant), node.ask(tenant)])
    for (let n = 0; n < 12; n++) {
      node.ask('heavy', { weight: 3 })
      node.ask('light')
    }
    for (const turn of held) node.queue.end(turn)
    const order = node.serve(8).map(({ tenant }) => tenant)
    t.same(order, ['heavy', 'heavy', 'heavy', 'light', 'heavy', 'heavy', 'heavy', 'light'])
  })

  t.test('the keys of one tenant have turns of their own', async (t) => {
    const node = new Node()
    const held = [1, 2, 3].map(() => node.ask('acme'))
    for (let n = 0; n < 20; n++) node.ask('acme', { lane: 'batch', name: 'batch' })
    node.ask('acme', { lane: 'site', name: 'site' })
    for (const turn of held) node.queue.end(turn)
    t.same(
      node.serve(3).map(({ name }) => name),
      ['batch', 'site', 'batch'],
    )
  })

  t.test('what has started goes before what has not', async (t) => {
    const node = new Node()
    const held = [1, 2, 3].map(() => node.ask('acme'))
    node.ask('acme', { name: 'new' })
    node.ask('acme', { name: 'started', isContinued: true })
    for (const turn of held) node.queue.end(turn)
    t.same(
      node.serve(2).map(({ name }) => name),
      ['started', 'new'],
    )
  })

  t.test('a turn that lasts longer than its lease holds no other up', async (t) => {
    const node = new Node()
    const stuck = ['a', 'b', 'c', 'd'].map((tenant) => node.ask(tenant))
    node.ask('e', {}, 99)
    t.equal(node.queue.next(99), null)
    t.match(node.queue.next(100), { tenant: 'e' })
    for (const turn of stuck) node.queue.end(turn)
    t.equal(node.queue.working, 1, 'its end is counted once')
  })

  t.test('a tenant that may not begin is passed over, and holds no other up', async (t) => {
    const node = new Node()
    node.blocked.add('limited')
    node.ask('limited')
    t.equal(node.queue.working, 0)
    node.ask('free')
    t.equal(node.queue.working, 1)
    node.blocked.clear()
    t.match(node.queue.next(0), { tenant: 'limited' })
  })

  t.test('a request does not overtake those of its lane that wait', async (t) => {
    const node = new Node()
    node.blocked.add('acme')
    node.ask('acme', { name: 'first' })
    node.blocked.clear()
    node.ask('acme', { name: 'second' })
    t.same(
      node.serve(2).map(({ name }) => name),
      ['first', 'second'],
    )
  })

  t.test('no more than a bounded number of one tenant wait, and what gave up is forgotten', async (t) => {
    const node = new Node()
    const turns = Array.from({ length: 1_003 }, () => node.ask('acme'))
    t.equal(node.queue.waiting, 1_000)
    const late = { tenant: 'acme', lane: '', weight: 1, isContinued: false, name: 'late' }
    t.notOk(node.queue.wait(late))
    for (const turn of turns) node.queue.end(turn)
    t.equal(node.queue.waiting, 0)
    t.equal(node.queue.working, 0)
    t.equal(node.queue.next(0), null)
  })
})
