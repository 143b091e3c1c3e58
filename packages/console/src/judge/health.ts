/**
 * From what the API says of the cluster to one sentence, whether data is safe, and findings with what to do. Pure.
 *
 * Rules: what is not known is never called safe; what a token may not see is left out and said to be unknown.
 */
import type {
  BackupSchedule,
  ClusterDoctor,
  Membership,
  Operation,
  Placement,
  Repair,
} from '../../../client/src/admin.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { ofDoctor } from './doctor.ts'
import { type Finding, finding, type Level, LEVELS, type Said } from './finding.ts'

export interface Facts {
  readonly membership: Membership | null
  readonly repair: Repair | null
  readonly placement: Placement | null
  readonly operations: readonly Operation[] | null
  readonly schedules: readonly BackupSchedule[] | null
  /** What the doctor finds on the members. */
  readonly doctor: ClusterDoctor | null
}

export interface Judgement {
  readonly level: 'safe' | 'attention' | 'danger' | 'unknown'
  readonly sentence: string
  readonly why: string
  /** The most urgent first. */
  readonly findings: readonly Finding[]
}

const SAYS = TEXT.finding
const RUNBOOK = {
  dead: 'runbooks/replace-dead-machine.html',
  quorum: 'runbooks/lost-quorum.html',
  grow: 'runbooks/grow-to-five.html',
  full: 'runbooks/full-blob-disk.html',
  disk: 'runbooks/replace-blob-disk.html',
  upgrade: 'runbooks/rolling-upgrade.html',
  back: 'runbooks/disk-went-back.html',
}
/** Below it an operation is of the past. */
const IS_OPEN = new Set<Operation['status']>(['queued', 'running', 'paused'])

/** A member that does not answer: its machine is started, or it gets a successor. */
const silence = (level: Level, said: Said, nodeId: string | undefined): Finding => ({
  ...finding(level, said, 'cluster', RUNBOOK.dead),
  replace: nodeId ?? null,
})

export function judge(facts: Facts): Judgement {
  const { membership } = facts
  const findings = [
    ...(membership === null ? [] : ofMembers(membership)),
    ...(facts.placement === null ? [] : ofPlacement(facts.placement)),
    ...(facts.repair === null ? [] : ofRepair(facts.repair)),
    ...(facts.operations === null ? [] : ofOperations(facts.operations)),
    ...(facts.schedules === null ? [] : ofSchedules(facts.schedules)),
    ...(facts.doctor === null ? [] : ofDoctor(facts.doctor, new Set(silentIn(membership)))),
  ].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
  const [first] = findings
  if (first !== undefined && first.level !== 'notice') {
    const sentence = first.level === 'danger' ? TEXT.health.danger : TEXT.health.attention
    return { level: first.level, sentence, why: `${first.title}. ${first.todo}`, findings }
  }
  if (membership === null || facts.placement === null || facts.repair === null || facts.doctor === null)
    return { level: 'unknown', sentence: TEXT.health.unknown, why: TEXT.health.unknownWhy, findings }
  const why = TEXT.health.safeWhy(membership.failureTolerance, votersOf(membership).length)
  return { level: 'safe', sentence: TEXT.health.safe, why, findings }
}

type Member = Membership['members'][number]

export const votersOf = ({ members }: Membership): readonly Member[] =>
  members.filter(({ role }) => role === 'voter')

const silentMembers = ({ members }: Membership): readonly Member[] =>
  members.filter(({ reachable, phase }) => reachable === false && phase !== 'lost')

const silentIn = (membership: Membership | null): readonly string[] =>
  membership === null ? [] : silentMembers(membership).map(({ nodeId }) => nodeId)

function ofMembers(membership: Membership): readonly Finding[] {
  const { members, authoritative, failureTolerance, leaderId } = membership
  const voters = votersOf(membership)
  const silent = silentMembers(membership)
  const silentVoters = silent.filter(({ role }) => role === 'voter').map(({ nodeId }) => nodeId)
  const found: Finding[] = []
  const hasMajority = authoritative && leaderId !== null
  const isLast = hasMajority && silentVoters.length > 0 && silentVoters.length >= failureTolerance
  if (!hasMajority) found.push(finding('danger', SAYS.noMajority, 'cluster', RUNBOOK.quorum))
  if (isLast) found.push(silence('danger', SAYS.noSpare(silentVoters), silentVoters[0]))
  if (voters.length < 3 && silentVoters.length === 0)
    found.push(finding('attention', SAYS.fewVoters(voters.length), 'cluster', RUNBOOK.grow))
  // One that is named already is not named again, unless there are several, each with a successor of its own.
  const named = isLast && silentVoters.length === 1 ? silentVoters[0] : undefined
  for (const { nodeId, role } of silent.filter((member) => member.nodeId !== named))
    found.push(silence('attention', SAYS.unreachable(nodeId), role === 'voter' ? nodeId : undefined))
  for (const { nodeId, stateEqual, conditions = [] } of members) {
    if (stateEqual === false) found.push(finding('danger', SAYS.stateDiffers(nodeId), 'cluster'))
    for (const { code, message } of conditions)
      found.push(finding('danger', [SAYS.condition(nodeId, code), message], 'cluster', RUNBOOK.back))
  }
  const versions = [...new Set(members.flatMap(({ version }) => version ?? []))].sort()
  if (versions.length > 1)
    found.push(finding('attention', SAYS.versions(versions.join(', ')), 'cluster', RUNBOOK.upgrade))
  return found
}

/** Of the first chunks where there are many: what a node owes is counted in full by itself. */
function ofPlacement({ singleCopies, singleZones, isTruncated }: Placement): readonly Finding[] {
  const counted = (value: number): string => `${count(value)}${isTruncated ? '+' : ''}`
  const found: Finding[] = []
  if (singleCopies > 0) found.push(finding('danger', SAYS.singleCopies(counted(singleCopies)), 'operations'))
  if (singleZones > 0) found.push(finding('attention', SAYS.singleZones(counted(singleZones)), 'cluster'))
  return found
}

function ofRepair({ collection, lastRecount, nodes }: Repair): readonly Finding[] {
  const found: Finding[] = []
  const owed = nodes.reduce((sum, { pending }) => sum + (pending ?? 0), 0)
  if (owed > 0) found.push(finding('attention', SAYS.owed(count(owed)), 'operations'))
  if (collection.halted !== null)
    found.push(finding('attention', SAYS.halted(collection.halted.reason), 'operations'))
  if (lastRecount !== null && lastRecount.differences > 0)
    found.push(finding('attention', SAYS.recount(lastRecount.differences), 'operations'))
  return [...found, ...nodes.flatMap(ofNode)]
}

function ofNode(node: Repair['nodes'][number]): readonly Finding[] {
  const { nodeId, reachable, disk, directoriesLost, scrub } = node
  if (!reachable) return [finding('attention', SAYS.noRepair(nodeId), 'cluster')]
  const found: Finding[] = []
  if (disk !== null) {
    const free = bytes(disk.freeBytes)
    if (disk.level === 'stopPlacing')
      found.push(finding('attention', SAYS.diskFilling(nodeId, free), 'cluster', RUNBOOK.full))
    else if (disk.level !== 'open')
      found.push(finding('danger', SAYS.diskFull(nodeId, free), 'cluster', RUNBOOK.full))
    if (disk.isSuspect) found.push(finding('attention', SAYS.diskSuspect(nodeId), 'cluster', RUNBOOK.disk))
  }
  if ((directoriesLost ?? 0) > 0)
    found.push(finding('danger', SAYS.directoriesLost(nodeId, directoriesLost ?? 0), 'cluster', RUNBOOK.disk))
  if ((scrub?.lost ?? 0) > 0)
    found.push(finding('attention', SAYS.lost(nodeId, scrub?.lost ?? 0), 'operations', RUNBOOK.disk))
  return found
}

/** The end of the newest backup of any schedule that succeeded; null: there is none. */
export function lastBackupAt(schedules: readonly BackupSchedule[]): string | null {
  const ends = schedules.flatMap(({ lastGood }) => (lastGood === null ? [] : [lastGood.endedAt]))
  return ends.toSorted().at(-1) ?? null
}

function ofSchedules(schedules: readonly BackupSchedule[]): readonly Finding[] {
  return schedules
    .filter(({ failures, paused }) => failures > 0 && !paused)
    .map(({ name, failures, last }) =>
      finding('attention', SAYS.backupFails(name, failures, last?.error ?? null), 'backups'),
    )
}

function ofOperations(operations: readonly Operation[]): readonly Finding[] {
  return operations.flatMap((operation, at) => {
    const { type, status, error, blockers, nodeId } = operation
    const [blocker] = blockers
    if (IS_OPEN.has(status) && blocker !== undefined)
      return [finding('attention', SAYS.blocked(type, blocker.message), 'operations')]
    // A failure counts until the same was tried again.
    const isLast = !operations.slice(0, at).some((later) => later.type === type && later.nodeId === nodeId)
    return status === 'failed' && isLast
      ? [finding('attention', SAYS.failed(type, error ?? ''), 'operations')]
      : []
  })
}
