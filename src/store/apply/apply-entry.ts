/**
 * Applies one committed entry to the view of its batch, command by command; each command sees the effects of those before it.
 *
 * Owns: the context of a command, both codecs. Knows nothing of: where rows lie, when they are durable.
 */
import { hash } from 'node:crypto'
import type { TextDigest } from '../../state-machine/base/view.ts'
import { type ApplyBatch, EntryFailedError } from '../../../cluster/index.ts'
import type { Proposal } from '../../state-machine/commands.ts'
import { apply } from '../../state-machine/state-machine.ts'
import type { BatchView } from './batch-view.ts'
import { decodeCommand, encodeReply } from '../../commands/command-codec.ts'
import { isOfStore } from '../rows/state-errors.ts'

const digest: TextDigest = (text) => hash('sha256', text)

/**
 * Yields the replies in the order of the commands, one for each step; their changes are in `view`. Throws EntryFailedError when a
 * command cannot be decided, and the error of the store when the store cannot be read.
 */
export function* applyEntry(
  view: BatchView,
  entry: ApplyBatch['entries'][number],
  decode: (command: Uint8Array) => Proposal = decodeCommand,
): Generator<Uint8Array, void> {
  const { commands, ...where } = entry
  for (const [ordinal, bytes] of commands.entries()) {
    yield decided(where.index, () => {
      const { writes, reply } = apply(view, decode(bytes), { ...where, ordinal, digest })
      view.write(writes)
      return encodeReply(reply)
    })
  }
}

function decided(index: number, decide: () => Uint8Array): Uint8Array {
  try {
    return decide()
  } catch (error) {
    throw isOfStore(error) ? error : new EntryFailedError(index, error)
  }
}
