/** Changes of the members as operators send them: repeated, in quick succession, without a zone. */
import t from 'tap'
import { membersOf } from '../../src/state-machine/members/members.ts'
import { until } from '../helpers/async.ts'
import { answering, begin } from './membership-world.ts'
import { unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'

const PEER = '10.0.0.4:9002'
const reason = 'tests'

t.test('a repeated join is answered with the running operation [membership.join.repeated]', async (t) => {
  const { ask, act, world } = await begin(t)
  const join = { nodeId: 'n4', peerAddress: PEER, zone: 'z', reason }
  const first = await ask('/cluster/voters', join)
  t.match(first, { status: 202, json: { type: 'join', status: 'running' } })
  const { operationId } = first.json
  t.match(await ask('/cluster/voters', join), { status: 202, json: { operationId } })
  const twice = await ask('/cluster/voters', { ...join, reason: 'in other words' }, '?dryRun=true')
  t.match(twice, { status: 200, json: { allowed: true } })
  t.equal(unfinishedOperations(world.memory.services.state).length, 1)
  for (const other of [{ zone: 'other' }, { peerAddress: '10.0.0.5:9002' }, { weight: 7 }])
    t.match(await ask('/cluster/voters', { ...join, ...other }), { status: 409, code: 'member_exists' })
  const cancelled = await act(`/cluster/operations/${String(operationId)}/cancel`)
  t.match(cancelled, { status: 200 })
  t.match(await ask('/cluster/voters', join), {
    status: 409,
    code: 'membership_change_in_progress',
    json: { message: /was given up and still sends it away; ask again in a moment/ },
  })
})

t.test('rows decide before the replacement node is contacted', async (t) => {
  const { ask } = await begin(t, answering('unreachable'))
  const replacement = { nodeId: 'n4', peerAddress: PEER }
  const replace = { replacement, reason, confirm: 'absent' }
  t.match(await ask('/cluster/voters/absent/replace', replace), { status: 404, code: 'not_found' })
  const stale = { replacement, reason, confirm: 'n3', expectedConfigIndex: 77 }
  t.match(await ask('/cluster/voters/n3/replace', stale), { status: 409, code: 'stale_config_index' })
})

t.test('an operation reports its total from the first second [membership.totals]', async (t) => {
  const { ask, world } = await begin(t)
  const { status, json } = await ask('/cluster/voters/n3/demote', { reason }, '?dryRun=true')
  t.match({ status, json }, { status: 200, json: { plan: { copiesToMove: Number, bytesToMove: Number } } })
  const plan = json['plan'] as { copiesToMove: number; bytesToMove: number }
  const warnings = json['warnings'] as readonly string[]
  t.match(warnings[0], /^This cannot be taken back: once the vote of "n3" has moved/)
  const started = await ask('/cluster/voters/n3/demote', { reason })
  t.match(started, {
    status: 202,
    json: {
      progress: { blobsTotal: plan.copiesToMove, bytesTotal: plan.bytesToMove },
      etaSeconds: Number,
    },
  })
  t.ok(unfinishedOperations(world.memory.services.state).every(({ dueAt }) => dueAt !== undefined))
})

t.test(
  'markLost answers when the vote is gone, or that it continues [membership.lost.answered]',
  async (t) => {
    const { ask, world } = await begin(t)
    const { state } = world.memory.services
    const requested = { reason, confirm: 'n3' }
    const answer = ask('/cluster/voters/n3/lost', requested)
    await until('it has started', async () => unfinishedOperations(state).length === 1)
    const [{ operationId, phase } = { operationId: '', phase: '' }] = unfinishedOperations(state)
    t.equal(phase, 'taking its vote')
    const again = ask('/cluster/voters/n3/lost', requested)
    const reported = {
      type: 'stepMembership',
      operationId,
      from: 'exclude',
      to: 'repair',
      phase: 'copies',
    } as const
    await world.memory.change(reported)
    t.match(await answer, { status: 200, json: { operationId, phase: 'copies' } })
    t.match(await again, { status: 200, json: { operationId, phase: 'copies' } })
  },
)

t.test('a replacement is in the zone of the replaced member [membership.replace.zone]', async (t) => {
  const { ask, world } = await begin(t)
  const replace = { replacement: { nodeId: 'n4', peerAddress: PEER }, reason, confirm: 'n3' }
  t.match(await ask('/cluster/voters/n3/replace', replace), { status: 202 })
  const { members } = membersOf(world.memory.services.state)
  const zone = (name: string) => members.find(({ nodeId }) => nodeId === name)?.zone
  t.equal(zone('n4'), zone('n3'))
  t.not(zone('n4'), 'default')
})

t.test('a name that another data directory owns is refused at once [membership.join.owned]', async (t) => {
  const join = { nodeId: 'n4', peerAddress: PEER, reason }
  const { ask } = await begin(t, answering({ registered: 'an earlier life' }))
  const refused = await ask('/cluster/voters', join)
  t.match(refused, { status: 409, code: 'member_tombstoned' })
  t.match(
    refused.json['message'],
    /an earlier life has joined under this name before and owns it; start the node with that directory and --join; if it is gone, set node\.id to a name that was never used, leave node\.data_dir empty, start the node with --join, and join it under that name instead of "n4"/,
  )
  const { ask: foreign } = await begin(t, answering('expelled'))
  const unreceived = await foreign('/cluster/voters', join)
  t.match(unreceived, { status: 409, code: 'member_tombstoned' })
  t.match(unreceived.json['message'], /another data directory .*set node\.id to .* instead of "n4"/)
  const own = await begin(t, answering({ registered: 'life' }))
  t.match(await own.ask('/cluster/voters', join), { status: 202 }, 'the same directory may join again')
})
