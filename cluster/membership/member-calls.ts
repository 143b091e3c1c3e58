/**
 * What nodes ask each other about membership: how each stands, whether a new one may be taken in, to hand over the lead.
 *
 * Owns: names and shapes of the three calls. Knows nothing of: what follows from an answer.
 * Rule: an answer comes from another machine and is read by its shape before anybody sees it.
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

/** `greeting` null: only asks. */
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
    throw new TypeError('Cannot read the answer of a new node: it does not name itself')
  if (typeof isJoining !== 'boolean' || typeof featureLevel !== 'number')
    throw new TypeError('Cannot read the answer of a new node: it does not say whether it waits')
  return { nodeId, incarnation, isJoining, featureLevel, version, fingerprint }
}

/** Resolves when the asked node has handed over, or does not lead. */
export async function askTransfer(transport: Calling, to: NodeId, target: NodeId | null): Promise<void> {
  await ask(transport, to, MEMBER_METHODS.transfer, { target })
}

export async function askDirectory(transport: Calling, to: NodeId): Promise<KnownMembers> {
  return readKnown(await ask(transport, to, MEMBER_METHODS.directory, null))
}

export function readKnown(header: unknown): KnownMembers {
  const { members, departed, index } = fieldsOf(header)
  if (!Array.isArray(members) || !isTexts(departed) || !isCount(index))
    throw new TypeError('Cannot read who the members are')
  return { members: members.map(readMember), departed, index }
}

export function readTarget(header: unknown): NodeId | null {
  const { target } = fieldsOf(header)
  if (target !== null && typeof target !== 'string') throw new TypeError('Cannot read who is to lead')
  return target
}

function readMember(row: unknown): Member {
  const { nodeId, peerAddress, zone, weight } = fieldsOf(row)
  if (typeof nodeId !== 'string' || typeof peerAddress !== 'string' || typeof zone !== 'string')
    throw new TypeError('Cannot read a member: name, address and zone are texts')
  if (typeof weight !== 'number' || !(weight >= 0)) throw new TypeError('Cannot read a member: its weight')
  return { nodeId, peerAddress, zone, weight }
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
  const { configuration, peers, heardMs, checksums } = fields
  const isNamed = [nodeId, incarnation, version].every((text) => typeof text === 'string')
  const isCounted = COUNTS.every((name) => isCount(fields[name]))
  const isKnown = leaderId === null || typeof leaderId === 'string'
  const isSaid = [isLeader, isReady, isJoining].every((claim) => typeof claim === 'boolean')
  const { voters, learners, outgoing } = fieldsOf(configuration)
  const isGroup = isTexts(voters) && isTexts(learners) && isTexts(outgoing)
  const areHeard = Object.values(fieldsOf(heardMs)).every(isCount)
  if (!(isNamed && isCounted && isKnown && isSaid && isGroup && areHeard && arePeers(peers)))
    throw new TypeError('Cannot read how a member stands')
  if (!arePoints(checksums)) throw new TypeError('Cannot read the checksums of a member')
  if (!areDoubts(fields['doubts'])) throw new TypeError('Cannot read what a member doubts')
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

/** A later version may know more of them. */
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
