/** The membership of a cluster of one, which leads and answers. */
import type { MembershipPort, MemberStatus } from '../../cluster/index.ts'

export function loneStatus(nodeId: string, changes: Partial<MemberStatus> = {}): MemberStatus {
  return {
    nodeId,
    incarnation: `life-of-${nodeId}`,
    version: '1.0.0',
    featureLevel: 1,
    isJoining: false,
    isReady: true,
    isLeader: true,
    term: 1,
    leaderId: nodeId,
    commitIndex: 1,
    appliedIndex: 1,
    configuration: { voters: [nodeId], learners: [], outgoing: [] },
    configurationIndex: 0,
    peers: [],
    heardMs: {},
    checksums: [],
    ...changes,
  }
}

export function loneMembership(nodeId: string): MembershipPort {
  const status = loneStatus(nodeId)
  return {
    isJoining: false,
    local: () => status,
    ask: async (asked) => (asked === nodeId ? status : null),
    survey: async () => new Map([[nodeId, status]]),
    newcomer: async (asked) => {
      return {
        nodeId: asked,
        incarnation: `life-of-${asked}`,
        isJoining: true,
        featureLevel: 1,
        version: '1.0.0',
      }
    },
    change: async () => undefined,
    transfer: async () => undefined,
    setMembers: async () => undefined,
  }
}
