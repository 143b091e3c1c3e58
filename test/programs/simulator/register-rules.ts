/** Registers and lists: each command knows the row of its key alone. */
import type { MachineRules } from './machine-rules.ts'
import { decodeCommand, perform } from './sim-commands.ts'

export const REGISTER_RULES: MachineRules = {
  blockBytesMin: 1,
  idOf: (command) => decodeCommand(command).id,
  perform: (entries, rows) => {
    const changes = new Map<string, string | null>()
    const replies = entries.map(({ commands }) =>
      commands.map((bytes) => {
        const command = decodeCommand(bytes)
        const changed = changes.get(command.key)
        const { reply, value } = perform(command, changed === undefined ? rows.get(command.key) : changed)
        if (value !== undefined) changes.set(command.key, value)
        return reply
      }),
    )
    return { replies, changes }
  },
}
