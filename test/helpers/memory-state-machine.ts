/**
 * A state machine that lives in memory, for tests of the Raft machine: a list of texts and a few named values, kept on an
 * object that outlives the process as a disk does.
 *
 * Commands are UTF-8 text: `append TEXT` adds TEXT, `set NAME VALUE` and `remove NAME` change a value; all answer the
 * number of texts, and `get` answers it without a change. `poison` cannot be applied.
 * Rule: like the real one, rows, record and running checksum change together, and an install is visible only once it is complete.
 */
import assert from 'node:assert/strict'
import {
  type ApplyBatch,
  EntryFailedError,
  type OpenedState,
  StateDamagedError,
  type StateCut,
  type StateMachine,
  type StateSource,
} from '../../cluster/base/types.ts'
import { type MemoryBlocks, newBlocks, pullBlocks, readBlock } from './memory-state-blocks.ts'
import { type RowHash, rowHash, RowSum } from '../../src/store/rows/row-sum.ts'

interface State {
  readonly record: Uint8Array | null
  readonly texts: readonly string[]
  readonly values?: ReadonlyMap<string, string>
  readonly lastTime: number
}

const EMPTY: State = { record: null, texts: [], lastTime: 0 }

/** Rows as bytes, by key; in the order of their keys. */
export type Rows = ReadonlyMap<string, string>

/** Outlives every MemoryStateMachine over it. A test may change any of it between two processes, and `fault` at any time. */
export class MemoryState {
  current: State = EMPTY
  /** The running checksum, as it was stored with the record. */
  sum: Uint8Array = new RowSum().bytes()
  /** When set, the next apply fails with it. */
  fault: Error | null = null
  /** Why `open` reports a fault. */
  quarantined: string | null = null
  /** A row that differs from what was written: every reader of the rows finds it. */
  damage: string | null = null
  /** No batch was applied since an install. */
  isInstalled = false
  /** The last stop was a clean one. */
  isClosed = false
  /** What is durable: the rest is lost with the power. */
  #flushed: Pick<MemoryState, 'current' | 'sum' | 'isInstalled'> = {
    current: EMPTY,
    sum: new RowSum().bytes(),
    isInstalled: false,
  }
  /** The blocks that an unfinished install has pulled. */
  incoming: MemoryBlocks = newBlocks()

  /** What is there now is durable. */
  flush(): void {
    const { current, sum, isInstalled } = this
    this.#flushed = { current, sum, isInstalled }
  }

  /** The host lost power: batches since the last flush are gone. */
  loseUnflushed(): void {
    Object.assign(this, this.#flushed)
  }

  /** The state that a process that ends now would leave. */
  copy(): MemoryState {
    const copy = Object.assign(new MemoryState(), this)
    copy.incoming = structuredClone(this.incoming)
    return copy
  }

  /** A wrong apply: the rows differ from those of the other nodes, and everything here agrees with them. */
  diverge(): void {
    this.current = { ...this.current, texts: [...this.current.texts, 'no client sent this'] }
    this.sum = sumOf(rowsOf(this.current))
  }
}

export interface MemoryStateMachineOptions {
  /** Resolves when a write is durable; at once by default. */
  readonly flush?: () => Promise<void>
  /** Low, so that small states take several blocks. */
  readonly blockBytesMax?: number
  /** Called after each durable step of an install, with its name. */
  readonly onInstallStep?: (step: string) => void
}

const BLOCK_BYTES_MAX = 1024
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function command(text: string): Uint8Array {
  return encoder.encode(text)
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

export class MemoryStateMachine implements StateMachine {
  readonly #state: MemoryState
  readonly #flush: () => Promise<void>
  readonly #blockBytesMax: number
  readonly #onInstallStep: (step: string) => void
  #isBusy = false
  #isDead = false
  /** Why the state is quarantined, whether that mark is durable yet or not. */
  #withdrawn: string | null = null
  /** Damage of this state was reported already. */
  #isReported = false
  #onDamaged: (error: StateDamagedError) => void = () => {}
  readonly batches: ApplyBatch[] = []

  constructor(state: MemoryState, options: MemoryStateMachineOptions = {}) {
    this.#state = state
    this.#flush = options.flush ?? (() => Promise.resolve())
    this.#blockBytesMax = options.blockBytesMax ?? BLOCK_BYTES_MAX
    this.#onInstallStep = options.onInstallStep ?? (() => {})
  }

  get texts(): readonly string[] {
    return this.#state.current.texts
  }

  /** Reads as the service does, without the machine. Throws StateDamagedError. */
  read(): readonly string[] {
    this.#assertTrusted()
    return this.texts
  }

  /** The process is gone: unflushed writes never happen. */
  crash(): void {
    this.#isDead = true
  }

  async open(onDamaged: (error: StateDamagedError) => void = () => {}): Promise<OpenedState> {
    this.#onDamaged = onDamaged
    const state = this.#state
    state.quarantined ??= this.#faultAtStart()
    state.isClosed = false
    if (state.quarantined !== null) return { record: null, fault: state.quarantined }
    // A test that empties the state makes a new one.
    if (state.current.record === null) state.sum = sumOf(rowsOf(state.current))
    state.flush()
    return { record: state.current.record, fault: null, isInstalled: state.isInstalled }
  }

  async apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    return await this.#exclusively(async () => {
      this.#assertTrusted()
      if (this.#state.fault) throw this.#state.fault
      const draft = new Draft(this.#state.current)
      const replies = batch.entries.map((entry) => draft.doAll(entry))
      const sum = draft.sum(this.#state.sum)
      await this.#durable(() => {
        this.#state.current = draft.state(batch.record)
        this.#state.isInstalled = false
        this.#state.sum = sum
      })
      this.batches.push(batch)
      return replies
    })
  }

  async checkpoint(): Promise<void> {
    this.#assertTrusted(false)
    await this.#durable(() => this.#state.flush())
  }

  checksum(): Uint8Array {
    this.#assertTrusted()
    return this.#state.sum
  }

  async verify(): Promise<string | null> {
    this.#assertTrusted(false)
    const { current, sum, damage } = this.#state
    await this.#flush()
    const fault = damage ?? faultIn(current, sum)
    if (fault === null || this.#state.current !== current) return null
    this.#tell(new StateDamagedError(fault))
    return fault
  }

  async quarantine(why: string): Promise<void> {
    this.#isReported = true
    this.#withdrawn ??= why
    await this.#durable(() => (this.#state.quarantined = why))
  }

  async snapshot(): Promise<StateCut> {
    this.#assertTrusted(false)
    const { current, sum: checksum } = this.#state
    const { record } = current
    assert(record !== null, 'there is a state to take a snapshot of')
    const rows = rowsOf(current)
    let isReleased = false
    return {
      record,
      checksum,
      block: async (request) => {
        assert(!isReleased, 'a cut is read before it is released')
        this.#assertTrusted()
        return readBlock(rows, request, this.#blockBytesMax)
      },
      release: async () => void (isReleased = true),
    }
  }

  async install(source: StateSource): Promise<Uint8Array> {
    return await this.#exclusively(async () => {
      const state = this.#state
      await pullBlocks(state.incoming, source, (change) => this.#durable(change, 'block written'))
      const { rows } = state.incoming
      const sum = sumOf(rows)
      if (!Buffer.from(sum).equals(source.checksum)) throw new Error('the rows do not add up to the checksum')
      await this.#durable(() => {
        state.current = stateOf(rows, source.record)
        state.isInstalled = true
        state.sum = sum
        state.quarantined = null
        state.damage = null
        state.flush()
        this.#withdrawn = null
        this.#isReported = false
      }, 'switched')
      await this.#durable(() => (state.incoming = newBlocks()), 'incoming removed')
      return source.record
    })
  }

  async close(): Promise<void> {
    if (this.#isDead) return
    this.#isDead = true
    this.#state.isClosed = true
  }

  #faultAtStart(): string | null {
    const { current, sum, damage, isClosed } = this.#state
    if (isClosed || current.record === null) return null
    return damage ?? faultIn(current, sum)
  }

  #assertTrusted(isReading = true): void {
    const why = this.#withdrawn ?? this.#state.quarantined ?? (isReading ? this.#state.damage : null)
    if (why === null) return
    const error = new StateDamagedError(`Cannot use the state: ${why}`)
    this.#tell(error)
    throw error
  }

  #tell(error: StateDamagedError): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#withdrawn ??= error.message
    this.#onDamaged(error)
  }

  /** Waits until a write is durable, and lets it happen unless the power failed meanwhile. */
  async #durable(change: () => void, step?: string): Promise<void> {
    await this.#flush()
    if (this.#isDead) return await new Promise(() => undefined)
    change()
    if (step !== undefined) this.#onInstallStep(step)
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    assert(!this.#isBusy, 'apply and install are called one at a time')
    this.#isBusy = true
    try {
      return await work()
    } finally {
      this.#isBusy = false
    }
  }
}

/** A batch in progress: the next state, and the rows of the previous state that it replaces. */
class Draft {
  readonly #before: State
  readonly #texts: string[]
  readonly #values: Map<string, string>
  readonly #touched = new Set<string>()
  #lastTime: number

  constructor(before: State) {
    this.#before = before
    this.#texts = [...before.texts]
    this.#values = new Map(before.values)
    this.#lastTime = before.lastTime
  }

  /** `before`: the time that this entry corrects. */
  begin(time: number, before?: number): void {
    assert(time >= this.#lastTime || before !== undefined, 'time falls only where it is set back')
    this.#lastTime = time
  }

  doAll({ index, time, before, commands }: ApplyBatch['entries'][number]): readonly Uint8Array[] {
    this.begin(time, before?.time)
    try {
      return commands.map((bytes) => this.do(textOf(bytes)))
    } catch (error) {
      throw new EntryFailedError(index, error)
    }
  }

  do(text: string): Uint8Array {
    const [verb, name = ''] = text.split(' ', 2)
    if (verb === 'poison') throw new Error('no node survives poison')
    const rest = text.slice(`${verb} `.length)
    if (verb === 'append') this.#texts.push(rest)
    if (verb === 'set') this.#values.set(name, rest.slice(`${name} `.length))
    if (verb === 'remove') this.#values.delete(name)
    if (verb === 'set' || verb === 'remove') this.#touched.add(name)
    return encoder.encode(String(this.#texts.length))
  }

  state(record: Uint8Array): State {
    return { record, texts: this.#texts, values: this.#values, lastTime: this.#lastTime }
  }

  /** Computed from the previous sum and the changed rows, never from all rows. */
  sum(before: Uint8Array): Uint8Array {
    const sum = RowSum.of(before)
    for (let i = this.#before.texts.length; i < this.#texts.length; i++) {
      sum.add(hashOf(...textRow(i, this.#texts[i] ?? '')))
    }
    for (const name of this.#touched) {
      const [old, now] = [this.#before.values?.get(name), this.#values.get(name)]
      if (old !== undefined) sum.subtract(hashOf(...valueRow(name, old)))
      if (now !== undefined) sum.add(hashOf(...valueRow(name, now)))
    }
    if (this.#before.lastTime > 0) sum.subtract(hashOf(...timeRow(this.#before.lastTime)))
    if (this.#lastTime > 0) sum.add(hashOf(...timeRow(this.#lastTime)))
    return sum.bytes()
  }
}

type Row = readonly [key: string, value: string]

const textRow = (i: number, text: string): Row => [`text ${String(i).padStart(9, '0')}`, text]
const timeRow = (time: number): Row => ['time', String(time)]
const valueRow = (name: string, value: string): Row => [`value ${name}`, value]

function rowsOf({ texts, values, lastTime }: State): Rows {
  const rows = texts.map((text, i) => textRow(i, text))
  if (lastTime > 0) rows.push(timeRow(lastTime))
  for (const [name, value] of values ?? []) rows.push(valueRow(name, value))
  return new Map(rows.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
}

function stateOf(rows: Rows, record: Uint8Array): State {
  const under = (kind: string): Row[] =>
    [...rows]
      .filter(([key]) => key.startsWith(`${kind} `))
      .map(([key, value]) => [key.slice(kind.length + 1), value])
  const texts = under('text')
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, text]) => text)
  return { record, texts, values: new Map(under('value')), lastTime: Number(rows.get('time') ?? 0) }
}

function sumOf(rows: Rows): Uint8Array {
  const sum = new RowSum()
  for (const [key, value] of rows) sum.add(hashOf(key, value))
  return sum.bytes()
}

function hashOf(key: string, value: string): RowHash {
  return rowHash(encoder.encode(key), encoder.encode(value))
}

function faultIn(state: State, sum: Uint8Array): string | null {
  return Buffer.from(sumOf(rowsOf(state))).equals(sum) ? null : 'the rows are not those of the checksum'
}
