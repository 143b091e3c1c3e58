/**
 * A data directory that goes back to an older copy of itself while others lag.
 *
 * Owns: the order of it: some lag, one is copied, the rest acknowledges, and then only the copy and those that lag are up. Rules: one voter
 * at a time loses entries, and only while no vote moves and all nodes support disks in doubt; the copy and the lagging nodes are no quorum by
 * design, so the strike itself brings the others back.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { ProcessCluster } from '../../helpers/process-cluster.ts'
import type { Fault, Nemesis } from './nemeses.ts'

/** Time for acknowledgements that the copy will not have. */
const WRITING_MS = 1500
/** The level of the state from which a disk in doubt says so. */
const DOUBT_LEVEL = 3

export const rollBack: Nemesis = async ({ cluster, disks, changes }, { choices }) => {
  if (changes.underWay !== null) return nothing(`${changes.underWay} is not done yet`)
  const names = cluster.plan.map(({ nodeId }) => nodeId)
  const start = Math.floor(choices[0] * names.length)
  const [victim = '', ...others] = [...names.slice(start), ...names.slice(0, start)]
  const disk = disks.get(victim)
  if (disk === undefined || !(await knowDoubt(cluster, names)))
    return nothing('not all know of disks in doubt')
  const minority = (names.length - 1) >> 1
  const [lagging, rest] = [others.slice(0, minority), others.slice(minority)]
  for (const nodeId of lagging) cluster.pause(nodeId)
  cluster.pause(victim)
  disk.copyAside()
  cluster.resume(victim)
  await wait(WRITING_MS)
  await Promise.all([victim, ...rest].map((nodeId) => cluster.signal(nodeId, 'SIGKILL')))
  // Half of the time as if the host had been restarted: no witness has seen the lost entries.
  const isSeen = choices[1] < 0.5
  disk.goBack(isSeen)
  cluster.startNode(victim)
  for (const nodeId of lagging) cluster.resume(nodeId)
  return {
    what: `roll ${victim} back (${isSeen ? 'seen' : 'unseen'}) beside ${lagging.join(' and ')}, which missed it; ${rest.join(' and ')} down`,
    heal: async () => rest.forEach((nodeId) => cluster.startNode(nodeId)),
  }
}

async function knowDoubt(cluster: ProcessCluster, names: readonly string[]): Promise<boolean> {
  const levels = names.map((nodeId) => cluster.metric(nodeId, 'holdfast_raft_feature_level'))
  return (await Promise.all(levels)).every((level) => level !== undefined && level >= DOUBT_LEVEL)
}

function nothing(why: string): Fault {
  return { what: `nothing: ${why}`, heal: () => Promise.resolve() }
}
