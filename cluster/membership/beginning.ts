/**
 * The membership with which a node starts: as its data directory knows it, or for the first time as its options say.
 *
 * Owns: the choice. Knows nothing of: how members change later. Rule: what was written at the first start stands for ever; a node that
 * joins begins outside of the group, with the voters it was told of, so it neither votes nor campaigns until the log names it.
 */
import { expulsionOf, expulsionText } from '../node/base/expulsion.ts'
import { type ClusterOptions, type Member, type NodeId, StartError } from '../base/types.ts'
import { Directory, type Membership, type Places } from './directory.ts'
import { MemberFile } from './member-file.ts'

/** The caller holds the lock of the data directory. */
export async function openDirectory(
  options: ClusterOptions,
  file: MemberFile,
  known: Membership | null,
): Promise<Directory> {
  const membership = beginningOf(options, known)
  await file.write(membership)
  return new Directory(options.nodeId, membership)
}

type Beginner = Pick<ClusterOptions, 'nodeId' | 'members' | 'isJoining'>

/** To be written before anything is done with it. Throws StartError. */
export function beginningOf(options: Beginner, known: Membership | null): Membership {
  return known === null ? firstOf(options) : withMoves(known, options.members)
}

/** Why this directory is never heard again, as far as it was told; null: it was not. Nothing is changed. Throws StartError. */
export async function findFarewell(dataDir: string, nodeId: NodeId): Promise<string | null> {
  const known = await new MemberFile(dataDir).read()
  const expulsion = known === null ? null : expulsionOf(new Directory(nodeId, known).expelled)
  return expulsion === null ? null : expulsionText(nodeId, expulsion)
}

/** Whether this directory still waits to be made a member: its master key was not compared with that of the cluster. Throws StartError. */
export async function isWaiting(dataDir: string): Promise<boolean> {
  return (await new MemberFile(dataDir).read())?.isJoining === true
}

function firstOf(options: Beginner): Membership {
  const { nodeId, isJoining = false } = options
  const others = options.members.filter((member) => member.nodeId !== nodeId)
  const members = isJoining ? others : options.members
  if (members.length === 0) throw nobodyToHear(nodeId)
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

/** Of a configuration that has changed since the last start addresses, zones and weights count: who belongs, the log says. */
function withMoves(known: Membership, members: readonly Member[]): Membership {
  const configured = placesOf(members)
  // Nothing was committed yet that could be newer than the configuration.
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

function nobodyToHear(nodeId: string): StartError {
  return new StartError('unknown_member', `Cannot join: no member beside "${nodeId}" is named`, {
    hint: 'Name at least one member of the running cluster in cluster.members.',
  })
}
