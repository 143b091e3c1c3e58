/**
 * How the families of commands accept and refuse.
 *
 * Rule: a message is one sentence without full stop that names the action and quotes values; never a secret.
 */
import type { BlockerCode, Missing, RefusalCode } from './codes.ts'

export interface Accepted<V> {
  readonly ok: true
  readonly value: V
}

export interface Refused {
  readonly ok: false
  readonly code: RefusalCode
  readonly message: string
  /** Which safety check failed, for programs. */
  readonly blocker?: BlockerCode
  /** Of `not_found`, and of a condition on what is not there. */
  readonly missing?: Missing
}

export function accept<V>(value: V): Accepted<V> {
  return { ok: true, value }
}

export function refuse(code: RefusalCode, message: string): Refused {
  return { ok: false, code, message }
}

export function notFound(missing: Missing, message: string): Refused {
  return { ok: false, code: 'not_found', message, missing }
}

/** Refuses because a safety check failed. */
export function blocked(blocker: BlockerCode, message: string): Refused {
  return { ok: false, code: 'precondition_failed', message, blocker }
}
