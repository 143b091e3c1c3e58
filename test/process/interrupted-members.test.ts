/**
 * Operations on members whose leader or newcomer is killed at the worst moments: each ends as before or as asked for.
 *
 * `npm run interruptions` does it at every step of every operation; test/workers/interrupted-membership.test.ts at every effect of the driver.
 */
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { QUICK_MEMBERS, membershipAt, placed, untilAllowed } from '../helpers/member-steps.ts'
import { ProcessCluster, sha256 } from '../helpers/process-cluster.ts'
import { leaderOf, strike, type Struck } from '../programs/interruptions/strike.ts'
import { faultsIn } from '../programs/interruptions/verdict.ts'

const OBJECTS = 5
const reason = 'tests'

t.test('operations on members are all or nothing [membership.resume]', { timeout: 900_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3, QUICK_MEMBERS, { spares: 2 })
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
  const objects = new Map<string, string>()
  for (let n = 0; n < OBJECTS; n++) {
    const body = randomBytes(80_000)
    objects.set(`o${n}`, sha256(body))
    t.equal((await cluster.call('n1', 'PUT', `/buckets/kept/objects/o${n}`, body)).status, 200)
  }
  const judged = async (t: Test, { status, error }: Struck, ends: Record<string, string>): Promise<void> => {
    t.same(
      await faultsIn(cluster, { ends, status, objects, copies: null, holder: null }),
      [],
      `${status} ${error ?? ''}`,
    )
  }
  const present = async (): Promise<string> => placed(await membershipAt(cluster, await leaderOf(cluster)))

  await t.test('a newcomer that dies for good while it catches up is sent away', async (t) => {
    cluster.startJoining('n4')
    const { peerAddress } = cluster.node('n4')
    const requested = { path: '/cluster/voters', body: { nodeId: 'n4', peerAddress, reason } }
    await untilAllowed(cluster, 'n1', requested)
    const before = await present()
    const blow = {
      requested,
      step: 'catchUp',
      leader: false,
      others: ['n4'],
      fate: 'is gone',
      patienceMs: 2_000,
    } as const
    const struck = await strike(cluster, ['n1', 'n2', 'n3'], blow)
    t.same([struck.byHand, struck.status], [['cancel: 200'], 'cancelled'])
    await judged(t, struck, { cancelled: before })
  })

  await t.test('a replacement whose leader dies when votes are about to move', async (t) => {
    cluster.startJoining('n5')
    const { peerAddress } = cluster.node('n5')
    const body = { replacement: { nodeId: 'n5', peerAddress }, reason, confirm: 'n3' }
    const requested = { path: '/cluster/voters/n3/replace', body }
    await untilAllowed(cluster, 'n1', requested)
    const blow = { requested, step: 'promote', leader: true, others: [], fate: 'comes back' } as const
    const struck = await strike(cluster, ['n1', 'n2', 'n3'], blow)
    t.equal(struck.status, 'succeeded', 'it needs nobody')
    await judged(t, struck, { succeeded: 'n1 active voter, n2 active voter, n5 active voter' })
  })

  const trio = ['n1', 'n2', 'n5']
  let leavingNode = ''
  await t.test('a leader that is demoted and dies when it is to hand over', async (t) => {
    leavingNode = await leaderOf(cluster)
    const requested = { path: `/cluster/voters/${leavingNode}/demote`, body: { reason } }
    const blow = { requested, step: 'demote', leader: true, others: [], fate: 'comes back' } as const
    const struck = await strike(cluster, trio, blow)
    const members = trio.map((name) => `${name} ${name === leavingNode ? 'drained learner' : 'active voter'}`)
    await judged(t, struck, { succeeded: members.join(', ') })
  })

  await t.test('a removal whose leader dies when the member is to leave', async (t) => {
    const requested = {
      path: `/cluster/members/${leavingNode}/remove`,
      body: { reason, confirm: leavingNode },
    }
    const blow = { requested, step: 'exclude', leader: true, others: [], fate: 'comes back' } as const
    const struck = await strike(cluster, trio, blow)
    const members = trio.filter((name) => name !== leavingNode).map((name) => `${name} active voter`)
    await judged(t, struck, { succeeded: members.join(', ') })
  })
})
