/**
 * Members that come, go and die for good while other faults strike.
 *
 * Owns: which change may start now. Knows nothing of: how long it takes; it continues during the strikes that follow.
 * Rules: one change at a time; from VOTERS_MIN to VOTERS_MAX voters; a directory is lost only while no copy is owed; a node
 * that left with its data keeps running.
 */
import type { Ground, Nemesis } from './nemeses.ts'
import type { Strike } from './strikes.ts'

export const VOTERS_MIN = 3
export const VOTERS_MAX = 7

/** The change in progress, if any, and the callbacks of its end. */
export interface MemberChanges {
  readonly underWay: string | null
  begin(what: string, change: () => Promise<void>): void
  /** It has a vote and serves. */
  hasJoined(nodeId: string): void
  /** It has left, and keeps running with its data. */
  hasLeft(nodeId: string): void
}

interface Action {
  /** For people. */
  readonly what: (victim: string) => string
  readonly fits: (voters: number) => boolean
  readonly take: (ground: Ground, victim: string) => Promise<() => Promise<void>>
}

const always = (): boolean => true
const canGrow = (voters: number): boolean => voters < VOTERS_MAX
const canShrink = (voters: number): boolean => voters > VOTERS_MIN

const ACTIONS: readonly Action[] = [
  {
    what: () => 'take in a new member',
    fits: canGrow,
    take: ({ operator, changes }) =>
      Promise.resolve(async () => changes.hasJoined(await operator.join('more room'))),
  },
  {
    what: (victim) => `demote and remove ${victim}`,
    fits: canShrink,
    take: ({ operator, changes }, victim) =>
      Promise.resolve(async () => {
        await operator.demote(victim, 'it is old')
        await operator.remove(victim, 'it is empty')
        changes.hasLeft(victim)
      }),
  },
  {
    what: (victim) => `replace ${victim}`,
    fits: always,
    take: (ground, victim) => Promise.resolve(() => replace(ground, victim)),
  },
  {
    what: (victim) => `kill and replace ${victim}`,
    fits: always,
    take: async (ground, victim) => {
      await bury(ground, victim)
      return () => replace(ground, victim)
    },
  },
  {
    what: (victim) => `kill and call lost ${victim}`,
    fits: canShrink,
    take: async (ground, victim) => {
      await bury(ground, victim)
      return () => callLost(ground, victim)
    },
  },
  {
    what: (victim) => `hand over to ${victim}`,
    fits: always,
    take: ({ operator }, victim) => Promise.resolve(() => operator.transfer(victim, 'its turn')),
  },
]

export const changeMembers: Nemesis = async (ground, { choices }) => {
  const { cluster, changes } = ground
  if (changes.underWay !== null) return nothing(`${changes.underWay} is not done yet`)
  const victim = chosen(cluster.plan, choices[1]).nodeId
  const action = chosen(
    ACTIONS.filter(({ fits }) => fits(cluster.plan.length)),
    choices[0],
  )
  const what = action.what(victim)
  changes.begin(what, await action.take(ground, victim))
  return { what: `begin to ${what}`, heal: () => Promise.resolve() }
}

export const loseDirectory: Nemesis = async (ground, { choices }: Strike) => {
  const { cluster, disks, changes } = ground
  if (changes.underWay !== null) return nothing(`${changes.underWay} is not done yet`)
  if (!(await ground.isWhole())) return nothing('no directory is lost while copies are owed')
  const victim = chosen(cluster.plan, choices[0]).nodeId
  const isCalledLost = canShrink(cluster.plan.length) && choices[1] < 0.5
  await bury(ground, victim)
  disks.get(victim)?.loseEverything()
  const what = `${isCalledLost ? 'call lost' : 'replace'} ${victim}, whose disk is gone`
  changes.begin(what, () => (isCalledLost ? callLost(ground, victim) : replace(ground, victim)))
  return { what: `begin to ${what}`, heal: () => Promise.resolve() }
}

/** It is dead until it has left. */
async function bury({ cluster }: Ground, victim: string): Promise<void> {
  cluster.hasLeft(victim)
  await cluster.signal(victim, 'SIGKILL')
}

async function replace({ operator, changes }: Ground, victim: string): Promise<void> {
  changes.hasJoined(await operator.replace(victim, 'its machine is done for'))
  changes.hasLeft(victim)
}

async function callLost({ operator, changes }: Ground, victim: string): Promise<void> {
  await operator.callLost(victim, 'it is silent')
  await operator.remove(victim, 'all it held is elsewhere')
  changes.hasLeft(victim)
}

const nothing = (why: string) => ({ what: `nothing: ${why}`, heal: () => Promise.resolve() })

function chosen<T>(list: readonly T[], choice: number): T {
  const one = list[Math.floor(choice * list.length)]
  if (one === undefined) throw new Error('There is nothing to choose from')
  return one
}
