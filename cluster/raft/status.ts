/**
 * What a node may show of its Raft member. Owns: the copy. Knows nothing of: who looks at it.
 *
 * Rule: plain values only; nobody can reach live state through it.
 */
import type { Core } from './core.ts'
import type { RaftStatus } from './types.ts'

export function statusOf(core: Core): RaftStatus {
  const { nodeId, role, term, leaderId, commitIndex, appliedIndex, log } = core
  const { voters, learners, outgoing } = core.configurations.current
  return {
    nodeId,
    role,
    term,
    leaderId,
    commitIndex,
    appliedIndex,
    lastIndex: log.lastIndex,
    base: { ...log.base },
    configurationIndex: core.configurations.index,
    configuration: { voters: [...voters], learners: [...learners], outgoing: [...outgoing] },
    peers: [...(core.leadership?.peers ?? [])].map(([peerId, { matchIndex, state, silentTicks }]) => {
      const lagEntries = log.lastIndex - matchIndex
      const lagBytes = log.bytesBetween(Math.max(matchIndex, log.base.index), log.lastIndex)
      return { nodeId: peerId, matchIndex, state, silentTicks, lagEntries, lagBytes }
    }),
  }
}
