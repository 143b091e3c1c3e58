/** Changes of the members as operators meet them: asked twice, asked in a hurry, asked without a word on the zone. */
import t from 'tap'
import { membersOf } from '../../src/state-machine/members/members.ts'
import { until } from '../helpers/async.ts'
import { answering, begin } from './membership-world.ts'

const PEER = '10.0.0.4:9002'
const reason = 'tests'

t.test('a join in the same words is answered as the one that runs [membership.join.repeated]', async (t) => {
  const { ask, act, world } = await begin(t)
  const join = { nodeId: 'n4', peerAddress: PEER, zone: 'z', reason }
  const first = await ask('/cluster/voters', join)
  t.match(first, { status: 202, json: { type: 'join', status: 'running' } })
  const { operationId } = first.json
  t.match(await ask('/cluster/voters', join), { status: 202, json: { operationId } })
  const twice = await ask('/cluster/voters', { ...join, reason: 'in other words' }, '?dryRun=true')
  t.match(twice, { status: 200, json: { allowed: true } })
  t.equal(world.memory.services.state.unfinishedOperations().length, 1)
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

t.test('rows decide before anybody is asked for a replacement', async (t) => {
  const { ask } = await begin(t, answering('unreachable'))
  const replacement = { nodeId: 'n4', peerAddress: PEER }
  const replace = { replacement, reason, confirm: 'nobody' }
  t.match(await ask('/cluster/voters/nobody/replace', replace), { status: 404, code: 'not_found' })
  const stale = { replacement, reason, confirm: 'n3', expectedConfigIndex: 77 }
  t.match(await ask('/cluster/voters/n3/replace', stale), { status: 409, code: 'stale_config_index' })
})

t.test('an operation says from its first second how much there is to do [membership.totals]', async (t) => {
  const { ask, world } = await begin(t)
  const { status, json } = await ask('/cluster/voters/n3/demote', { reason }, '?dryRun=true')
  t.match({ status, json }, { status: 200, json: { plan: { copiesToMove: Number, bytesToMove: Number } } })
  const plan = json['plan'] as { copiesToMove: number; bytesToMove: number }
  const warnings = json['warnings'] as readonly string[]
  t.match(warnings[0], /^This cannot be taken back: once the vote of "n3" has moved/)
  const begun = await ask('/cluster/voters/n3/demote', { reason })
  t.match(begun, {
    status: 202,
    json: {
      progress: { blobsTotal: plan.copiesToMove, bytesTotal: plan.bytesToMove },
      etaSeconds: Number,
    },
  })
  t.ok(world.memory.services.state.unfinishedOperations().every(({ dueAt }) => dueAt !== undefined))
})

t.test(
  'lost is answered when the vote is gone, or says that it goes on [membership.lost.answered]',
  async (t) => {
    const { ask, world } = await begin(t)
    const { state } = world.memory.services
    const requested = { reason, confirm: 'n3' }
    const answer = ask('/cluster/voters/n3/lost', requested)
    await until('it has begun', async () => state.unfinishedOperations().length === 1)
    const [{ operationId, phase } = { operationId: '', phase: '' }] = state.unfinishedOperations()
    t.equal(phase, 'taking its vote')
    const again = ask('/cluster/voters/n3/lost', requested)
    const told = {
      type: 'stepMembership',
      operationId,
      from: 'exclude',
      to: 'repair',
      phase: 'copies',
    } as const
    await world.memory.change(told)
    t.match(await answer, { status: 200, json: { operationId, phase: 'copies' } })
    t.match(await again, { status: 200, json: { operationId, phase: 'copies' } })
  },
)

t.test('a replacement stands in the zone of the replaced member [membership.replace.zone]', async (t) => {
  const { ask, world } = await begin(t)
  const replace = { replacement: { nodeId: 'n4', peerAddress: PEER }, reason, confirm: 'n3' }
  t.match(await ask('/cluster/voters/n3/replace', replace), { status: 202 })
  const { members } = membersOf(world.memory.services.state.view)
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
  const { ask: stranger } = await begin(t, answering('expelled'))
  const unheard = await stranger('/cluster/voters', join)
  t.match(unheard, { status: 409, code: 'member_tombstoned' })
  t.match(unheard.json['message'], /another data directory .*set node\.id to .* instead of "n4"/)
  const own = await begin(t, answering({ registered: 'life' }))
  t.match(await own.ask('/cluster/voters', join), { status: 202 }, 'the same directory may come again')
})
