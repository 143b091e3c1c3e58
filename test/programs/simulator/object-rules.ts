/**
 * Buckets and objects: the commands, rows and codecs of the service itself, over the rows of a simulated disk.
 *
 * Owns: the id of a call, which stands before its command as the log carries it. Knows nothing of: the meaning of commands.
 * Rule: a batch is handled as on LevelDB: one view for the batch, rows sealed and opened one by one.
 */
import type { Row, View } from '../../../src/state-machine/base/view.ts'
import type { RowKey } from '../../../src/state-machine/base/row-key.ts'
import type { Command, Reply } from '../../../src/state-machine/commands.ts'
import { applyEntry } from '../../../src/store/apply/apply-entry.ts'
import { BatchView, type StoredRows } from '../../../src/store/apply/batch-view.ts'
import { decodeCommand, decodeReply, encodeCommand } from '../../../src/commands/command-codec.ts'
import { decodeRow, openRow } from '../../../src/store/rows/row-codec.ts'
import type { MachineRules } from './machine-rules.ts'
import { textOf } from './sim-commands.ts'
import type { SimRows } from './sim-rows.ts'

const SPACE = 0x20

export const OBJECT_RULES: MachineRules = {
  // A thousand rows of some hundred bytes each are a usual state.
  blockBytesMin: 4_096,
  idOf: (call) => textOf(call.subarray(0, call.indexOf(SPACE))),
  perform: (entries, rows) => {
    const view = new BatchView(storedIn(rows))
    const replies = entries.map((entry) =>
      [...applyEntry(view, { ...entry, commands: entry.commands.map(bodyOf) })].map(textOf),
    )
    const changes = new Map<string, string | null>()
    for (const { key, after } of view.changes())
      changes.set(key.toString('utf8'), after === null ? null : textOf(after))
    return { replies, changes }
  },
}

export function encodeCall(id: string, command: Command): Uint8Array {
  return Buffer.concat([Buffer.from(`${id} `, 'latin1'), encodeCommand(command)])
}

export function commandIn(call: Uint8Array): Command {
  return decodeCommand(bodyOf(call))
}

export function replyIn(text: string): Reply {
  return decodeReply(Buffer.from(text, 'latin1'))
}

/** Throws where the row is not what was written under this key. */
export function rowIn(key: string, value: string): Row {
  return decodeRow(key, Buffer.from(value, 'latin1'))
}

export function viewOf(rows: SimRows): View {
  return { get: (key) => storedIn(rows).readStored(key)?.row }
}

function bodyOf(call: Uint8Array): Uint8Array {
  return call.subarray(call.indexOf(SPACE) + 1)
}

function storedIn(rows: SimRows): StoredRows {
  const read = (key: string): Buffer | undefined => {
    const value = rows.get(key)
    return value === null ? undefined : Buffer.from(value, 'latin1')
  }
  return {
    readStored: <R extends object>(key: RowKey<R>) => {
      const value = read(key)
      return value === undefined ? undefined : { row: decodeRow(key, value), value }
    },
    readVerified: (key) => {
      const value = read(key.toString('utf8'))
      if (value !== undefined) openRow(key, value)
      return value
    },
  }
}
