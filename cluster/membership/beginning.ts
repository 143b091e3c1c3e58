/**
 * The membership with which a node starts: as its data directory knows it, or for the first time as its options say.
 *
 * Owns: the choice. Knows nothing of: how members change later. Rule: what was written at the first start stands for ever; a node that
 * joins begins outside of the group, with the voters it was told of, so it neither votes nor campaigns until the log names it.
 */
import { type ClusterOptions, StartError } from '../types.ts'
import { Directory, type Membership } from './directory.ts'
import type { MemberFile } from './member-file.ts'

/** The caller holds the lock of the data directory. */
export async function openDirectory(
  options: ClusterOptions,
  file: MemberFile,
  known: Membership | null,
): Promise<Directory> {
  const membership = known ?? firstOf(options)
  if (known === null) await file.write(membership)
  return new Directory(options.nodeId, membership)
}

function firstOf({ nodeId, members: configured, isJoining = false }: ClusterOptions): Membership {
  const members = isJoining ? configured.filter((member) => member.nodeId !== nodeId) : configured
  if (members.length === 0) throw nobodyToHear(nodeId)
  const voters = members.map((member) => member.nodeId)
  return { members, departed: [], index: 0, isJoining, first: { voters, learners: [], outgoing: [] } }
}

function nobodyToHear(nodeId: string): StartError {
  return new StartError('unknown_member', `Cannot join: no member beside "${nodeId}" is named`, {
    hint: 'Name at least one member of the running cluster in cluster.members.',
  })
}
