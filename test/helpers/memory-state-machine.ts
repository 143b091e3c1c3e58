/**
 * A state machine that lives in memory, for tests of the machine: a list of texts and a few counters, kept on an object
 * that outlives the process as a disk does.
 *
 * Commands are UTF-8 text: `append TEXT` adds TEXT and answers the number of texts; `get` answers the number without a change.
 * Rule: like the real one, rows and record change together, and a snapshot is checked before it replaces anything.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ApplyBatch, StateMachine, StateSnapshot } from '../../cluster/types.ts'

interface State {
  readonly record: Uint8Array | null
  readonly texts: readonly string[]
  readonly lastTime: number
}

const EMPTY: State = { record: null, texts: [], lastTime: 0 }

/** Survives every MemoryStateMachine over it. */
export class MemoryState {
  current: State = EMPTY
  /** When set, the next apply fails with it. */
  fault: Error | null = null
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

  async open(): Promise<Uint8Array | null> {
    return this.#state.current.record
  }

  async apply(batch: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    assert(!this.#isApplying, 'one batch at a time')
    this.#isApplying = true
    try {
      if (this.#state.fault) throw this.#state.fault
      let { texts, lastTime } = this.#state.current
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
      this.#state.current = { record: batch.record, texts, lastTime }
      this.batches.push(batch)
      return replies
    } finally {
      this.#isApplying = false
    }
  }

  async snapshot(): Promise<StateSnapshot> {
    const { record, texts, lastTime } = this.#state.current
    assert(record !== null, 'a snapshot is taken of something')
    const body = JSON.stringify({ record: Buffer.from(record).toString('base64'), texts, lastTime })
    const sum = createHash('sha256').update(body).digest('hex')
    return { record, stream: pieces(encoder.encode(sum + body)), release: async () => undefined }
  }

  async install(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
    assert(!this.#isApplying, 'no install while a batch is applied')
    const parts: Uint8Array[] = []
    for await (const part of stream) parts.push(part)
    const text = decoder.decode(Buffer.concat(parts))
    const body = text.slice(64)
    assert(text.slice(0, 64) === createHash('sha256').update(body).digest('hex'), 'the snapshot is whole')
    const state = JSON.parse(body) as { record: string; texts: string[]; lastTime: number }
    const record = new Uint8Array(Buffer.from(state.record, 'base64'))
    await this.#flush()
    if (this.#isDead) return new Promise(() => undefined)
    this.#state.current = { record, texts: state.texts, lastTime: state.lastTime }
    return record
  }

  async close(): Promise<void> {
    this.#isDead = true
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 1024) yield bytes.subarray(start, start + 1024)
}
