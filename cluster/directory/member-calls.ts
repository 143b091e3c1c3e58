/**
 * Calls between nodes about membership: the status of a member, whether a node can join, a transfer of leadership, the members.
 *
 * Owns: names and shapes of the four calls. Knows nothing of: what follows from an answer.
 * Rule: an answer comes from another machine and is checked by its shape before it is returned.
 */
import { collectBody } from '../transport/collect-body.ts'
import type { CallResponse, Transport } from '../transport/transport.ts'
import type { KnownMembers, Member, MemberStatus, NewcomerStatus, NodeId } from '../base/types.ts'

export const MEMBER_METHODS = {
  status: 'member.status',
  greet: 'member.greet',
  transfer: 'member.transfer',
  directory: 'member.directory',
} as const

const ASK_MS_MAX = 2_000

type Calling = Pick<Transport, 'call'>

async function ask(transport: Calling, to: NodeId, method: string, header: unknown): Promise<unknown> {
  return (await asked(transport, to, { method, header })).header
}

async function asked(
  transport: Calling,
  to: NodeId,
  { method, header }: { readonly method: string; readonly header: unknown },
): Promise<Pick<CallResponse, 'header' | 'certificate'>> {
  const answer = await transport.call(to, method, { header, timeoutMs: ASK_MS_MAX })
  await collectBody(answer.body, 0)
  return answer
}

export async function askStatus(transport: Calling, to: NodeId): Promise<MemberStatus> {
  return readStatus(await ask(transport, to, MEMBER_METHODS.status, null))
}

/** `greeting` null: the call only asks. */
export async function greet(
  transport: Calling,
  to: NodeId,
  greeting: KnownMembers | null,
): Promise<NewcomerStatus> {
  const answer = await asked(transport, to, { method: MEMBER_METHODS.greet, header: greeting })
  const { certificate: fingerprint = null } = answer
  const fields = fieldsOf(answer.header)
  const { nodeId, incarnation, isJoining, featureLevel, version } = fields
  if (typeof nodeId !== 'string' || typeof incarnation !== 'string' || typeof version !== 'string')
    throw new TypeError('Cannot read the answer of a new node: its name, incarnation or version is missing')
  if (typeof isJoining !== 'boolean' || typeof featureLevel !== 'number')
    throw new TypeError('Cannot read the answer of a new node: isJoining or featureLevel is missing')
  return { nodeId, incarnation, isJoining, featureLevel, version, fingerprint }
}

/** Resolves when the called node has handed leadership over, or does not lead. */
export async function askTransfer(transport: Calling, to: NodeId, target: NodeId | null): Promise<void> {
  await ask(transport, to, MEMBER_METHODS.transfer, { target })
}

export async function askDirectory(transport: Calling, to: NodeId): Promise<KnownMembers> {
  return readKnown(await ask(transport, to, MEMBER_METHODS.directory, null))
}

export function readKnown(header: unknown): KnownMembers {
  const { members, departed, index } = fieldsOf(header)
  if (!Array.isArray(members) || !isTexts(departed) || !isCount(index))
    throw new TypeError('Cannot read the list of members')
  return { members: members.map(readMember), departed, index }
}

export function readTarget(header: unknown): NodeId | null {
  const { target } = fieldsOf(header)
  if (target !== null && typeof target !== 'string')
    throw new TypeError('Cannot read the target of a transfer')
  return target
}

function readMember(row: unknown): Member {
  const { nodeId, peerAddress, zone, weight, file } = fieldsOf(row)
  if (typeof nodeId !== 'string' || typeof peerAddress !== 'string' || typeof zone !== 'string')
    throw new TypeError('Cannot read a member: name, address and zone must be strings')
  if (typeof weight !== 'number' || !(weight >= 0))
    throw new TypeError('Cannot read a member: its weight must be a number, at least 0')
  return { nodeId, peerAddress, zone, weight, ...readFilePlace(file) }
}

/** Absent: the group holds nothing over the file of the member. */
function readFilePlace(file: unknown): Pick<Member, 'file'> {
  if (file === undefined) return {}
  const { zone, weight } = fieldsOf(file)
  if (typeof zone !== 'string' || typeof weight !== 'number')
    throw new TypeError('Cannot read a member: "file" must have a zone and a weight')
  return { file: { zone, weight } }
}

const COUNTS = [
  'term',
  'commitIndex',
  'appliedIndex',
  'configurationIndex',
  'featureLevel',
  'stateLevel',
] as const

function readStatus(header: unknown): MemberStatus {
  const fields = fieldsOf(header)
  const { nodeId, incarnation, version, leaderId, isLeader, isReady, isJoining } = fields
  const { configuration, peers, heardMs, checksums, downloads } = fields
  const areNames = [nodeId, incarnation, version].every((text) => typeof text === 'string')
  const areCounts = COUNTS.every((name) => isCount(fields[name]))
  const isLeaderName = leaderId === null || typeof leaderId === 'string'
  const areClaims = [isLeader, isReady, isJoining].every((claim) => typeof claim === 'boolean')
  const { voters, learners, outgoing } = fieldsOf(configuration)
  const isGroup = isTexts(voters) && isTexts(learners) && isTexts(outgoing)
  const areContacts = Object.values(fieldsOf(heardMs)).every(isCount)
  if (!(areNames && areCounts && isLeaderName && areClaims && isGroup && areContacts && arePeers(peers)))
    throw new TypeError('Cannot read the status of a member')
  if (!arePoints(checksums)) throw new TypeError('Cannot read the checksums of a member')
  if (downloads !== undefined && !isCount(downloads))
    throw new TypeError('Cannot read the downloads of a member')
  if (!areDoubts(fields['doubts'])) throw new TypeError('Cannot read the doubts of a member')
  return header as MemberStatus
}

function arePeers(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  return value.every((row: unknown) => {
    const { nodeId, matchIndex, silentMs, lagEntries, lagBytes } = fieldsOf(row)
    return typeof nodeId === 'string' && [matchIndex, silentMs, lagEntries, lagBytes].every(isCount)
  })
}

function arePoints(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  return value.every((row: unknown) => Array.isArray(row) && isCount(row[0]) && typeof row[1] === 'string')
}

/** A later version may have doubts that this one does not know. */
function areDoubts(value: unknown): boolean {
  if (value === undefined) return true
  if (!Array.isArray(value)) return false
  return value.every((row: unknown) => isTexts(Object.values(fieldsOf(row))))
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
