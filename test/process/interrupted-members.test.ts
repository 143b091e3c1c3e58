/**
 * Operations on members whose leader or joining node is killed at the worst moments: each ends without effect or as requested.
 *
 * `npm run interruptions` does it at every step of every operation; test/workers/interrupted-membership.test.ts at every effect of the driver.
 */
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { QUICK_MEMBERS, membershipAt, placed, untilAllowed } from '../helpers/member-steps.ts'
import { ProcessCluster, sha256 } from '../helpers/process-cluster.ts'
import { leaderOf, interrupt, type InterruptedOperation } from '../programs/interruptions/interrupt.ts'
import { faultsIn } from '../programs/interruptions/verdict.ts'

const OBJECTS = 5
const reason = 'tests'

t.test('operations on members are all or nothing [membership.resume]', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3, QUICK_MEMBERS, { spares: 2 })
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
  const objects = new Map<string, string>()
  for (let n = 0; n < OBJECTS; n++) {
    const body = randomBytes(80_000)
    objects.set(`o${n}`, sha256(body))
    t.equal((await cluster.call('n1', 'PUT', `/buckets/kept/objects/o${n}`, body)).status, 200)
  }
  const judged = async (
    t: Test,
    { status, error }: InterruptedOperation,
    ends: Record<string, string>,
  ): Promise<void> => {
    t.same(
      await faultsIn(cluster, { ends, status, objects, copies: null, holder: null }),
      [],
      `${status} ${error ?? ''}`,
    )
  }
  const present = async (): Promise<string> => placed(await membershipAt(cluster, await leaderOf(cluster)))

  await t.test('a joining node that dies for good while it catches up is removed', async (t) => {
    cluster.startJoining('n4')
    const { peerAddress } = cluster.node('n4')
    const requested = { path: '/cluster/voters', body: { nodeId: 'n4', peerAddress, reason } }
    await untilAllowed(cluster, 'n1', requested)
    const before = await present()
    const interruption = {
      requested,
      step: 'catchUp',
      leader: false,
      others: ['n4'],
      fate: 'is gone',
      waitMs: 2_000,
    } as const
    const outcome = await interrupt(cluster, ['n1', 'n2', 'n3'], interruption)
    t.same([outcome.manualSteps, outcome.status], [['cancel: 200'], 'cancelled'])
    await judged(t, outcome, { cancelled: before })
  })

  await t.test('a replacement whose leader dies when votes are about to move', async (t) => {
    cluster.startJoining('n5')
    const { peerAddress } = cluster.node('n5')
    const body = { replacement: { nodeId: 'n5', peerAddress }, reason, confirm: 'n3' }
    const requested = { path: '/cluster/voters/n3/replace', body }
    await untilAllowed(cluster, 'n1', requested)
    const interruption = { requested, step: 'promote', leader: true, others: [], fate: 'comes back' } as const
    const outcome = await interrupt(cluster, ['n1', 'n2', 'n3'], interruption)
    t.equal(outcome.status, 'succeeded', 'it needs no operator')
    await judged(t, outcome, { succeeded: 'n1 active voter, n2 active voter, n5 active voter' })
  })

  const trio = ['n1', 'n2', 'n5']
  let leavingNode = ''
  await t.test('a leader that is demoted and dies when it has to hand over', async (t) => {
    leavingNode = await leaderOf(cluster)
    const requested = { path: `/cluster/voters/${leavingNode}/demote`, body: { reason } }
    const interruption = { requested, step: 'demote', leader: true, others: [], fate: 'comes back' } as const
    const outcome = await interrupt(cluster, trio, interruption)
    const members = trio.map((name) => `${name} ${name === leavingNode ? 'drained learner' : 'active voter'}`)
    await judged(t, outcome, { succeeded: members.join(', ') })
  })

  await t.test('a removal whose leader dies when the member has to leave', async (t) => {
    const requested = {
      path: `/cluster/members/${leavingNode}/remove`,
      body: { reason, confirm: leavingNode },
    }
    const interruption = { requested, step: 'exclude', leader: true, others: [], fate: 'comes back' } as const
    const outcome = await interrupt(cluster, trio, interruption)
    const members = trio.filter((name) => name !== leavingNode).map((name) => `${name} active voter`)
    await judged(t, outcome, { succeeded: members.join(', ') })
  })
})
