/**
 * The smallest state machine for a log: each command stores a value under its key in LevelDB.
 *
 * Owns: the layout of such a command (`[length of the key, 1 byte][key][value]`).
 * Rule: rows and record go into one synced write, as in the real state machine; otherwise the figure would be for another guarantee.
 */
import { Level } from 'level'
import type { ApplyBatch, OpenedState, StateMachine } from '../../cluster/index.ts'

/** No key begins with it: keys of the benchmark are text. */
const RECORD_KEY = Buffer.from([0])
const DONE = new Uint8Array([1])

export function encodePut(key: Buffer, value: Buffer): Uint8Array {
  return Buffer.concat([Buffer.from([key.length]), key, value])
}

export class BenchMachine implements StateMachine {
  readonly #db: Level<Uint8Array, Uint8Array>

  constructor(location: string) {
    this.#db = new Level(location, { keyEncoding: 'view', valueEncoding: 'view' })
  }

  async open(): Promise<OpenedState> {
    await this.#db.open()
    return { record: (await this.#db.get(RECORD_KEY)) ?? null, fault: null }
  }

  async apply({ entries, record }: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    const puts = entries.flatMap(({ commands }) => commands.map(decodePut))
    await this.#db.batch([...puts, { type: 'put', key: RECORD_KEY, value: record }], { sync: true })
    return entries.map(({ commands }) => commands.map(() => DONE))
  }

  /** Every batch is flushed. */
  checkpoint(): Promise<void> {
    return Promise.resolve()
  }

  /** The same on every node, so that no difference is found: rows of the benchmark have no checksums. */
  checksum(): Uint8Array {
    return new Uint8Array(32)
  }

  verify(): Promise<string | null> {
    return Promise.resolve(null)
  }

  quarantine(why: string): Promise<never> {
    return Promise.reject(new Error(`A node of the benchmark is not repaired: ${why}`))
  }

  snapshot(): Promise<never> {
    return Promise.reject(new Error('A node of the benchmark keeps its whole log and sends no snapshot'))
  }

  install(): Promise<never> {
    return Promise.reject(new Error('A node of the benchmark starts empty and takes no snapshot'))
  }

  close(): Promise<void> {
    return this.#db.close()
  }
}

function decodePut(command: Uint8Array): { type: 'put'; key: Uint8Array; value: Uint8Array } {
  const [keyBytes = 0] = command
  return { type: 'put', key: command.subarray(1, 1 + keyBytes), value: command.subarray(1 + keyBytes) }
}
