/**
 * The log as an edge thread sees it: its lines cross to the thread that writes them.
 *
 * Rule: only for what the listener reports now and then; it bounds by itself how often.
 */
import type { Logger } from '../../../cluster/index.ts'
import type { Outbox } from './outbox.ts'
import type { ToState } from './thread-messages.ts'

export class LineLogger implements Logger {
  readonly #outbox: Outbox<ToState>

  constructor(outbox: Outbox<ToState>) {
    this.#outbox = outbox
  }

  fatal(fields: object, message: string): void {
    this.warn(fields, message)
  }

  error(fields: object, message: string): void {
    this.warn(fields, message)
  }

  warn(fields: object, message: string): void {
    this.#outbox.send({ kind: 'log', fields, message })
  }

  info(fields: object, message: string): void {
    this.warn(fields, message)
  }

  debug(): void {}

  child(): Logger {
    return this
  }
}
