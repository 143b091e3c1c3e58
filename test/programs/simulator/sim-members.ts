/**
 * Changes of the members in a simulated world: the requests to the leader, and the nodes that must live for the group to continue.
 *
 * Owns: the draw of the next members. Knows nothing of: how a change is made. Rule: a request may be refused, may be
 * lost with its leader or completed by the next; when it is answered, it has been in force.
 */
import { Condition, MembershipRefusedError } from '../../../cluster/base/types.ts'
import type { Configuration, NodeId, TargetConfiguration } from '../../../cluster/raft/types.ts'
import { isQuorum } from './quorums.ts'
import type { Random } from './random.ts'
import type { SimHost } from './sim-host.ts'
import { TEARS_VOTERS_MIN, type SimWorld } from './sim-world.ts'

type Place = 'voter' | 'learner' | 'outside'

/** Asks the leader for other members; most often one or two of them change. */
export function changeMembers(world: SimWorld, random: Random): void {
  const { leader, scheduler, checks } = world
  const process = leader?.process ?? null
  const status = process?.status() ?? null
  if (leader === null || process === null || status === null) return
  const target = drawTarget(world, status.configuration, random)
  const expectedIndex = random.chance(0.5) ? status.configurationIndex : null
  scheduler.note(
    () =>
      `${leader.id} is asked for voters ${target.voters.join(' ')}, learners ${target.learners.join(' ')}`,
  )
  process.node.changeConfiguration(target, expectedIndex).then(
    () => {
      if (!process.isDead) checks.membersChanged(leader.id, target)
    },
    (error: unknown) => {
      if (error instanceof Condition || error instanceof MembershipRefusedError) return
      scheduler.violate(`a change of the members ends in ${String(error)}`)
    },
  )
}

function drawTarget(world: SimWorld, now: Configuration, random: Random): TargetConfiguration {
  const places = new Map<NodeId, Place>(world.hosts.map(({ id }) => [id, placeIn(now, id)]))
  const changes = random.chance(0.7) ? 1 + random.below(2) : world.hosts.length
  for (const { id } of random.shuffle([...world.hosts]).slice(0, changes))
    places.set(id, random.pick(['voter', 'voter', 'voter', 'learner', 'outside']))
  const voters = idsAt(places, 'voter')
  const least = world.plan.tearsAnywhere ? TEARS_VOTERS_MIN : 1
  if (voters.length < least) return { voters: world.hosts.map(({ id }) => id), learners: [] }
  return { voters, learners: idsAt(places, 'learner') }
}

function placeIn({ voters, learners }: Configuration, id: NodeId): Place {
  if (voters.includes(id)) return 'voter'
  return learners.includes(id) ? 'learner' : 'outside'
}

function idsAt(places: ReadonlyMap<NodeId, Place>, wanted: Place): NodeId[] {
  return [...places].filter(([, place]) => place === wanted).map(([id]) => id)
}

/** As few of `hosts`, in their order and at least a majority, as can decide under each configuration that may be in force. */
export function enoughToDecide(
  hosts: readonly SimHost[],
  least: number,
  configurations: readonly Configuration[],
): readonly SimHost[] {
  for (let count = least; count < hosts.length; count += 1) {
    const chosen = hosts.slice(0, count)
    const ids = new Set(chosen.map(({ id }) => id))
    if (configurations.every((configuration) => isQuorum(configuration, ids))) return chosen
  }
  return hosts
}
