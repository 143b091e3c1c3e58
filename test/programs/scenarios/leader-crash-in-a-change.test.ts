/**
 * A change of members, with the leader crashing at every possible moment of it, and every survivor trying to lead next.
 *
 * The moments are the single events of a run without faults: a message arrives, a write is done, entries are applied. After each
 * case the group must be in the old or in the new configuration, complete, with one leader and equal states.
 */
import t from 'tap'
import { membersOf } from '../../../cluster/raft/configuration.ts'
import { TestNetwork, configurationOf } from '../../raft/network.ts'
import type { Configuration, NodeId, TargetConfiguration } from '../../../cluster/raft/types.ts'

interface Change {
  readonly name: string
  readonly before: Configuration
  readonly spares: readonly NodeId[]
  readonly target: TargetConfiguration
}

const THREE = configurationOf('a', 'b', 'c')

const CHANGES: readonly Change[] = [
  {
    name: 'adds a learner',
    before: THREE,
    spares: ['d'],
    target: { voters: ['a', 'b', 'c'], learners: ['d'] },
  },
  {
    name: 'promotes a learner',
    before: { ...THREE, learners: ['d'] },
    spares: [],
    target: configurationOf('a', 'b', 'c', 'd'),
  },
  { name: 'demotes a voter', before: THREE, spares: [], target: { voters: ['a', 'b'], learners: ['c'] } },
  { name: 'removes its leader', before: THREE, spares: [], target: configurationOf('b', 'c') },
  { name: 'replaces a voter', before: THREE, spares: ['d'], target: configurationOf('a', 'b', 'd') },
  { name: 'replaces its leader', before: THREE, spares: ['d'], target: configurationOf('b', 'c', 'd') },
  {
    name: 'replaces all but one',
    before: THREE,
    spares: ['d', 'e'],
    target: { voters: ['c', 'd', 'e'], learners: ['a'] },
  },
]

/** The next event of a run without faults; false when no event is left. */
function happen(network: TestNetwork): boolean {
  const message = network.messages.shift()
  if (message !== undefined) {
    network.deliver(message)
    return true
  }
  for (const [id, node] of network.nodes) {
    if (node.walQueue.length > 0) network.confirmWal(id)
    else if (node.applyQueue.length > 0) network.apply(id)
    else continue
    return true
  }
  return false
}

/** The change is in progress after this many of its events; null when it is over before that. */
function started({ before, spares, target }: Change, events: number): TestNetwork | null {
  const network = new TestNetwork(before, { spares, electionTicks: 5 })
  network.elect('a')
  network.propose('a')
  network.settle()
  network.configure('a', target)
  for (let i = 0; i < events; i += 1) if (!happen(network)) return null
  return network
}

/** Only `heir` gets ticks until a node leads; then every node does, the crashed one too. */
function recover(network: TestNetwork, heir: NodeId): void {
  network.crash('a')
  network.messages = []
  for (const id of network.nodes.keys()) {
    for (let i = 0; i < network.electionTicks; i += 1) if (id !== heir) network.input(id, { type: 'tick' })
  }
  for (let i = 0; i < 4 * network.electionTicks && network.leaders().length === 0; i += 1) {
    network.input(heir, { type: 'tick' })
    network.settle()
  }
  network.tickAll(2 * network.electionTicks)
  network.restart('a')
  network.tickAll(8 * network.electionTicks)
}

function textOf({
  voters,
  learners,
  outgoing,
}: Configuration | (TargetConfiguration & { outgoing?: never })): string {
  const sorted = [voters, learners, outgoing ?? []].map((list) => list.toSorted().join(' '))
  return sorted.join(' | ')
}

t.test('[thesis 4] a leader that crashes while it', async (t) => {
  for (const change of CHANGES) {
    t.test(
      `${change.name} leaves a complete group, for any time of the crash and any next leader`,
      async (t) => {
        const ends = [textOf(change.before), textOf(change.target)]
        const seen = new Set<string>()
        let cases = 0
        for (let events = 0; started(change, events) !== null; events += 1) {
          for (const heir of membersOf({ ...change.before, outgoing: change.target.voters })) {
            const network = started(change, events)
            if (network === null || heir === 'a') continue
            const place = `after ${events} events, ${heir} next`
            recover(network, heir)
            const [leader = ''] = network.leaders()
            if (network.leaders().length !== 1) t.fail(`${place}: ${network.leaders().length} lead`)
            const { configuration, lastIndex } = network.status(leader)
            const end = textOf(configuration)
            if (!ends.includes(end)) t.fail(`${place}: ends in ${end}`)
            seen.add(end)
            for (const id of membersOf(configuration)) {
              if (network.status(id).appliedIndex !== lastIndex) t.fail(`${place}: ${id} is behind`)
            }
            network.checker.compareLogs()
            cases += 1
          }
        }
        t.ok(cases > 20, `${cases} cases`)
        t.equal(seen.size, 2, 'some crashes undo the change, some complete it')
      },
    )
  }
})
