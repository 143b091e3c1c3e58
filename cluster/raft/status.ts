/**
 * What a node may show of its Raft member. Owns: the copy. Knows nothing of: who looks at it.
 *
 * Rule: plain values only; nobody can reach live state through it.
 */
import type { Core } from './core.ts'
import type { NodeId, RaftStatus } from './types.ts'

export function statusOf(core: Core): RaftStatus {
  const { nodeId, role, term, leaderId, commitIndex, appliedIndex, log, trust } = core
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
    window: log.window,
    readBackBytes: core.logReads.bytes,
    trust,
    suspects: suspectsKnownTo(core),
    configurationIndex: core.configurations.index,
    configuration: { voters: [...voters], learners: [...learners], outgoing: [...outgoing] },
    peers: [...(core.leadership?.peers ?? [])].map(([peerId, peer]) => {
      const { matchIndex, state, silentTicks, offeredIndex, hasForgotten, doubt } = peer
      const lagEntries = log.lastIndex - matchIndex
      const lagBytes = log.bytesBetween(Math.max(matchIndex, log.base.index), log.lastIndex)
      const lag = { lagEntries, lagBytes }
      return { nodeId: peerId, matchIndex, state, silentTicks, offeredIndex, hasForgotten, doubt, ...lag }
    }),
  }
}

function suspectsKnownTo({ nodeId, trust, votes, leadership }: Core): readonly NodeId[] {
  const own = trust === 'proved' ? [] : [nodeId]
  const candidates = [...votes].filter(([, { doubt }]) => doubt !== null).map(([peer]) => peer)
  const peers = [...(leadership?.peers ?? [])].filter(([, { doubt }]) => doubt !== null).map(([peer]) => peer)
  return [...new Set([...own, ...candidates, ...peers])]
}
