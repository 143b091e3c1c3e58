/**
 * Keeps a command out of the log until every member can apply it.
 *
 * Owns: how long a request waits for that, and what it is told. Knows nothing of: how a level rises.
 * Rule: a node stops at a command that it does not know, so one that reached the log too early would stop all that are older.
 */
import type { Cluster } from '../../cluster/index.ts'
import { Refusal } from '../base/refusal.ts'
import { COMMAND_LEVELS } from '../state-machine/command-levels.ts'
import type { Command, CommandType } from '../state-machine/commands.ts'
import type { Origin } from '../state-machine/base/origin.ts'
import type { Propose } from './propose.ts'

/** A new cluster is at its level within its first second, and nobody should notice that. */
const WAIT_MS = 1_000

type Levels = Pick<Cluster, 'reachesLevel'>

/** Throws Refusal as long as a member may not know the command. Throws Condition. */
export async function requireLevel(cluster: Levels, type: CommandType): Promise<void> {
  const level = COMMAND_LEVELS[type]
  if (await cluster.reachesLevel(level, WAIT_MS)) return
  const message = `Cannot do this yet: it needs feature level ${level}, to which the cluster rises when every member runs a version that knows it and was heard by the leader`
  throw new Refusal('precondition_failed', message, {
    blockers: [{ code: 'version_incompatible', message }],
  })
}

export function withLevelGate(propose: Propose, cluster: Levels): Propose {
  const gated = async (command: Command, origin?: Origin): Promise<unknown> => {
    await requireLevel(cluster, command.type)
    return propose(command, origin)
  }
  return gated as Propose
}
