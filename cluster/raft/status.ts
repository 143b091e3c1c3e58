/**
 * What a node may show of its Raft member. Owns: the copy. Knows nothing of: its readers.
 *
 * Rule: plain values only; no caller can reach live state through it.
 */
import type { Core } from './core.ts'
import type { DiskDoubt, NodeId, RaftStatus } from './types.ts'

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

/** Only a leader receives the present doubts of its peers; a member without a leader knows them from the answers to its last campaign. */
function suspectsKnownTo({ nodeId, trust, votes, leaderId, leadership }: Core): RaftStatus['suspects'] {
  const doubts = new Map<NodeId, DiskDoubt>()
  if (trust !== 'proved') doubts.set(nodeId, trust)
  if (leaderId === null) {
    for (const [peer, { doubt }] of votes) if (doubt !== null) doubts.set(peer, doubt)
  }
  for (const [peer, { doubt, hasForgotten }] of leadership?.peers ?? []) {
    if (hasForgotten) doubts.set(peer, 'rolledBack')
    else if (doubt !== null) doubts.set(peer, doubt)
  }
  return [...doubts].map(([suspect, doubt]) => ({ nodeId: suspect, doubt }))
}
