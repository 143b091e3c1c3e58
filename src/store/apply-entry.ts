/**
 * One committed entry over what its batch sees: command after command, each seeing those before it.
 *
 * Owns: the context of a command, both codecs. Knows nothing of: where rows lie, when they are durable.
 */
import { hash } from 'node:crypto'
import type { ApplyBatch } from '../../cluster/index.ts'
import type { TextDigest } from '../state-machine/audit-records.ts'
import { apply } from '../state-machine/state-machine.ts'
import type { BatchView } from './batch-view.ts'
import { decodeCommand, encodeReply } from './command-codec.ts'

const digest: TextDigest = (text) => hash('sha256', text)

/** The replies, in the order of the commands. What they change is in `view`. */
export function applyEntry(view: BatchView, entry: ApplyBatch['entries'][number]): readonly Uint8Array[] {
  const { index, time, commands } = entry
  return commands.map((bytes, ordinal) => {
    const { writes, reply } = apply(view, decodeCommand(bytes), { index, time, ordinal, digest })
    view.write(writes)
    return encodeReply(reply)
  })
}
