/**
 * Clients at every node under faults: loss, repetition, reordering, partitions, power cuts with unflushed writes,
 * snapshots. Their results must fit one order of the appends that respects real time.
 *
 * The order is known: the reply of an append is its place in the list, and a read returns the whole list.
 * Each seed is a run of its own; rerun one with HOLDFAST_SEED=n.
 */
import t from 'tap'
import { Condition } from '../../cluster/base/types.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const SEEDS = 12
const STEPS = 24

interface Operation {
  readonly startedOne: number
  readonly ended: number
  /** Of an append: its place and text. Of a read: how many texts it saw. */
  readonly place?: number
  readonly text?: string
  readonly seen?: readonly string[]
}

class Clients {
  readonly done: Operation[] = []
  failed = 0
  #moment = 0
  #texts = 0
  #isOver = false
  readonly #world: NodeWorld

  constructor(world: NodeWorld) {
    this.#world = world
  }

  start(): Promise<void>[] {
    return this.#world.nodeIds.flatMap((nodeId) => [
      this.#client(nodeId, 'append'),
      this.#client(nodeId, 'read'),
    ])
  }

  finish(): void {
    this.#isOver = true
  }

  async #client(nodeId: string, kind: 'append' | 'read'): Promise<void> {
    while (!this.#isOver) {
      await this.#pause()
      if (!this.#world.running.includes(nodeId)) continue
      const startedOne = (this.#moment += 1)
      try {
        const result = kind === 'append' ? await this.#append(nodeId) : await this.#read(nodeId)
        this.done.push({ startedOne, ended: (this.#moment += 1), ...result })
      } catch (error) {
        if (!(error instanceof Condition)) throw error
        this.failed += 1
      }
    }
  }

  async #append(nodeId: string): Promise<{ place: number; text: string }> {
    const text = `${nodeId}.${(this.#texts += 1)}`
    return { place: await this.#world.append(nodeId, text), text }
  }

  async #read(nodeId: string): Promise<{ seen: readonly string[] }> {
    const { node, machine } = this.#world.process(nodeId)
    await node.readBarrier()
    return { seen: machine.texts }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#world.clock.after(this.#world.random() % 40, resolve))
  }
}

async function breakSomething(world: NodeWorld): Promise<void> {
  const nodeId = world.nodeIds[world.random() % 3] ?? ''
  const isRunning = world.running.includes(nodeId)
  switch (world.random() % 6) {
    case 0:
    case 1:
      if (isRunning) world.crash(nodeId, world.random() % 3)
      return
    case 2:
      return world.network.isolate(nodeId)
    case 3:
      return world.network.block(nodeId, world.nodeIds[world.random() % 3] ?? '')
    case 4:
      return world.network.heal()
    case 5:
      for (const stopped of world.nodeIds) if (!world.running.includes(stopped)) await world.start(stopped)
  }
}

async function repairAll(world: NodeWorld): Promise<void> {
  world.network.heal()
  world.network.dropRate = 0
  for (const stopped of world.nodeIds) if (!world.running.includes(stopped)) await world.start(stopped)
}

/** The violations; empty: none. */
function judge(history: readonly Operation[], final: readonly string[]): string[] {
  const wrong: string[] = []
  if (new Set(final).size !== final.length) wrong.push('an append took effect twice')
  for (const { place, text } of history) {
    if (place !== undefined && final[place - 1] !== text) wrong.push(`${text} is not at place ${place}`)
  }
  for (const { seen } of history) {
    if (seen?.some((text, i) => final[i] !== text))
      wrong.push(`a read saw ${seen.length} texts in another order`)
  }
  // In real time: an operation must see every operation that ended before it started.
  const reached = (operation: Operation): number => operation.place ?? operation.seen?.length ?? 0
  const byEnd = history.toSorted((a, b) => a.ended - b.ended)
  let ended = 0
  let highest = 0
  for (const operation of history.toSorted((a, b) => a.startedOne - b.startedOne)) {
    for (let past = byEnd[ended]; past && past.ended < operation.startedOne; past = byEnd[ended]) {
      highest = Math.max(highest, reached(past))
      ended += 1
    }
    const isStale = operation.seen ? reached(operation) < highest : reached(operation) <= highest
    if (isStale)
      wrong.push(`an operation reached ${reached(operation)} after another had ended at ${highest}`)
  }
  return wrong
}

t.test('judge', async (t) => {
  const append = { startedOne: 1, ended: 2, place: 1, text: 'a' }
  t.strictSame(judge([append, { startedOne: 3, ended: 4, seen: ['a'] }], ['a']), [])
  t.equal(judge([append, { startedOne: 3, ended: 4, seen: [] }], ['a']).length, 1, 'finds a stale read')
  t.equal(judge([append], ['b']).length, 1, 'finds a lost append')
  t.equal(judge([append], ['a', 'a']).length, 1, 'finds a doubled append')
  t.equal(
    judge([append, { startedOne: 3, ended: 4, place: 1, text: 'a' }], ['a']).length,
    1,
    'finds an index taken twice',
  )
})

t.test('node', async (t) => {
  const only = process.env['HOLDFAST_SEED']
  const seeds = only ? [Number(only)] : Array.from({ length: SEEDS }, (_, i) => i + 1)
  for (const seed of seeds) {
    t.test(`is linearizable under faults, seed ${seed}`, async (t) => {
      const keep = seed % 2 === 0 ? { logKeepEntries: 16 } : {}
      const world = await NodeWorld.started({ seed, maxDelayMs: 12, node: keep })
      world.network.dropRate = (seed % 4) * 0.05
      world.network.duplicateRate = 0.1
      const clients = new Clients(world)
      const loops = clients.start()
      for (let step = 0; step < STEPS; step += 1) {
        await world.clock.advance(50 + (world.random() % 600))
        await breakSomething(world)
      }
      await repairAll(world)
      await world.clock.advance(3_000)
      clients.finish()
      await world.run(Promise.all(loops))
      await world.untilReady()
      await world.untilEqual()
      const final = world.texts('n1')
      const acked = clients.done.filter(({ place }) => place !== undefined).length
      t.strictSame(judge(clients.done, final), [])
      t.ok(
        acked > 20 && clients.done.length - acked > 20,
        `enough was done: ${clients.done.length}, ${clients.failed} failed`,
      )
      for (const nodeId of world.nodeIds) t.strictSame(world.texts(nodeId), final)
      await world.stopAll()
    })
  }
})
