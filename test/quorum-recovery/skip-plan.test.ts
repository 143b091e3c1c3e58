/**
 * The plan for an entry that no node can apply: each refusal, and the conditions of the order.
 */
import fc from 'fast-check'
import t from 'tap'
import type { Obstacle } from '../../cluster/node/state/apply-failure.ts'
import { hasQuorum } from '../../cluster/raft/quorum.ts'
import type { NodeFacts } from '../../cluster/quorum-recovery/node-facts.ts'
import { planSkip, type SkipDecision } from '../../cluster/quorum-recovery/skip-plan.ts'

const THREE = ['n1', 'n2', 'n3']
const ENTRY: Obstacle = {
  index: 11,
  term: 4,
  kind: 'command',
  digest: 'd1',
  why: 'unknown',
  isSkippable: true,
}
const sum = (index: number, checksum = `sum-${index}`) => ({ index, term: 4, checksum })

/** Stops at entry 11 of term 4, with 14 entries in its log. */
function factsOf(nodeId: string, changes: Partial<NodeFacts> = {}): NodeFacts {
  const configuration = { voters: THREE, learners: [], outgoing: [] }
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
    last: { index: 14, term: 4 },
    applied: { index: 9, term: 4 },
    committed: { configuration, index: 0 },
    latest: { configuration, index: 0 },
    fault: null,
    holes: [],
    checksums: [sum(9), sum(10)],
    obstacle: ENTRY,
    skips: [],
    registered: [],
    members: THREE,
    ...changes,
  }
}

const [N1, N2, N3] = [factsOf('n1'), factsOf('n2'), factsOf('n3')]
/** Its log ends before the entry. */
const BEHIND: Partial<NodeFacts> = {
  obstacle: null,
  last: { index: 9, term: 4 },
  applied: { index: 8, term: 4 },
  checksums: [sum(8), sum(9)],
}
const ORDERED = { skips: [{ planId: 'sp_1', index: 11, term: 4 }], obstacle: null }

function codes(reports: readonly NodeFacts[], dead: readonly string[] = []): readonly string[] {
  const planned = planSkip(reports, dead)
  return 'refusals' in planned ? planned.refusals.map(({ code }) => code) : []
}

function decided(reports: readonly NodeFacts[], dead: readonly string[] = []): SkipDecision {
  const planned = planSkip(reports, dead)
  if ('refusals' in planned) throw new Error(JSON.stringify(planned.refusals))
  return planned.decision
}

t.test('planSkip refuses', async (t) => {
  const refused = (name: string, reports: readonly NodeFacts[], dead: readonly string[] = []): void => {
    t.strictSame([...new Set(codes(reports, dead))], [name], name)
  }
  refused('no_reports', [])
  refused('foreign_cluster', [N1, N2, factsOf('n3', { clusterId: 'other' })])
  refused('reported_twice', [N1, N2, N3, N3])
  refused('dead_but_reported', [N1, N2, N3], ['n3'])
  refused('report_unusable', [N1, N2, factsOf('n3', { fault: 'its log is damaged at 7' })])
  refused('epochs_differ', [N1, N2, factsOf('n3', { recoveryEpoch: 1, pendingPlan: 'rp_1' })])
  const clear = { obstacle: null, checksums: [sum(9), sum(10), sum(11), sum(14)] }
  refused('nothing_to_skip', [factsOf('n1', clear), factsOf('n2', clear), factsOf('n3', clear)])
  const configuration = { obstacle: { ...ENTRY, kind: 'configuration', isSkippable: false } } as const
  refused('not_skippable', [
    factsOf('n1', configuration),
    factsOf('n2', configuration),
    factsOf('n3', configuration),
  ])
  refused('skipped_before', [N1, N2, factsOf('n3', ORDERED)])
  refused('skipped_before', [N1, N2, factsOf('n3', { ...ORDERED, applied: { index: 12, term: 5 } })])
  refused('already_applied', [N1, N2, factsOf('n3', { ...clear, applied: { index: 11, term: 4 } })])
  refused('applicable', [N1, N2, factsOf('n3', clear)])
  refused('applicable', [N1, N2, factsOf('n3', { ...clear, last: { index: 15, term: 4 } })])
  refused('obstacles_differ', [N1, N2, factsOf('n3', { obstacle: { ...ENTRY, index: 10 } })])
  refused('obstacles_differ', [N1, N2, factsOf('n3', { obstacle: { ...ENTRY, digest: 'd2' } })])
  refused('unaccounted_voter', [N1, N2])
  refused('unknown_member', [N1, N2, N3], ['n9'])
  refused('states_differ', [N1, N2, factsOf('n3', { checksums: [sum(9), sum(10, 'other')] })])
  refused('states_differ', [N1, N2, factsOf('n3', { ...BEHIND, checksums: [sum(9, 'other')] })])
  refused('not_committed', [N1, factsOf('n2', BEHIND), factsOf('n3', BEHIND)])
  const later = { ...BEHIND, last: { index: 9, term: 5 } }
  t.ok(
    codes([factsOf('n1', { last: { index: 14, term: 6 } }), N2, factsOf('n3', later)]).includes(
      'not_committed',
    ),
  )
  refused('not_committed', [N1], ['n2', 'n3'])
})

t.test('planSkip binds the order to the entry and to the state before it', async (t) => {
  t.match(decided([N1, N2, N3]), {
    index: 11,
    term: 4,
    digest: 'd1',
    why: 'unknown',
    before: sum(10),
    holders: THREE,
    behind: [],
    uncompared: [],
    dead: [],
  })
  t.match(decided([N1, N2, factsOf('n3', BEHIND)]), { holders: ['n1', 'n2'], behind: ['n3'], uncompared: [] })
  const far = { ...BEHIND, last: { index: 3, term: 2 }, applied: { index: 3, term: 2 }, checksums: [sum(3)] }
  t.match(decided([N1, N2, factsOf('n3', far)]), { behind: ['n3'], uncompared: ['n3'] })
  const stale = {
    ...BEHIND,
    last: { index: 12, term: 3 },
    obstacle: { ...ENTRY, index: 12, term: 3, digest: 'x' },
  }
  t.match(
    decided([N1, N2, factsOf('n3', stale)]),
    { behind: ['n3'] },
    'an entry of an older leader gives way',
  )
  t.match(decided([N1, N2], ['n3']), { holders: ['n1', 'n2'], dead: ['n3'] })
  const learner = factsOf('n4')
  const configuration = { voters: THREE, learners: ['n4'], outgoing: [] }
  const latest = { configuration, index: 7 }
  const group = [N1, N2, N3].map((report) => ({ ...report, latest }))
  t.match(decided([...group, { ...learner, latest }]), { holders: [...THREE, 'n4'] })
  t.match(decided(group), { holders: THREE }, 'a learner without a report can be ordered later')
})

t.test(
  'a plan is only made where a majority of the voters holds the entry and none has passed it',
  async () => {
    const kinds = {
      holds: {},
      behind: BEHIND,
      passed: { obstacle: null, applied: { index: 13, term: 4 }, checksums: [sum(13)] },
      ordered: ORDERED,
      different: { checksums: [sum(10, 'other')] },
    } satisfies Record<string, Partial<NodeFacts>>
    const kind = fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[]))
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, fc.boolean()), { minLength: 1, maxLength: 5 }), (nodes) => {
        const voters = nodes.map((_, n) => `n${n + 1}`)
        const configuration = { voters, learners: [], outgoing: [] }
        const shared = { latest: { configuration, index: 0 }, members: voters }
        const present = nodes.flatMap(([is, isDead], n) => (isDead ? [] : { is, nodeId: `n${n + 1}` }))
        const dead = nodes.flatMap(([, isDead], n) => (isDead ? `n${n + 1}` : []))
        const planned = planSkip(
          present.map(({ is, nodeId }) => factsOf(nodeId, { ...shared, ...kinds[is] })),
          dead,
        )
        if ('refusals' in planned) return planned.refusals.length > 0
        const { holders, behind } = planned.decision
        const of = (...names: readonly string[]) => present.filter(({ is }) => names.includes(is))
        const isOneState = of('different').length === 0 || of('holds').length === 0
        return (
          hasQuorum(configuration, (nodeId) => holders.includes(nodeId)) &&
          isOneState &&
          of('passed', 'ordered').length === 0 &&
          of('holds', 'different').length === holders.length &&
          of('behind').length === behind.length
        )
      }),
      { numRuns: 500 },
    )
  },
)
