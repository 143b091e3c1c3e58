/**
 * Turns the reply of a command into its value, or into the error that the caller receives.
 *
 * Owns: the mapping reply -> value | Refusal | Condition. Every mutating operation ends with it.
 */
import { Condition } from '../../cluster/index.ts'
import { Refusal } from '../base/refusal.ts'
import type { CommandType, Reply, ReplyValues } from '../state-machine/commands.ts'

export function settle<T extends CommandType>(reply: Reply<T>): ReplyValues[T] {
  if (reply.ok) return reply.value
  if (reply.code === 'chunks_gone' || reply.code === 'session_ended') {
    // A chunk that the upload relied on was lost before the commit, or its session was closed. The bytes were streamed and are gone, so only the caller can send them again.
    throw new Condition('slow_down', `${reply.message}; send the request again`, { retryAfterMs: 1000 })
  }
  // The edge serves such a request again, behind a read barrier.
  if (reply.code === 'basis_gone')
    throw new Condition('slow_down', `${reply.message}; send the request again`)
  if ('blocker' in reply && reply.blocker !== undefined) {
    const blockers = [{ code: reply.blocker, message: reply.message }]
    throw new Refusal(reply.code, reply.message, { blockers })
  }
  if ('missing' in reply && reply.missing !== undefined)
    throw new Refusal(reply.code, reply.message, { missing: reply.missing })
  throw new Refusal(reply.code, reply.message)
}
