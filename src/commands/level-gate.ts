/**
 * Keeps a command out of the log until every member can apply it.
 *
 * Owns: how long a request waits for that, and its refusal. Knows nothing of: how a level rises.
 * Rule: a node stops at an unknown command, so a command that reached the log too early would stop all older nodes.
 */
import type { Cluster } from '../../cluster/index.ts'
import { Refusal } from '../base/refusal.ts'
import { BASIS_LEVEL, CALLER_LEVEL, commandLevel } from '../state-machine/command-levels.ts'
import type { Command } from '../state-machine/commands.ts'
import type { Origin } from '../state-machine/base/origin.ts'
import type { Basis } from '../state-machine/buckets/basis.ts'
import type { Caller } from '../state-machine/tenants/callers.ts'
import type { Propose } from './propose.ts'

/** A new cluster reaches its level within its first second, so a request waits that long instead of failing. */
const WAIT_MS = 1_000

type Levels = Pick<Cluster, 'reachesLevel'>

/** Throws Refusal while some member may not know `level`. Throws Condition. */
export async function requireLevel(cluster: Levels, level: number): Promise<void> {
  if (await cluster.reachesLevel(level, WAIT_MS)) return
  const message = `Cannot do this yet: it needs feature level ${level}; the cluster reaches it when every member runs a version that supports it and the leader has received a message from each`
  throw new Refusal('precondition_failed', message, {
    blockers: [{ code: 'version_incompatible', message }],
  })
}

export function withLevelGate(propose: Propose, cluster: Levels): Propose {
  const gated = async (
    command: Command,
    origin?: Origin,
    caller?: Caller,
    basis?: Basis,
  ): Promise<unknown> => {
    // What rests on a basis is never proposed without it.
    await requireLevel(cluster, Math.max(commandLevel(command), basis === undefined ? 0 : BASIS_LEVEL))
    // Older members would ignore it and decide otherwise.
    const isKnown = caller !== undefined && (await cluster.reachesLevel(CALLER_LEVEL, 0))
    return propose(command, origin, isKnown ? caller : undefined, basis)
  }
  return gated as Propose
}
