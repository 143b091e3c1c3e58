/** Statuses that members report: a cluster of one, and of three members with a silent one. */
import type { MembershipPort, MemberStatus } from '../../cluster/index.ts'
import type { FirstMember } from '../../src/state-machine/members/records.ts'

export function singleNodeStatus(nodeId: string, changes: Partial<MemberStatus> = {}): MemberStatus {
  return {
    nodeId,
    incarnation: `life-of-${nodeId}`,
    version: '1.0.0',
    featureLevel: 2,
    stateLevel: 2,
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

export function singleNodeMembership(nodeId: string): MembershipPort {
  const status = singleNodeStatus(nodeId)
  return {
    isJoining: false,
    identity: { nodeId, incarnation: `life-of-${nodeId}`, peerAddress: '10.0.0.1:9002', fingerprint: null },
    ownPlace: null,
    stateLevel: status.stateLevel,
    local: () => status,
    ask: async (asked) => (asked === nodeId ? status : null),
    memberStatuses: async () => new Map([[nodeId, status]]),
    newcomer: async (asked) => {
      return {
        nodeId: asked,
        incarnation: `life-of-${asked}`,
        isJoining: true,
        featureLevel: 2,
        version: '1.0.0',
      }
    },
    change: async () => undefined,
    transfer: async () => undefined,
    setMembers: async () => undefined,
  }
}

interface FoundedWorld {
  membership: MembershipPort
  change(command: { readonly type: 'foundMembers'; readonly members: readonly FirstMember[] }): Promise<void>
}

/** Founds n1 to n3; n1 leads, n2 answers, n3 has been silent for a minute. */
export async function foundThree(memory: FoundedWorld, changes: Partial<MembershipPort> = {}): Promise<void> {
  const voters = ['n1', 'n2', 'n3']
  const members = voters.map((nodeId, n) => {
    const addresses = { peerAddress: `10.0.0.${n + 1}:9002`, dataAddress: null, adminAddress: null }
    return { nodeId, ...addresses, zone: 'rack-1', weight: 1 }
  })
  const configuration = { voters, learners: [], outgoing: [] }
  const lag = { lagEntries: 0, lagBytes: 0, matchIndex: 1 }
  const peers = [
    { nodeId: 'n2', silentMs: 20, ...lag },
    { nodeId: 'n3', silentMs: 60_000, ...lag },
  ]
  const leader = singleNodeStatus('n1', { configuration, peers })
  const follower = singleNodeStatus('n2', { configuration, isLeader: false, leaderId: 'n1' })
  const memberStatuses = new Map([
    ['n1', leader],
    ['n2', follower],
    ['n3', null],
  ])
  memory.membership = {
    ...singleNodeMembership('n1'),
    local: () => leader,
    ask: async (asked) => memberStatuses.get(asked) ?? null,
    memberStatuses: async () => memberStatuses,
    ...changes,
  }
  await memory.change({ type: 'foundMembers', members })
}
