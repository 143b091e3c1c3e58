/** Gaps between rows that walks found: each that a walk gets is true at its moment, whatever is written meanwhile, and there are not more than may be. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { comesBefore } from '../../src/state-machine/base/key-order.ts'
import { type GapBounds, type GapWalk, KnownGaps } from '../../src/store/rows/known-gaps.ts'

/** In their order; one sorts apart by code point and by UTF-16 unit. */
const KEYS = [...'abcdefghijklmnopqrstuvw'.split(''), '\uffee', '\u{1f600}']

interface Write {
  readonly end: () => void
  readonly apply: (rows: Set<string>) => void
}

interface Walk {
  readonly walk: GapWalk
  /** The rows at the moment of the walk. */
  readonly rows: ReadonlySet<string>
  at: number
}

/** Rows and writes as LevelDB has them, with a `KnownGaps` that is given what the state gives it. */
class World {
  readonly gaps: KnownGaps
  readonly rows = new Set<string>()
  readonly writes: Write[] = []
  readonly walks: Walk[] = []
  hits = 0
  /** How many of the writes under way LevelDB shows. */
  #shown = 0

  constructor(bounds?: GapBounds) {
    this.gaps = new KnownGaps(bounds)
  }

  begin(puts: readonly number[], removals: readonly number[]): void {
    const [put, removed] = [puts.map(keyAt), removals.map(keyAt)]
    const end = this.gaps.writing([...put, ...removed])
    const apply = (rows: Set<string>): void => {
      for (const key of put) rows.add(key)
      for (const key of removed) rows.delete(key)
    }
    this.writes.push({ end, apply })
  }

  /** Of the writes under way it is the oldest: there is one writer. */
  end(): void {
    const write = this.writes.shift()
    write?.apply(this.rows)
    write?.end()
    this.#shown = Math.max(0, this.#shown - 1)
  }

  /** `shown`: LevelDB shows at least so many of the writes under way. */
  open(shown: number): void {
    this.#shown = Math.max(this.#shown, Math.min(shown, this.writes.length))
    const rows = new Set(this.rows)
    for (const { apply } of this.writes.slice(0, this.#shown)) apply(rows)
    this.walks.push({ walk: this.gaps.walk(), rows, at: 0 })
  }

  /** As a cursor: what is not known it finds, and tells. */
  step(one: number, stride: number): void {
    const open = this.walks[one % Math.max(1, this.walks.length)]
    const from = open === undefined ? undefined : KEYS[open.at + stride]
    if (open === undefined || from === undefined) return
    const next = KEYS.find((key) => !comesBefore(key, from) && open.rows.has(key))
    const known = open.walk.next(from)
    if (known !== null) {
      this.hits++
      assert.equal(known, next, `from ${from}`)
    } else if (next !== undefined) open.walk.found({ from, to: next })
    open.at = next === undefined ? KEYS.length : KEYS.indexOf(next) + 1
  }

  close(one: number): void {
    const [closed] = this.walks.splice(one % Math.max(1, this.walks.length), 1)
    closed?.walk.close()
  }
}

const keyAt = (n: number): string => KEYS[n % KEYS.length] ?? ''
const place = fc.nat({ max: KEYS.length - 1 })
const some = fc.array(place, { maxLength: 3 })
const action = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('begin' as const), puts: some, removals: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('open' as const), shown: fc.nat({ max: 2 }) }) },
  {
    weight: 14,
    arbitrary: fc.record({ kind: fc.constant('step' as const), one: fc.nat(3), stride: fc.nat({ max: 2 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('close' as const), one: fc.nat(3) }) },
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

function act(world: World, one: Action): void {
  if (one.kind === 'begin') world.begin(one.puts, one.removals)
  else if (one.kind === 'end') world.end()
  else if (one.kind === 'open') world.open(one.shown)
  else if (one.kind === 'step') world.step(one.one, one.stride)
  else world.close(one.one)
}

t.test('every gap that a walk gets is true at its moment, whatever is written and walked beside it', (t) => {
  let hits = 0
  fc.assert(
    fc.property(
      fc.array(action, { minLength: 20, maxLength: 120, size: 'max' }),
      fc.constantFrom({ textMax: 1000, writtenMax: 1000 }, { textMax: 12, writtenMax: 6 }),
      (actions, bounds) => {
        const world = new World(bounds)
        for (const n of [1, 4, 5, 9, 12, 18, 23]) world.rows.add(keyAt(n))
        for (const one of actions) act(world, one)
        hits += world.hits
      },
    ),
    { seed: 84, numRuns: 3000 },
  )
  t.ok(hits > 2000, `${hits} gaps were known`)
  t.end()
})

function walked(world: World): void {
  world.open(0)
  for (let n = 0; n < KEYS.length; n++) world.step(0, 0)
  world.close(0)
}

t.test('a second walk finds all gaps of the first, and a write takes those alone that it touches', (t) => {
  const world = new World()
  world.begin([2, 5, 9, 14], [])
  world.end()
  walked(world)
  t.equal(world.hits, 0)
  t.equal(world.gaps.size, 4)
  walked(world)
  t.equal(world.hits, 4)
  world.begin([7], [])
  t.equal(world.gaps.size, 3)
  world.end()
  world.begin([], [2])
  t.equal(world.gaps.size, 2)
  world.end()
  walked(world)
  t.equal(world.hits, 5)
  t.end()
})

t.test('of two gaps before one row the longer one is kept, regardless of which was found first', (t) => {
  for (const order of [
    [0, 0],
    [1, 0],
  ]) {
    const world = new World()
    world.rows.add('e')
    world.open(0)
    world.open(0)
    world.step(0, 0)
    world.step(1, 2)
    for (const one of order) world.close(one)
    t.equal(world.gaps.size, 1)
    t.equal(world.gaps.walk().next('a'), 'e')
  }
  t.end()
})

t.test('gaps are forgotten at the bound, and those of the last walk stay', (t) => {
  const world = new World({ textMax: 8, writtenMax: 100 })
  world.begin([2, 5, 9], [])
  world.end()
  walked(world)
  t.equal(world.gaps.size, 3)
  world.begin([14, 17], [])
  world.end()
  world.open(0)
  world.step(0, 12)
  world.step(0, 0)
  world.close(0)
  t.equal(world.gaps.size, 2)
  world.begin([3, 7, 11], [])
  world.end()
  walked(world)
  t.equal(world.gaps.size, 0, 'a walk with more than may be kept keeps nothing')
  t.end()
})

t.test('after too many written keys to remember a walk keeps nothing, and the next one does', (t) => {
  const world = new World({ textMax: 1000, writtenMax: 2 })
  world.begin([2, 5], [])
  world.end()
  world.open(0)
  world.step(0, 1)
  world.begin([10, 11, 12], [])
  world.close(0)
  t.equal(world.gaps.size, 0)
  walked(world)
  t.equal(world.gaps.size, 0, 'the write has not ended')
  world.end()
  walked(world)
  t.ok(world.gaps.size > 0)
  t.end()
})

t.test('what a failed write may have changed is not kept again', (t) => {
  const world = new World()
  world.begin([2, 5], [])
  world.end()
  world.gaps.writing(['d'])
  walked(world)
  t.equal(world.gaps.size, 1)
  t.end()
})
