/**
 * Histories that are linearizable because they were made in an order, and small changes that may break them.
 *
 * Owns: a run of clients against one map: call, effect and answer are three moments, chosen at random.
 * Rule: the same seed gives the same history; every moment has a time of its own.
 */
import type { RegisterInput, RegisterOutput } from './history-models.ts'
import type { Operation } from './linearizability.ts'

/** A whole number from 0 up to, not including, `below`. */
export type Random = (below: number) => number

export interface HistoryShape {
  readonly clients: number
  readonly keys: number
  readonly operations: number
  /** How many different values there are: few make the writer of a value ambiguous. */
  readonly values: number
  /** How many of 100 operations get no answer; half of them take effect, maybe much later. */
  readonly lostPercent: number
}

type RegisterOperation = Operation<RegisterInput, RegisterOutput>

interface Running {
  readonly input: RegisterInput
  readonly call: number
  readonly isLost: boolean
  output: RegisterOutput | null
}

/** mulberry32: small, and good enough to choose what to test. */
export function seeded(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

export function inventedHistory(random: Random, shape: HistoryShape): RegisterOperation[] {
  const data = new Map<string, string>()
  const running = new Map<number, Running>()
  const adrift: RegisterInput[] = []
  const history: RegisterOperation[] = []
  for (let now = 0; history.length < shape.operations; now += 1) {
    const client = random(shape.clients)
    const own = running.get(client)
    const late = random(20) === 0 ? adrift.pop() : undefined
    if (late !== undefined) perform(data, late)
    else if (own === undefined) running.set(client, started(random, shape, now))
    else if (own.isLost) {
      if (random(2) === 0) adrift.push(own.input)
      history.push({ client: `c${client}`, input: own.input, call: own.call, answer: null })
      running.delete(client)
    } else if (own.output === null) own.output = perform(data, own.input)
    else {
      const answer = { at: now, output: own.output }
      history.push({ client: `c${client}`, input: own.input, call: own.call, answer })
      running.delete(client)
    }
  }
  // A running operation may have taken effect for some readers already: it is open, not absent.
  for (const [client, { input, call }] of running)
    history.push({ client: `c${client}`, input, call, answer: null })
  return history
}

/** Some answers replaced by ones that may be wrong. */
export function mutated(
  random: Random,
  history: readonly RegisterOperation[],
  changes: number,
): RegisterOperation[] {
  const copy = [...history]
  for (let change = 0; change < changes; change += 1) {
    const at = random(copy.length)
    const operation = copy[at]
    if (operation === undefined || operation.answer === null) continue
    const output = anotherOutput(random, operation.input)
    copy[at] = { ...operation, answer: { at: operation.answer.at, output } }
  }
  return copy
}

function started(random: Random, shape: HistoryShape, call: number): Running {
  return { input: randomInput(random, shape), call, isLost: random(100) < shape.lostPercent, output: null }
}

function randomInput(random: Random, { keys, values }: HistoryShape): RegisterInput {
  const key = `k${random(keys)}`
  const kind = random(10)
  if (kind < 4) return { type: 'get', key }
  if (kind < 7) return { type: 'put', key, value: `${random(values)}` }
  if (kind < 8) return { type: 'delete', key }
  return { type: 'cas', key, from: random(5) === 0 ? null : `${random(values)}`, to: `${random(values)}` }
}

function perform(data: Map<string, string>, input: RegisterInput): RegisterOutput {
  const present = data.get(input.key) ?? null
  switch (input.type) {
    case 'get':
      return { type: 'value', value: present }
    case 'put':
      data.set(input.key, input.value)
      return { type: 'done' }
    case 'delete':
      data.delete(input.key)
      return { type: 'done' }
    case 'cas':
      if (present !== input.from) return { type: 'mismatch' }
      if (input.to === null) data.delete(input.key)
      else data.set(input.key, input.to)
      return { type: 'done' }
  }
}

function anotherOutput(random: Random, { type }: RegisterInput): RegisterOutput {
  if (type === 'get') return { type: 'value', value: random(4) === 0 ? null : `${random(3)}` }
  if (type === 'cas') return { type: random(2) === 0 ? 'done' : 'mismatch' }
  return { type: 'done' }
}
