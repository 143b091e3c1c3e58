/**
 * The log as the thread of Raft sees it: lines cross to the thread that writes them.
 *
 * Owns: the bound of lines under way. Knows nothing of: levels that are written. Rule: a log that is not written never holds Raft up:
 * more lines than the bound are left out, and the next one that crosses says how many.
 */
import type { Logger } from '../base/types.ts'
import type { Link } from './link.ts'
import { type SerializedError, serializeError } from './link-errors.ts'
import type { LogCall, StateCalls } from './raft-calls.ts'

/** Lines that the other thread has not taken. Count */
const LINES_MAX = 1_000
/** Of objects in fields; deeper ones are left out. Count */
const DEPTH_MAX = 4
const LEFT_OUT = '...'

interface Lines {
  underWay: number
  leftOut: number
}

export class LinkedLogger implements Logger {
  readonly #link: Link<StateCalls>
  readonly #bindings: LogCall['bindings']
  readonly #lines: Lines

  constructor(link: Link<StateCalls>, bindings: LogCall['bindings'] = {}, lines?: Lines) {
    this.#link = link
    this.#bindings = bindings
    this.#lines = lines ?? { underWay: 0, leftOut: 0 }
  }

  fatal(fields: object, message: string): void {
    this.#send('fatal', fields, message)
  }

  error(fields: object, message: string): void {
    this.#send('error', fields, message)
  }

  warn(fields: object, message: string): void {
    this.#send('warn', fields, message)
  }

  info(fields: object, message: string): void {
    this.#send('info', fields, message)
  }

  debug(fields: object, message: string): void {
    this.#send('debug', fields, message)
  }

  child(fields: object): LinkedLogger {
    return new LinkedLogger(this.#link, { ...this.#bindings, ...plainFields(fields) }, this.#lines)
  }

  #send(level: LogCall['level'], fields: object, message: string): void {
    const lines = this.#lines
    if (lines.underWay >= LINES_MAX) {
      lines.leftOut += 1
      return
    }
    lines.underWay += 1
    const { leftOut } = lines
    lines.leftOut = 0
    const call: LogCall = {
      level,
      bindings: this.#bindings,
      fields: { ...plainFields(fields), ...(leftOut === 0 ? {} : { linesLeftOut: leftOut }) },
      errors: errorsIn(fields),
      message,
    }
    this.#link
      .call('log', call)
      .catch(() => null)
      .finally(() => (lines.underWay -= 1))
  }
}

function errorsIn(fields: object): Readonly<Record<string, SerializedError>> {
  const errors = Object.entries(fields).filter(([, value]) => value instanceof Error)
  return Object.fromEntries(errors.map(([name, error]) => [name, serializeError(error)]))
}

function plainFields(fields: object): Readonly<Record<string, unknown>> {
  const plain = Object.entries(fields).filter(([, value]) => !(value instanceof Error))
  return Object.fromEntries(plain.map(([name, value]) => [name, plainOf(value, 0)]))
}

/** What a message between threads can carry. */
function plainOf(value: unknown, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return LEFT_OUT
  if (Array.isArray(value)) return value.map((item) => plainOf(item, depth + 1))
  if (value instanceof Error) return value.message
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainOf(item, depth + 1)]))
}
