/**
 * Reads a positional array from outside, one checked value after the other.
 *
 * Owns: types, ranges and bounds of single values. Knows nothing of: messages.
 * Rule: every returned value has the type that the method names; any other value throws MalformedFrameError.
 */
import type { NodeId } from '../raft/types.ts'
import { MalformedFrameError } from './msgpack-guard.ts'

export const NODE_ID_LENGTH_MAX = 64
/** The most members of one half of a configuration. */
const NODE_IDS_MAX = 64

export class TupleReader {
  readonly #values: readonly unknown[]
  readonly #what: string
  #at = 0

  constructor(value: unknown, what: string) {
    this.#values = asArray(value, what)
    this.#what = what
  }

  integer(field: string): number {
    const value = this.#next()
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw this.#bad(field, 'is not an integer from 0 to 2^53 - 1')
  }

  integerOrNull(field: string): number | null {
    if (this.#values[this.#at] !== null) return this.integer(field)
    this.#at++
    return null
  }

  boolean(field: string): boolean {
    const value = this.#next()
    if (typeof value === 'boolean') return value
    throw this.#bad(field, 'is not a boolean')
  }

  bytes(field: string): Uint8Array {
    const value = this.#next()
    if (value instanceof Uint8Array) return value
    throw this.#bad(field, 'is not bytes')
  }

  nodeIds(field: string): NodeId[] {
    const ids = this.array(field, NODE_IDS_MAX)
    return ids.map((id) => {
      if (typeof id === 'string' && id.length > 0 && id.length <= NODE_ID_LENGTH_MAX) return id
      throw this.#bad(field, `contains values other than names of 1 to ${NODE_ID_LENGTH_MAX} characters`)
    })
  }

  array(field: string, countMax: number): readonly unknown[] {
    const value = asArray(this.#next(), `${this.#what}.${field}`)
    if (value.length <= countMax) return value
    throw this.#bad(field, `has ${value.length} elements, ${countMax} are allowed`)
  }

  /** Whether a field follows that not every sender writes. */
  get hasMore(): boolean {
    return this.#at < this.#values.length
  }

  end(): void {
    if (this.#at === this.#values.length) return
    throw new MalformedFrameError(`${this.#what} has ${this.#values.length} fields, ${this.#at} are expected`)
  }

  #next(): unknown {
    return this.#values[this.#at++]
  }

  #bad(field: string, fault: string): MalformedFrameError {
    return new MalformedFrameError(`${this.#what}.${field} ${fault}`)
  }
}

function asArray(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new MalformedFrameError(`${what} is not an array`)
}
