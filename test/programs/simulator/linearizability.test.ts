/**
 * The checker against histories whose answer is known: written manually, by construction, and by trying every order.
 */
import t from 'tap'
import { bruteCulprit } from './brute-order.ts'
import { explainVerdict } from './explain-verdict.ts'
import { inventedHistory, mutated, type Random, seeded } from './invented-history.ts'
import {
  type ListInput,
  listModel,
  type ListOutput,
  registerModel,
  type RegisterInput,
  type RegisterOutput,
} from './history-models.ts'
import { checkHistory, type Operation, type Violation } from './linearizability.ts'

type RegisterOperation = Operation<RegisterInput, RegisterOutput>

const DONE: RegisterOutput = { type: 'done' }
const MISMATCH: RegisterOutput = { type: 'mismatch' }
const KEY = 'k'

const saw = (value: string | null): RegisterOutput => ({ type: 'value', value })
const put = (value: string): RegisterInput => ({ type: 'put', key: KEY, value })
const cas = (from: string | null, to: string): RegisterInput => ({ type: 'cas', key: KEY, from, to })
const get: RegisterInput = { type: 'get', key: KEY }
const remove: RegisterInput = { type: 'delete', key: KEY }

/** One operation: called at, answered at (null: never), what, answer. */
type Row = readonly [call: number, at: number | null, input: RegisterInput, output?: RegisterOutput]

function history(rows: readonly Row[]): RegisterOperation[] {
  return rows.map(([call, at, input, output = DONE], client) => ({
    client: `c${client}`,
    input,
    call,
    answer: at === null ? null : { at, output },
  }))
}

const LINEARIZABLE: Record<string, readonly Row[]> = {
  'an empty history': [],
  'a read of nothing before any write': [[0, 1, get, saw(null)]],
  'a read of the old value while the write runs': [
    [0, 9, put('1')],
    [1, 2, get, saw(null)],
  ],
  'a read of the new value before the write is answered': [
    [0, 9, put('1')],
    [1, 2, get, saw('1')],
    [3, 4, get, saw('1')],
  ],
  'two writes at once, read in either order': [
    [0, 9, put('1')],
    [1, 8, put('2')],
    [2, 3, get, saw('2')],
    [4, 5, get, saw('1')],
  ],
  'a write without answer that never happened': [
    [0, null, put('1')],
    [5, 6, get, saw(null)],
  ],
  'a write without answer that happens much later': [
    [0, null, put('1')],
    [1, 2, put('2')],
    [3, 4, get, saw('2')],
    [5, 6, get, saw('1')],
  ],
  'a cas that loses against the other': [
    [0, 1, put('1')],
    [2, 9, cas('1', '2')],
    [3, 8, cas('1', '3'), MISMATCH],
  ],
  'a creation after a removal': [
    [0, 1, put('1')],
    [2, 3, remove],
    [4, 5, cas(null, '2')],
    [6, 7, get, saw('2')],
  ],
  'a cas without answer explains the value that a later cas finds': [
    [0, 1, put('1')],
    [2, null, cas('1', '2')],
    [3, 4, cas('2', '3')],
  ],
  'an answer and a call at the same time prove no order': [
    [0, 3, put('1')],
    [3, 4, get, saw(null)],
  ],
}

const VIOLATION: Record<string, readonly Row[]> = {
  'a stale read': [
    [0, 1, put('1')],
    [2, 3, put('2')],
    [4, 5, get, saw('1')],
  ],
  'a lost write': [
    [0, 1, put('1')],
    [2, 3, get, saw(null)],
  ],
  'a lost update: both cas from the same value succeed': [
    [0, 1, put('1')],
    [2, 9, cas('1', '2')],
    [3, 8, cas('1', '3')],
  ],
  'a read of the future': [
    [0, 1, get, saw('1')],
    [2, 3, put('1')],
  ],
  'a read of a value that no client wrote': [
    [0, 9, put('1')],
    [1, 2, get, saw('7')],
  ],
  'reads that go back while the write runs': [
    [0, 9, put('1')],
    [1, 2, get, saw('1')],
    [3, 4, get, saw(null)],
  ],
  'reads that go back and forth between two writes': [
    [0, 20, put('1')],
    [1, 19, put('2')],
    [2, 3, get, saw('1')],
    [4, 5, get, saw('2')],
    [6, 7, get, saw('1')],
  ],
  'two readers that see two writes in opposite orders': [
    [0, 20, put('1')],
    [1, 19, put('2')],
    [2, 3, get, saw('1')],
    [4, 5, get, saw('2')],
    [6, 9, get, saw('1')],
    [7, 8, get, saw('2')],
  ],
  'a removed value that comes back': [
    [0, 1, put('1')],
    [2, 3, remove],
    [4, 5, get, saw('1')],
  ],
  'a cas that fails although its value was there all the time': [
    [0, 1, put('1')],
    [2, 3, cas('1', '2'), MISMATCH],
  ],
  'a write without answer seen twice with another between': [
    [0, null, put('1')],
    [1, 2, get, saw('1')],
    [3, 4, put('2')],
    [5, 6, get, saw('2')],
    [7, 8, get, saw('1')],
  ],
  'a write without answer seen before it was called': [
    [0, 1, get, saw('1')],
    [2, null, put('1')],
  ],
}

t.test('checkHistory', async (t) => {
  for (const [name, rows] of Object.entries(LINEARIZABLE))
    t.equal(checkHistory(registerModel, history(rows)).outcome, 'linearizable', `accepts ${name}`)
  for (const [name, rows] of Object.entries(VIOLATION))
    t.equal(checkHistory(registerModel, history(rows)).outcome, 'violation', `finds ${name}`)

  await t.test('refuses an answer before its call', async (t) => {
    t.throws(() => checkHistory(registerModel, history([[5, 4, get, saw(null)]])), RangeError)
  })
})

t.test('a list', async (t) => {
  const append = (call: number, at: number | null, item: string) => ({
    client: item,
    input: { type: 'append', key: KEY, item } as const,
    call,
    answer: at === null ? null : { at, output: { type: 'done' } as const },
  })
  const read = (call: number, at: number, ...items: string[]) => ({
    client: 'reader',
    input: { type: 'read', key: KEY } as const,
    call,
    answer: { at, output: { type: 'items', items } as const },
  })
  const both = [append(0, 9, 'a'), append(1, 8, 'b')]
  t.equal(
    checkHistory(listModel, [...both, read(10, 11, 'b', 'a')]).outcome,
    'linearizable',
    'either order of two at once',
  )
  t.equal(checkHistory(listModel, [...both, read(10, 11, 'b')]).outcome, 'violation', 'a lost item')
  t.equal(
    checkHistory(listModel, [...both, read(10, 11, 'a', 'b', 'a')]).outcome,
    'violation',
    'an item twice',
  )
  t.equal(
    checkHistory(listModel, [...both, read(10, 11, 'a', 'b'), read(12, 13, 'b', 'a')]).outcome,
    'violation',
    'an order that changes',
  )
  const open = [append(0, null, 'a'), append(1, 2, 'b')]
  t.equal(checkHistory(listModel, [...open, read(3, 4, 'b'), read(5, 6, 'b', 'a')]).outcome, 'linearizable')
  t.equal(checkHistory(listModel, [...open, read(3, 4, 'a', 'b'), read(5, 6, 'b')]).outcome, 'violation')
})

t.test('a history made in an order', async (t) => {
  await t.test('is accepted, for any clients, keys and lost answers', async (t) => {
    for (let seed = 1; seed <= 400; seed += 1) {
      const random = seeded(seed)
      const shape = { clients: 1 + random(12), keys: 1 + random(4), operations: 200, values: 1 + random(6) }
      const operations = inventedHistory(random, { ...shape, lostPercent: random(30) })
      const verdict = checkHistory(registerModel, operations)
      if (verdict.outcome !== 'linearizable')
        t.fail(`seed ${seed}: ${explainVerdict(registerModel, verdict)}`)
    }
    t.pass('400 histories of 200 operations')
  })
  await t.test(
    'is accepted with 100,000 operations in little more than one configuration each',
    async (t) => {
      const shape = { clients: 20, keys: 500, operations: 100_000, values: 1000, lostPercent: 2 }
      const verdict = checkHistory(registerModel, inventedHistory(seeded(1), shape))
      t.equal(verdict.outcome, 'linearizable')
      t.ok(verdict.configurations < 200_000, `${verdict.configurations} configurations`)
    },
  )
  await t.test('is accepted when all are under one key', async (t) => {
    const shape = { clients: 8, keys: 1, operations: 5000, values: 1000, lostPercent: 2 }
    const verdict = checkHistory(registerModel, inventedHistory(seeded(2), shape))
    t.equal(verdict.outcome, 'linearizable')
    t.ok(verdict.configurations < 50_000, `${verdict.configurations} configurations`)
  })
})

t.test('a small history with changed answers', async (t) => {
  await t.test('gets the verdict of trying every order, down to the culprit', async (t) => {
    const counts = { linearizable: 0, violation: 0 }
    for (let seed = 1; seed <= 30_000; seed += 1) {
      const random = seeded(seed)
      const shape = { clients: 2 + random(4), keys: 1, operations: 3 + random(5), values: 1 + random(3) }
      const made = inventedHistory(random, { ...shape, lostPercent: random(60) })
      const operations = mutated(random, made, random(6))
      const culprit = bruteCulprit(registerModel, operations)
      const verdict = checkHistory(registerModel, operations)
      const found = verdict.outcome === 'violation' ? verdict.violation.culprit : null
      if (verdict.outcome === 'unknown' || found !== culprit)
        t.fail(
          `seed ${seed}: every order says ${culprit?.client ?? 'yes'}; ${explainVerdict(registerModel, verdict)}`,
        )
      else counts[verdict.outcome] += 1
      if (verdict.outcome === 'violation') {
        const fault = prefixFault(operations, verdict.violation)
        if (fault !== null) t.fail(`seed ${seed}: ${fault}`)
      }
    }
    t.ok(counts.linearizable > 5000 && counts.violation > 5000, JSON.stringify(counts))
  })
})

/** The fault of the order in an explanation; null when it is valid. */
function prefixFault(
  operations: readonly RegisterOperation[],
  { prefix, culprit }: Violation<RegisterInput, RegisterOutput>,
): string | null {
  let state = registerModel.init
  for (const { input, answer } of prefix) {
    const step = registerModel.step(state, input, answer?.output)
    if (!step.ok) return `${registerModel.describe(input, answer?.output)} does not fit`
    state = step.state
  }
  const shown = new Set(prefix)
  const end = culprit.answer?.at ?? 0
  const missing = operations.some((one) => one.answer !== null && one.answer.at < end && !shown.has(one))
  return missing ? 'an earlier answer is left out' : null
}

t.test('small histories of a list', async (t) => {
  await t.test('get the verdict of trying every order', async (t) => {
    const counts = { linearizable: 0, violation: 0 }
    for (let seed = 1; seed <= 10_000; seed += 1) {
      const operations = randomLists(seeded(seed))
      const culprit = bruteCulprit(listModel, operations)
      const verdict = checkHistory(listModel, operations)
      const found = verdict.outcome === 'violation' ? verdict.violation.culprit : null
      if (verdict.outcome === 'unknown' || found !== culprit)
        t.fail(`seed ${seed}: ${explainVerdict(listModel, verdict)}`)
      else counts[verdict.outcome] += 1
    }
    t.ok(counts.linearizable > 1000 && counts.violation > 1000, JSON.stringify(counts))
  })
})

/** Some appends, half of them open, and reads that guess an order of the calls by then. */
function randomLists(random: Random): Operation<ListInput, ListOutput>[] {
  const operations: Operation<ListInput, ListOutput>[] = []
  const called: string[] = []
  for (let call = 0; call < 40; call += 10) {
    const client = `c${call}`
    const item = `i${call}`
    const at = call + 1 + random(3) * 10 + operations.length / 10
    called.splice(random(called.length + 1), 0, item)
    const append = { type: 'append', key: KEY, item } as const
    operations.push({
      client,
      input: append,
      call,
      answer: random(2) === 0 ? null : { at, output: { type: 'done' } },
    })
    if (random(2) === 0) continue
    const items = called.filter(() => random(4) > 0)
    const read = { type: 'read', key: KEY } as const
    operations.push({
      client,
      input: read,
      call: call + 5,
      answer: { at: call + 6, output: { type: 'items', items } },
    })
  }
  return operations
}

t.test('a search with a limit', async (t) => {
  const hard = inventedHistory(seeded(3), {
    clients: 6,
    keys: 1,
    operations: 300,
    values: 5,
    lostPercent: 10,
  })
  await t.test('says unknown when it ends early, and which keys it has not settled', async (t) => {
    const verdict = checkHistory(registerModel, hard, { configurationsMax: 50 })
    t.match(verdict, { outcome: 'unknown', parts: ['k0'] })
    t.match(
      explainVerdict(registerModel, verdict),
      /^unknown: ended after \d+ configurations, not settled: k0$/,
    )
  })
  await t.test('says unknown when the caller ends it', async (t) => {
    const long = inventedHistory(seeded(3), {
      clients: 6,
      keys: 1,
      operations: 5000,
      values: 50,
      lostPercent: 0,
    })
    t.equal(checkHistory(registerModel, long, { isOver: () => true }).outcome, 'unknown')
  })
  await t.test('still says violation when it finds one under another key', async (t) => {
    const bad = history(VIOLATION['a stale read'] ?? [])
    t.equal(checkHistory(registerModel, [...hard, ...bad], { configurationsMax: 50 }).outcome, 'violation')
  })
})

t.test('explainVerdict', async (t) => {
  await t.test('names the key, the longest valid order and the answer that does not fit', async (t) => {
    const operations = history([
      [0, 1, put('1')],
      [2, 7, put('2')],
      [3, 4, get, saw('2')],
      [5, 6, get, saw('1')],
      [8, 9, put('3')],
    ])
    t.equal(
      explainVerdict(registerModel, checkHistory(registerModel, operations)),
      [
        'not linearizable: key k',
        'An order that explains all answers before the culprit:',
        '  [0, 1] c0: put 1 -> done',
        '  [2, open] c1: put 2 -> ?',
        '  [3, 4] c2: get -> 2',
        'State then: =2',
        'The culprit, an answer that no order explains:',
        '  [5, 6] c3: get -> 1',
      ].join('\n'),
    )
  })
})
