/**
 * Faults of hosts: one function for each nemesis, which injects the fault and returns how to heal it.
 *
 * Owns: the faults. Knows nothing of: their times, the view of clients.
 * Rules: chance comes with the strike. Fewer than half of the hosts are hit at once, but for `kill-all` and `all-disks-full`; no host loses copies
 * while any are owed. A nemesis that is impossible now names the reason and does nothing.
 */
import type { ProcessCluster } from '../../helpers/process-cluster.ts'
import { hostOf, type Pair, pairsOf, spaceOf } from './host-plan.ts'
import type { HostNetwork } from './host-network.ts'
import { fillAllDisks, slowDisk, smallMemory, unreadableLog } from './machine-nemeses.ts'
import { changeMembers, loseDirectory, type MemberChanges } from './member-nemeses.ts'
import type { NodeDisk } from './node-disk.ts'
import type { Operator } from './operator.ts'
import { rollBack } from './rollback-nemesis.ts'
import type { NemesisName, Strike } from './strikes.ts'

/** All that faults are made of. */
export interface Ground {
  readonly cluster: ProcessCluster
  readonly network: HostNetwork
  readonly disks: ReadonlyMap<string, NodeDisk>
  /** Of nodes that are to start with a small one. MiB */
  readonly heaps: Map<string, number>
  readonly operator: Operator
  readonly changes: MemberChanges
  diskOf(nodeId: string): NodeDisk
  /** `choice`: in [0, 1). */
  anyMember(choice: number): string
  /** The member that leads, as soon as there is one. */
  leader(): Promise<string>
  /** Whether every copy that is owed was made; asked again for a while before it is false. */
  isWhole(): Promise<boolean>
}

export interface Fault {
  /** For people: `cut n1 and n2`. */
  readonly what: string
  /** Whose disks are full: they may end, and may say errors. */
  readonly excused?: readonly string[]
  readonly heal: () => Promise<void>
}

export type Nemesis = (ground: Ground, strike: Strike) => Promise<Fault>

const DELAYS_MS = [20, 80, 250]
const LOSSES_PERCENT = [2, 10, 30]

/** A new nemesis is one more row here and one more name in strikes.ts. */
export const NEMESES: Readonly<Record<NemesisName, Nemesis>> = {
  'cut-pair': async (ground, strike) => {
    const pair = anyPair(ground, strike)
    await ground.network.dropBoth(pair)
    return wired(ground, `cut ${namesOf(pair)}`)
  },

  'isolate-leader': async (ground) => isolate(ground, await ground.leader()),

  'isolate-random': (ground, strike) => isolate(ground, anyNode(ground, strike)),

  'one-way': async (ground, strike) => {
    const { a, b } = anyPair(ground, strike)
    const way = strike.choices[1] < 0.5 ? { from: a, to: b } : { from: b, to: a }
    await ground.network.drop(way)
    return wired(ground, `cut ${spaceOf(way.from)} to ${spaceOf(way.to)}, one way`)
  },

  delay: async (ground, strike) => {
    const pair = anyPair(ground, strike)
    const delayMs = chosen(DELAYS_MS, strike.choices[1])
    await ground.network.delay(pair, delayMs)
    return wired(ground, `${delayMs} ms more between ${namesOf(pair)}, each way`)
  },

  loss: async (ground, strike) => {
    const pair = anyPair(ground, strike)
    const percent = chosen(LOSSES_PERCENT, strike.choices[1])
    await ground.network.dropBoth(pair, percent)
    return wired(ground, `${percent} % lost between ${namesOf(pair)}`)
  },

  kill: async (ground, strike) => {
    const victim = strike.choices[1] < 0.5 ? await ground.leader() : anyNode(ground, strike)
    await ground.cluster.signal(victim, 'SIGKILL')
    return { what: `kill ${victim}`, heal: async () => ground.cluster.startNode(victim) }
  },

  'kill-all': async ({ cluster }) => {
    const everyone = cluster.plan.map(({ nodeId }) => nodeId)
    await Promise.all(everyone.map((nodeId) => cluster.signal(nodeId, 'SIGKILL')))
    const heal = async (): Promise<void> => everyone.forEach((nodeId) => cluster.startNode(nodeId))
    return { what: 'kill all', heal }
  },

  pause: async (ground, strike) => {
    const victim = strike.choices[1] < 0.5 ? await ground.leader() : anyNode(ground, strike)
    ground.cluster.pause(victim)
    return { what: `pause ${victim}`, heal: async () => ground.cluster.resume(victim) }
  },

  'full-disk': async (ground, strike) => {
    const victim = anyNode(ground, strike)
    const disk = ground.diskOf(victim)
    await disk.fill()
    return { what: `fill the disk of ${victim}`, excused: [victim], heal: async () => disk.free() }
  },

  'all-disks-full': fillAllDisks,

  'slow-disk': slowDisk,

  'log-eio': unreadableLog,

  memory: smallMemory,

  'lost-copies': async (ground, strike) => {
    const victim = anyNode(ground, strike)
    // The only copy there is could be the one that is lost.
    if (!(await ground.isWhole())) return nothing('no host loses copies while some are owed')
    await ground.cluster.signal(victim, 'SIGKILL')
    ground.diskOf(victim).loseCopies()
    return {
      what: `kill ${victim} and lose its directory of copies`,
      heal: async () => ground.cluster.startNode(victim),
    }
  },

  restart: async (ground, strike) => {
    const victim = strike.choices[1] < 0.5 ? await ground.leader() : anyNode(ground, strike)
    const code = await ground.cluster.signal(victim, 'SIGTERM')
    if (code !== 0) throw new Error(`${victim} ended with ${code} after SIGTERM`)
    return { what: `stop ${victim} in order`, heal: async () => ground.cluster.startNode(victim) }
  },

  members: changeMembers,

  'lost-directory': loseDirectory,

  'rolled-back': rollBack,
}

async function isolate(ground: Ground, victim: string): Promise<Fault> {
  const { network } = ground
  const at = hostOf(victim)
  for (const other of network.hosts) if (other !== at) await network.dropBoth({ a: at, b: other })
  return wired(ground, `cut ${victim} off`)
}

function wired({ network }: Ground, what: string): Fault {
  return { what, heal: () => network.heal() }
}

function nothing(why: string): Fault {
  return { what: `nothing: ${why}`, heal: () => Promise.resolve() }
}

/** Of members, and of those that are about to be. */
function anyPair({ cluster }: Ground, { choices }: Strike): Pair {
  const hosts = [...cluster.plan, ...cluster.spares].map(({ nodeId }) => hostOf(nodeId))
  return chosen(pairsOf(hosts.sort((a, b) => a - b)), choices[0])
}

function anyNode(ground: Ground, { choices }: Strike): string {
  return ground.anyMember(choices[0])
}

export function chosen<T>(list: readonly T[], choice: number): T {
  const one = list[Math.floor(choice * list.length)]
  if (one === undefined) throw new Error('There is nothing to choose from')
  return one
}

const namesOf = ({ a, b }: Pair): string => `${spaceOf(a)} and ${spaceOf(b)}`
