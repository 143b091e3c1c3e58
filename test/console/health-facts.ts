/**
 * What the API says of a cluster in which nothing is wrong, with what a test changes of it.
 */
import type {
  BackupSchedule,
  ClusterDoctor,
  Membership,
  Operation,
  Placement,
  Repair,
} from '../../packages/client/src/admin.ts'
import { NO_PROGRESS } from '../../src/state-machine/long-operations/operations.ts'

type Member = Membership['members'][number]

export const AT = '2026-01-01T00:00:00.000Z'

export function member(nodeId: string, more: Partial<Member> = {}): Member {
  return {
    nodeId,
    incarnation: 'i',
    role: 'voter',
    phase: 'active',
    isLeader: nodeId === 'n1',
    peerAddress: `${nodeId}:9002`,
    dataAddress: null,
    adminAddress: null,
    zone: 'z',
    weight: 1,
    reachable: true,
    lastContactMs: 10,
    matchIndex: 9,
    version: '0.3.0',
    featureLevel: 7,
    disk: null,
    blobs: null,
    drained: false,
    recoveryEpoch: null,
    stateEqual: true,
    addedAt: AT,
    ...more,
  }
}

export function membership(more: Partial<Membership> = {}): Membership {
  return {
    clusterId: 'c',
    authoritative: true,
    term: 1,
    configIndex: 1,
    committedIndex: 9,
    leaderId: 'n1',
    featureLevel: 7,
    quorum: 2,
    failureTolerance: 1,
    changeInProgress: null,
    reasons: [],
    members: [member('n1'), member('n2'), member('n3')],
    departed: [],
    recoveries: [],
    ...more,
  }
}

export const placement = (more: Partial<Placement> = {}): Placement => ({
  chunks: 5,
  bytes: 10,
  held: { copies: 15, bytes: 30 },
  owed: { copies: 0, bytes: 0 },
  singleCopies: 0,
  singleZones: 0,
  nodes: [],
  zones: [],
  skew: null,
  isTruncated: false,
  ...more,
})

export const node = (more: Partial<Repair['nodes'][number]> = {}): Repair['nodes'][number] => ({
  nodeId: 'n1',
  reachable: true,
  pending: 0,
  waitingForDisk: 0,
  scrub: null,
  inventory: null,
  directoriesLost: 0,
  disk: { level: 'open', totalBytes: 100, freeBytes: 50, isSuspect: false },
  ...more,
})

export const repair = (more: Partial<Repair> = {}): Repair => ({
  maxBytesPerSecond: null,
  collection: { halted: null, resumed: null },
  lastRecount: null,
  nodes: [node()],
  ...more,
})

export const operation = (more: Partial<Operation> = {}): Operation => ({
  operationId: 'o',
  type: 'scrub',
  status: 'failed',
  phase: '',
  restore: null,
  requestedBy: 'adm_1',
  reason: null,
  backupId: null,
  target: null,
  tenantId: null,
  bucket: null,
  nodeId: null,
  maxBytesPerSecond: null,
  createdAt: AT,
  startedAt: AT,
  finishedAt: AT,
  progress: NO_PROGRESS,
  etaSeconds: null,
  nodes: [],
  blockers: [],
  error: 'why',
  ...more,
})

export const good = (endedAt: string): NonNullable<BackupSchedule['lastGood']> => ({
  operationId: 'o',
  backupId: 'b',
  scheduledFor: endedAt,
  startedAt: endedAt,
  endedAt,
  outcome: 'succeeded',
  bytesSent: 1,
  error: null,
})

export const schedule = (more: Partial<BackupSchedule> = {}): BackupSchedule => ({
  name: 'nightly',
  target: 'directory:weekly',
  tenantId: null,
  when: 'daily 02:00',
  keep: null,
  paused: false,
  maxBytesPerSecond: null,
  nextRunAt: AT,
  run: null,
  last: good(AT),
  lastGood: good(AT),
  failures: 0,
  updatedAt: AT,
  ...more,
})

export type Examined = ClusterDoctor['nodes'][number]
type Found = Examined['findings'][number]

export const found = (more: Partial<Found> = {}): Found => ({
  check: 'memory',
  severity: 'ok',
  found: '900 MiB of memory',
  expected: null,
  action: null,
  ...more,
})

export const examined = (nodeId: string, more: Partial<Examined> = {}): Examined => ({
  nodeId,
  answer: 'known',
  findings: [found()],
  notChecked: ['disk_speed'],
  certificates: [],
  isTruncated: false,
  ...more,
})

export const doctor = (...nodes: readonly Examined[]): ClusterDoctor => ({ nodes })

export const WHOLE = {
  membership: membership(),
  placement: placement(),
  repair: repair(),
  operations: [],
  schedules: [schedule()],
  doctor: doctor(examined('n1'), examined('n2'), examined('n3')),
}
