/**
 * A state machine that lives in memory, for tests of the machine: a list of texts and a few counters, kept on an object
 * that outlives the process as a disk does.
 *
 * Commands are UTF-8 text: `append TEXT` adds TEXT and answers the number of texts; `get` answers the number without a change.
 * Rule: like the real one, rows and record change together, and a snapshot is checked before it replaces anything.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  type ApplyBatch,
  type OpenedState,
  type StateBlock,
  type StateBlockRequest,
  type StateCut,
  StateDamagedError,
  type StateMachine,
  type StateSource,
} from '../../cluster/types.ts'

interface State {
  readonly record: Uint8Array | null
  readonly texts: readonly string[]
  readonly lastTime: number
  /** As kept up to date by apply: what the rows should sum up to. Absent: as of the texts. */
  readonly checksum?: string
}

const EMPTY: State = { record: null, texts: [], lastTime: 0 }
const ROWS_PER_BLOCK = 16

/** Survives every MemoryStateMachine over it. */
export class MemoryState {
  current: State = EMPTY
  /** When set, the next apply fails with it. */
  fault: Error | null = null
  distrusted: string | null = null
  pulled: readonly string[] = []
}

export interface MemoryStateMachineOptions {
  /** Resolves when a write is durable; at once unless said otherwise. */
  readonly flush?: () => Promise<void>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function command(text: string): Uint8Array {
  return encoder.encode(text)
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

function sumOf(rows: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
}

function rowsOf({ texts, lastTime }: State): readonly string[] {
  return [...texts, String(lastTime)]
}

function checksumOf(state: State): string {
  return state.checksum ?? sumOf(rowsOf(state))
}

export class MemoryStateMachine implements StateMachine {
  readonly #state: MemoryState
  readonly #flush: () => Promise<void>
  #isApplying = false
  #isDead = false
  readonly batches: ApplyBatch[] = []

  constructor(state: MemoryState, options: MemoryStateMachineOptions = {}) {
    this.#state = state
    this.#flush = options.flush ?? (() => Promise.resolve())
  }

  get texts(): readonly string[] {
    return this.#state.current.texts
  }

  /** The process is gone: what was not flushed never happens. */
  crash(): void {
    this.#isDead = true
  }

  async open(): Promise<OpenedState> {
    const fault = this.#state.distrusted ?? (await this.verify())
    return { record: fault === null ? this.#state.current.record : null, fault }
  }

  async apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    assert(!this.#isApplying, 'one batch at a time')
    this.#isApplying = true
    try {
      if (this.#state.fault) throw this.#state.fault
      const before = this.#state.current
      let { texts, lastTime } = before
      const replies = batch.entries.map(({ time, commands }) => {
        assert(time > lastTime, 'time is strictly monotonic')
        lastTime = time
        return commands.map((bytes) => {
          const text = textOf(bytes)
          if (text.startsWith('append ')) texts = [...texts, text.slice('append '.length)]
          return encoder.encode(String(texts.length))
        })
      })
      await this.#flush()
      if (this.#isDead) return new Promise(() => undefined)
      const rows = { record: batch.record, texts, lastTime }
      const isWrong = checksumOf(before) !== sumOf(rowsOf(before))
      this.#state.current = isWrong ? { ...rows, checksum: 'wrong' } : rows
      this.batches.push(batch)
      return replies
    } finally {
      this.#isApplying = false
    }
  }

  checksum(): Uint8Array {
    return Buffer.from(checksumOf(this.#state.current), 'hex')
  }

  async verify(): Promise<string | null> {
    const state = this.#state.current
    return checksumOf(state) === sumOf(rowsOf(state)) ? null : 'the rows are not what was written'
  }

  async distrust(why: string): Promise<void> {
    this.#state.distrusted = why
  }

  async snapshot(): Promise<StateCut> {
    const state = this.#state.current
    const { record } = state
    if (record === null) throw new Error('Nothing was ever applied')
    const rows = rowsOf(state)
    if (checksumOf(state) !== sumOf(rows)) throw new StateDamagedError('A row is not what was written')
    return {
      record,
      checksum: this.checksum(),
      block: async (request) => blockOf(rows, request),
      release: async () => undefined,
    }
  }

  async install(source: StateSource): Promise<Uint8Array> {
    assert(!this.#isApplying, 'no install while a batch is applied')
    const old = this.#state.pulled
    let rows: string[] = []
    let isEnd = false
    while (!isEnd) {
      const held = old.slice(rows.length, rows.length + ROWS_PER_BLOCK)
      const block = await source.block({
        after: keyOf(rows.length),
        held:
          held.length === 0 ? null : { through: keyOf(rows.length + held.length), digest: digestOf(held) },
      })
      rows = [...rows, ...(block.rows === null ? held : (JSON.parse(textOf(block.rows)) as string[]))]
      isEnd = block.isEnd
      if (rows.length > this.#state.pulled.length) this.#state.pulled = rows
    }
    assert.equal(sumOf(rows), Buffer.from(source.checksum).toString('hex'), 'the snapshot is whole')
    await this.#flush()
    if (this.#isDead) return new Promise(() => undefined)
    this.#state.current = { record: source.record, texts: rows.slice(0, -1), lastTime: Number(rows.at(-1)) }
    this.#state.distrusted = null
    this.#state.pulled = []
    return source.record
  }

  async close(): Promise<void> {
    this.#isDead = true
  }
}

function keyOf(position: number): Uint8Array {
  return position === 0 ? new Uint8Array(0) : encoder.encode(String(position))
}

function digestOf(rows: readonly string[]): Uint8Array {
  return createHash('sha256').update(JSON.stringify(rows)).digest()
}

function blockOf(all: readonly string[], { after, held }: StateBlockRequest): StateBlock {
  const start = Number(textOf(after))
  const end = held === null ? start + ROWS_PER_BLOCK : Number(textOf(held.through))
  const rows = all.slice(start, end)
  const digest = digestOf(rows)
  const isSame = held !== null && Buffer.from(digest).equals(held.digest)
  return {
    rows: isSame ? null : encoder.encode(JSON.stringify(rows)),
    digest,
    through: keyOf(start + rows.length),
    isEnd: start + rows.length >= all.length,
  }
}
