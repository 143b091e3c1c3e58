/**
 * Proposes commands to the cluster and decodes their replies.
 *
 * Owns: encoding and decoding. Knows nothing of: what a command means.
 * Rule: a refusal is a reply and is returned; a Condition of the cluster is thrown unchanged.
 */
import type { View } from '../state-machine/base/view.ts'
import type { Cluster } from '../../cluster/index.ts'
import { commandCost } from '../state-machine/command-cost.ts'
import type { Command, CommandType, Reply } from '../state-machine/commands.ts'
import type { Origin } from '../state-machine/base/origin.ts'
import { ROOM_NEEDS } from '../state-machine/room-needs.ts'
import type { Basis } from '../state-machine/buckets/basis.ts'
import type { Caller } from '../state-machine/tenants/callers.ts'
import { decodeReply, encodeCommand } from './command-codec.ts'

/**
 * `origin`: the request behind the command, `caller`: the access key that has to be good still,
 * `basis`: what the authorization rested on without a read barrier; the edge adds them to what operations propose.
 */
export type Propose = <T extends CommandType>(
  command: Extract<Command, { type: T }> & { type: T },
  origin?: Origin,
  caller?: Caller,
  basis?: Basis,
) => Promise<Reply<T>>

/** `view`: the rows that this node has applied, to estimate the work of a command. Null: the cluster uses its default estimate. */
export function createPropose(cluster: Pick<Cluster, 'propose'>, view: View | null = null): Propose {
  const propose = async (
    command: Command,
    origin?: Origin,
    caller?: Caller,
    basis?: Basis,
  ): Promise<Reply> => {
    const bytes = encodeCommand({
      ...command,
      ...(origin === undefined ? {} : { origin }),
      ...(caller === undefined ? {} : { caller }),
      ...(basis === undefined ? {} : { basis }),
    })
    const cost = view === null ? undefined : commandCost(view, command)
    const correction = command.type === 'correctTime' ? command.correction : undefined
    return decodeReply(await cluster.propose(bytes, { need: ROOM_NEEDS[command.type], cost, correction }))
  }
  // Apply returns the reply type that ReplyValues declares for the command; the decoded bytes cannot prove it.
  return propose as Propose
}
