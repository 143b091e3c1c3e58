/**
 * The membership with which a node starts: from its data directory, or at the first start from its options.
 *
 * Owns: the choice. Knows nothing of: how members change later. Rule: the membership written at the first start stays forever; a joining
 * node starts outside of the group, with the voters of its options, so it neither votes nor campaigns until the log names it.
 */
import { expulsionOf, expulsionText } from '../node/base/expulsion.ts'
import { type ClusterOptions, type Member, type NodeId, StartError } from '../base/types.ts'
import { Directory, type Membership, type Places } from './directory.ts'
import { checkIdentity, type Expected } from './identity.ts'
import { MemberFile } from './member-file.ts'

/** What of the data directory and of the members refuses a start; changes nothing. Throws StartError, as a start does. */
export async function examineDirectory(options: Expected): Promise<void> {
  const known = await new MemberFile(options.dataDir).read()
  await checkIdentity(options, known)
  directoryAtStart(options, known)
}

/** The caller holds the lock of the data directory. */
export async function openDirectory(
  options: ClusterOptions,
  file: MemberFile,
  known: Membership | null,
): Promise<Directory> {
  const membership = directoryAtStart(options, known)
  await file.write(membership)
  return new Directory(options.nodeId, membership)
}

type StartOptions = Pick<ClusterOptions, 'nodeId' | 'members' | 'isJoining'>

/** The caller writes the result before it uses it. Throws StartError. */
export function directoryAtStart(options: StartOptions, known: Membership | null): Membership {
  return known === null ? firstOf(options) : withMoves(known, options.members)
}

/** The removal notice that this directory has received; null: it has received none. Changes nothing. Throws StartError. */
export async function findRemovalNotice(dataDir: string, nodeId: NodeId): Promise<string | null> {
  const known = await new MemberFile(dataDir).read()
  const expulsion = known === null ? null : expulsionOf(new Directory(nodeId, known).expelled)
  return expulsion === null ? null : expulsionText(nodeId, expulsion)
}

/** True if this directory still waits to join: its master key has not been compared with that of the cluster. Throws StartError. */
export async function isWaiting(dataDir: string): Promise<boolean> {
  return (await new MemberFile(dataDir).read())?.isJoining === true
}

function firstOf(options: StartOptions): Membership {
  const { nodeId, isJoining = false } = options
  const others = options.members.filter((member) => member.nodeId !== nodeId)
  const members = isJoining ? others : options.members
  if (members.length === 0) throw noReachableMember(nodeId)
  const voters = members.map((member) => member.nodeId)
  const configured = placesOf(options.members)
  return {
    members,
    departed: [],
    index: 0,
    isJoining,
    configured,
    moved: {},
    first: { voters, learners: [], outgoing: [] },
  }
}

/** From a configuration that has changed since the last start only addresses, zones and weights count: the log has the members. */
function withMoves(known: Membership, members: readonly Member[]): Membership {
  const configured = placesOf(members)
  // No committed membership is newer than the configuration.
  if (known.index === 0 && !known.isJoining) return { ...known, members, configured }
  const changed = members.filter(({ nodeId }) => {
    const before = known.configured[nodeId]
    return before !== undefined && JSON.stringify(before) !== JSON.stringify(configured[nodeId])
  })
  return { ...known, configured, moved: { ...known.moved, ...placesOf(changed) } }
}

function placesOf(members: readonly Member[]): Places {
  return Object.fromEntries(
    members.map(({ nodeId, peerAddress, zone, weight }) => [nodeId, { peerAddress, zone, weight }]),
  )
}

function noReachableMember(nodeId: string): StartError {
  return new StartError('unknown_member', `Cannot join: no member other than "${nodeId}" is named`, {
    hint: 'Name at least one member of the running cluster in cluster.members.',
  })
}
