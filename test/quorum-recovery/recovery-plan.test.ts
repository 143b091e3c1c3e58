/**
 * The plan for a group without a quorum: each refusal, the winner, and the entries that may be missing, against random histories.
 */
import fc from 'fast-check'
import t from 'tap'
import type { NodeFacts } from '../../cluster/quorum-recovery/node-facts.ts'
import { planRecovery, type RecoveryDecision } from '../../cluster/quorum-recovery/recovery-plan.ts'
import { randomHistory, type History } from './histories.ts'

const FIVE = ['n1', 'n2', 'n3', 'n4', 'n5']

function factsOf(nodeId: string, changes: Partial<NodeFacts> = {}): NodeFacts {
  const configuration = { voters: FIVE, learners: [], outgoing: [] }
  return {
    clusterId: 'c',
    nodeId,
    incarnation: `dir-${nodeId}`,
    boot: 3,
    recoveryEpoch: 0,
    pendingPlan: null,
    term: 4,
    votedFor: null,
    base: { index: 0, term: 0 },
    last: { index: 10, term: 4 },
    applied: { index: 8, term: 4 },
    committed: { configuration, index: 0 },
    latest: { configuration, index: 0 },
    fault: null,
    holes: [],
    checksums: [{ index: 8, term: 4, checksum: 'aa' }],
    obstacle: null,
    skips: [],
    registered: [],
    members: FIVE,
    ...changes,
  }
}

const DEAD = { dead: ['n3', 'n4', 'n5'], isRestored: false }
const TWO = [factsOf('n1'), factsOf('n2')]

function codes(reports: readonly NodeFacts[], situation = DEAD): readonly string[] {
  const planned = planRecovery(reports, situation)
  return 'refusals' in planned ? planned.refusals.map(({ code }) => code) : []
}

function decided(reports: readonly NodeFacts[], situation = DEAD): RecoveryDecision {
  const planned = planRecovery(reports, situation)
  if ('refusals' in planned) throw new Error(JSON.stringify(planned.refusals))
  return planned.decision
}

t.test('planRecovery refuses', async (t) => {
  const { voters } = factsOf('n1').latest.configuration
  t.same(codes([]), ['no_reports'])
  t.same(codes([factsOf('n1'), factsOf('n2', { clusterId: 'other' })]), ['foreign_cluster'])
  t.same(codes([...TWO, factsOf('n2')]), ['reported_twice'])
  t.same(codes(TWO, { dead: ['n2', 'n3', 'n4', 'n5'], isRestored: false }), ['dead_but_reported'])
  t.same(codes([factsOf('n1'), factsOf('n2', { fault: 'its log is damaged at 7' })]), ['report_unusable'])
  t.same(codes([factsOf('n1'), factsOf('n2', { recoveryEpoch: 1, pendingPlan: 'rp_1' })]), ['epochs_differ'])
  t.same(codes(TWO, { dead: ['n3', 'n4'], isRestored: false }), ['unaccounted_member'])
  t.same(codes(TWO, { dead: ['n3', 'n4', 'n5', 'n9'], isRestored: false }), ['unknown_member'])
  t.same(codes([...TWO, factsOf('n3')], { dead: ['n4', 'n5'], isRestored: false }), ['quorum_left'])
  const without = { voters: voters.filter((voter) => voter !== 'n2'), learners: [], outgoing: [] }
  const newer = factsOf('n1', { last: { index: 11, term: 4 }, latest: { configuration: without, index: 11 } })
  t.same(
    codes([newer, factsOf('n2')]),
    ['not_a_member'],
    'the newest configuration counts, not the one that the other node knows',
  )
  const other = factsOf('n2', { checksums: [{ index: 8, term: 4, checksum: 'bb' }] })
  t.same(codes([factsOf('n1'), other]), ['states_differ'])
})

t.test('planRecovery names every reason at once, and what to do', async (t) => {
  const planned = planRecovery(
    [factsOf('n1', { recoveryEpoch: 1, pendingPlan: 'rp_1' }), factsOf('n2')],
    DEAD,
  )
  t.match(planned, {
    refusals: [{ message: /n1 at 1 with plan rp_1 pending, n2 at 0; apply the pending plan/ }],
  })
  t.same(codes(TWO, { dead: ['n3'], isRestored: false }), ['unaccounted_member', 'unaccounted_member'])
})

t.test('while two configurations are in force, a majority of each half is a quorum', async (t) => {
  const joint = { voters: ['n1', 'n2', 'n3'], learners: [], outgoing: ['n3', 'n4', 'n5'] }
  const latest = { configuration: joint, index: 9 }
  const both = [factsOf('n1', { latest }), factsOf('n2', { latest })]
  const decision = decided(both)
  t.same(
    decision.configuration,
    { voters: ['n1', 'n2'], learners: [], outgoing: [] },
    'the quorum of the other half is lost',
  )
  t.equal(
    decision.mayMissAfter,
    null,
    'the dead have no quorum of the first half, so they could not decide without a survivor',
  )
  const all = ['n1', 'n3', 'n4'].map((nodeId) => factsOf(nodeId, { latest }))
  t.same(codes(all, { dead: ['n2', 'n5'], isRestored: false }), ['quorum_left'])
})

t.test('the winner would win an election, then has applied more, then is the first by name', async (t) => {
  const winner = (one: Partial<NodeFacts>, other: Partial<NodeFacts>): string =>
    decided([factsOf('n2', other), factsOf('n1', one)]).winner
  t.equal(winner({ last: { index: 90, term: 4 } }, { last: { index: 10, term: 5 } }), 'n2')
  t.equal(winner({ last: { index: 11, term: 4 } }, { last: { index: 10, term: 4 } }), 'n1')
  t.equal(winner({ applied: { index: 7, term: 4 } }, {}), 'n2')
  t.equal(winner({}, {}), 'n1')
})

t.test(
  'the new history begins above every term that a survivor has seen, and one epoch higher',
  async (t) => {
    const reports = [factsOf('n1', { recoveryEpoch: 2 }), factsOf('n2', { recoveryEpoch: 2, term: 77 })]
    t.match(decided(reports), { term: 79, epoch: 3, previous: { index: 10, term: 4 }, certainThrough: 8 })
  },
)

t.test('a learner with a report stays a learner, unless no node has a longer log', async (t) => {
  const configuration = { voters: FIVE.slice(1), learners: ['n1'], outgoing: [] }
  const latest = { configuration, index: 5 }
  const learner = factsOf('n1', { latest })
  const situation = { dead: ['n3', 'n4', 'n5'], isRestored: false }
  const longer = factsOf('n2', { latest, last: { index: 12, term: 4 } })
  t.match(decided([learner, longer], situation), {
    winner: 'n2',
    configuration: { voters: ['n2'], learners: ['n1'] },
  })
  t.match(decided([learner, factsOf('n2', { latest, last: { index: 9, term: 4 } })], situation), {
    winner: 'n1',
    configuration: { voters: ['n1', 'n2'], learners: [] },
  })
})

t.test(
  'restored copies prove nothing by their number, and continue after the last known process',
  async (t) => {
    const reports = FIVE.map((nodeId) => factsOf(nodeId, { registered: [{ nodeId: 'n1', boot: 9 }] }))
    const decision = decided(reports, { dead: [], isRestored: true })
    t.match(decision, { mayMissAfter: 10, isRestored: true, boots: { n1: 9, n2: 3 } })
  },
)

t.test('states are compared only where both have the same entry', async (t) => {
  const lagging = factsOf('n2', {
    applied: { index: 2, term: 1 },
    last: { index: 9, term: 1 },
    checksums: [{ index: 8, term: 1, checksum: 'of an entry that was replaced' }],
  })
  t.same(decided([factsOf('n1'), lagging]).uncompared, [['n1', 'n2']])
})

t.test('in every history: no entry that is certainly committed is lost', async () => {
  fc.assert(
    fc.property(randomHistory, (history) => {
      const { reports, dead } = left(history)
      const planned = planRecovery(reports, { dead, isRestored: false })
      if ('refusals' in planned) return planned.refusals.every(({ code }) => code === 'quorum_left')
      const { winner, previous, mayMissAfter, certainThrough } = planned.decision
      const kept = history.logs.get(winner) ?? []
      const holds = (index: number, term: number): boolean => kept[index - 1] === term
      const applied = reports.every(({ applied: { index, term } }) => index === 0 || holds(index, term))
      const survives = history.committed.every((term, at) => holds(at + 1, term))
      const isProved = mayMissAfter !== null || survives
      return applied && isProved && previous.index === kept.length && certainThrough <= previous.index
    }),
    { numRuns: 3_000 },
  )
})

t.test(
  'histories do lose entries that only the dead had received, and then the plan reports it',
  async (t) => {
    const losses = fc.sample(randomHistory, { numRuns: 3_000, seed: 7 }).filter((history) => {
      const { reports, dead } = left(history)
      const planned = planRecovery(reports, { dead, isRestored: false })
      if ('refusals' in planned) return false
      const kept = history.logs.get(planned.decision.winner) ?? []
      const isLost = history.committed.some((term, at) => kept[at] !== term)
      if (isLost) t.not(planned.decision.mayMissAfter, null)
      return isLost
    })
    t.ok(losses.length > 20, `${losses.length} of the histories`)
  },
)

function left({ logs, applied, voters, dead }: History): {
  readonly reports: readonly NodeFacts[]
  readonly dead: readonly string[]
} {
  const latest = { configuration: { voters, learners: [], outgoing: [] }, index: 0 }
  const reports = voters
    .filter((nodeId) => !dead.includes(nodeId))
    .map((nodeId) => {
      const log = logs.get(nodeId) ?? []
      const index = applied.get(nodeId) ?? 0
      const last = { index: log.length, term: log.at(-1) ?? 0 }
      const term = log[index - 1] ?? 0
      return factsOf(nodeId, { last, latest, applied: { index, term }, checksums: [], members: voters })
    })
  return { reports, dead }
}
