/** The arithmetic of majorities, for random small configurations: thesis 4.1 and 4.3. */
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { hasQuorum, quorumIndex } from '../../cluster/raft/quorum.ts'
import type { Configuration, LogIndex, NodeId } from '../../cluster/raft/types.ts'

/** Few names, so that halves overlap in all ways. */
const NAMES: readonly NodeId[] = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const OPTIONS = { seed: 20260801, numRuns: 2000 }
/** For properties that apply to few of the drawn cases. */
const RARE = { ...OPTIONS, maxSkipsPerRun: 1000 }

const members = fc.subarray([...NAMES])
const voters = fc.subarray([...NAMES], { minLength: 1 })
const configurations = fc.record<Configuration>({ voters, learners: members, outgoing: members })
const plain = voters.map((list): Configuration => ({ voters: list, learners: [], outgoing: [] }))
const indexes = fc.array(fc.nat({ max: 9 }), { minLength: NAMES.length, maxLength: NAMES.length })

function holds<T>(t: Test, property: fc.IRawProperty<T>, options: fc.Parameters<T> = OPTIONS): void {
  t.doesNotThrow(() => fc.assert(property, options))
}

function agreeing(names: readonly NodeId[]): (nodeId: NodeId) => boolean {
  return (nodeId) => names.includes(nodeId)
}

function reachedBy(reached: readonly LogIndex[]): (nodeId: NodeId) => LogIndex {
  return (nodeId) => reached[NAMES.indexOf(nodeId)] ?? 0
}

function half(list: readonly NodeId[]): Configuration {
  return { voters: list, learners: [], outgoing: [] }
}

t.test('[thesis 4.1] two quorums', async (t) => {
  t.test('of one configuration always share a member that counts in it', async (t) => {
    holds(
      t,
      fc.property(configurations, members, members, (configuration, one, other) => {
        fc.pre(hasQuorum(configuration, agreeing(one)) && hasQuorum(configuration, agreeing(other)))
        return configuration.voters.some((nodeId) => one.includes(nodeId) && other.includes(nodeId))
      }),
      RARE,
    )
  })

  t.test('of configurations that differ by one vote always share a member', async (t) => {
    holds(
      t,
      fc.property(voters, fc.constantFrom(...NAMES), members, members, (before, moved, one, other) => {
        const after = before.includes(moved) ? before.filter((id) => id !== moved) : [...before, moved]
        fc.pre(after.length > 0)
        fc.pre(hasQuorum(half(before), agreeing(one)) && hasQuorum(half(after), agreeing(other)))
        return one.some((nodeId) => other.includes(nodeId))
      }),
      RARE,
    )
  })

  t.test('of configurations that differ by more may be disjoint: so a joint one is needed', async (t) => {
    t.throws(() =>
      fc.assert(
        fc.property(plain, plain, members, members, (before, after, one, other) => {
          fc.pre(hasQuorum(before, agreeing(one)) && hasQuorum(after, agreeing(other)))
          return one.some((nodeId) => other.includes(nodeId))
        }),
        { ...OPTIONS, maxSkipsPerRun: 1000 },
      ),
    )
  })
})

t.test('[thesis 4.3] a joint quorum', async (t) => {
  t.test('is a quorum of the old and of the new half, and nothing less', async (t) => {
    holds(
      t,
      fc.property(voters, voters, members, (incoming, outgoing, agreed) => {
        const joint: Configuration = { voters: incoming, learners: [], outgoing }
        const both =
          hasQuorum(half(incoming), agreeing(agreed)) && hasQuorum(half(outgoing), agreeing(agreed))
        return hasQuorum(joint, agreeing(agreed)) === both
      }),
    )
  })

  t.test('meets every quorum of the old half and every quorum of the new half', async (t) => {
    holds(
      t,
      fc.property(voters, voters, members, members, (incoming, outgoing, jointly, alone) => {
        const joint: Configuration = { voters: incoming, learners: [], outgoing }
        fc.pre(hasQuorum(joint, agreeing(jointly)))
        fc.pre(hasQuorum(half(incoming), agreeing(alone)) || hasQuorum(half(outgoing), agreeing(alone)))
        return jointly.some((nodeId) => alone.includes(nodeId))
      }),
      RARE,
    )
  })
})

t.test('hasQuorum', async (t) => {
  t.test('does not depend on learners, on unknown nodes or on the order of the members', async (t) => {
    holds(
      t,
      fc.property(configurations, members, (configuration, agreed) => {
        const { voters: list, outgoing } = configuration
        const counted = agreed.filter((nodeId) => list.includes(nodeId) || outgoing.includes(nodeId))
        const reversed = { voters: list.toReversed(), learners: [], outgoing: outgoing.toReversed() }
        return hasQuorum(configuration, agreeing(agreed)) === hasQuorum(reversed, agreeing(counted))
      }),
    )
  })

  t.test('is never lost when one more member agrees', async (t) => {
    holds(
      t,
      fc.property(configurations, members, fc.constantFrom(...NAMES), (configuration, agreed, one) => {
        const before = hasQuorum(configuration, agreeing(agreed))
        return !before || hasQuorum(configuration, agreeing([...agreed, one]))
      }),
    )
  })

  t.test('cannot hold for a set and for the rest at once', async (t) => {
    holds(
      t,
      fc.property(configurations, members, (configuration, agreed) => {
        const rest = NAMES.filter((nodeId) => !agreed.includes(nodeId))
        return !(hasQuorum(configuration, agreeing(agreed)) && hasQuorum(configuration, agreeing(rest)))
      }),
    )
  })
})

t.test('quorumIndex', async (t) => {
  t.test('is the highest index that a quorum has reached', async (t) => {
    holds(
      t,
      fc.property(configurations, indexes, (configuration, reached) => {
        const at = reachedBy(reached)
        const candidates = [...new Set([0, ...reached])].toSorted((a, b) => b - a)
        const highest = candidates.find((index) => hasQuorum(configuration, (nodeId) => at(nodeId) >= index))
        return quorumIndex(configuration, at) === highest
      }),
    )
  })

  t.test('never falls when a member reaches a higher index', async (t) => {
    holds(
      t,
      fc.property(
        configurations,
        indexes,
        fc.nat({ max: NAMES.length - 1 }),
        (configuration, reached, who) => {
          const further = reached.map((index, i) => (i === who ? index + 1 : index))
          return (
            quorumIndex(configuration, reachedBy(further)) >= quorumIndex(configuration, reachedBy(reached))
          )
        },
      ),
    )
  })
})
