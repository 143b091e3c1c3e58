/**
 * The way of a command into the replicated state and of its reply back.
 *
 * Owns: encoding on the way in and out. Knows nothing of: what a command means.
 * Rule: a refusal is a reply, returned; a Condition of the machine is thrown on as it is.
 */
import type { Cluster } from '../../cluster/index.ts'
import type { Command, CommandType, Reply } from '../state-machine/commands.ts'
import type { Origin } from '../state-machine/origin.ts'
import { decodeReply, encodeCommand } from './command-codec.ts'

/** `origin`: the request behind the command; the edge adds it to what operations propose. */
export type Propose = <T extends CommandType>(
  command: Extract<Command, { type: T }> & { type: T },
  origin?: Origin,
) => Promise<Reply<T>>

export function createPropose(cluster: Pick<Cluster, 'propose'>): Propose {
  const propose = async (command: Command, origin?: Origin): Promise<Reply> =>
    decodeReply(await cluster.propose(encodeCommand(origin === undefined ? command : { ...command, origin })))
  // Which reply belongs to which command is ReplyValues' promise, kept by apply; bytes cannot carry it.
  return propose as Propose
}
