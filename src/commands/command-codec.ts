/**
 * Commands and replies as bytes: plain MessagePack, self-describing.
 *
 * Owns: both directions. Knows nothing of: the log that carries them.
 * Rule: a command that this build does not know is never guessed: decoding throws and the node stops, because other
 * nodes may know it and this node would diverge.
 */
import { Packr } from 'msgpackr'
import type { Proposal, Reply } from '../state-machine/commands.ts'
import type { Origin } from '../state-machine/base/origin.ts'
import { isCommandType } from '../state-machine/state-machine.ts'

const packr = new Packr({ useRecords: false, variableMapSize: true })

export function encodeCommand(command: Proposal): Uint8Array {
  return packr.pack(command)
}

export function decodeCommand(bytes: Uint8Array): Proposal {
  const value: unknown = packr.unpack(bytes)
  if (!isPlainObject(value) || !('type' in value)) {
    throw new Error('Cannot decode command: it is not an object with a type')
  }
  const { type } = value
  if (!isCommandType(type)) {
    throw new Error(
      `Cannot decode command: type "${String(type)}" is unknown to this build; upgrade this node`,
    )
  }
  return value as Proposal
}

/** Type and origin of a command, also of one that this build does not know; null: unreadable. Never used to apply it. */
export function peekCommand(
  bytes: Uint8Array,
): { readonly type: string; readonly origin: Partial<Origin> } | null {
  try {
    const value: unknown = packr.unpack(bytes)
    if (!isPlainObject(value) || !('type' in value) || typeof value.type !== 'string') return null
    const origin = 'origin' in value && typeof value.origin === 'object' ? value.origin : null
    return { type: value.type, origin: origin ?? {} }
  } catch {
    return null
  }
}

export function encodeReply(reply: Reply): Uint8Array {
  return packr.pack(reply)
}

export function decodeReply(bytes: Uint8Array): Reply {
  const value: unknown = packr.unpack(bytes)
  if (!isPlainObject(value) || !('ok' in value) || typeof value.ok !== 'boolean') {
    throw new Error('Cannot decode reply: it has no boolean member "ok"')
  }
  return value as Reply
}

function isPlainObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  )
}
