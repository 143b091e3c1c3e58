/** Membership over the admin plane: rights, refusals and their codes, plans. */
import t from 'tap'
import type { MembershipPort, MemberStatus } from '../../cluster/index.ts'
import { deferred } from '../helpers/async.ts'
import { singleNodeStatus } from '../helpers/membership-samples.ts'
import { answering, begin, blockers } from './membership-world.ts'
import { unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'

const BASE = '/admin/api/v1'
const PEER = '10.0.0.4:9002'
const reason = 'tests'

t.test(
  'GET /cluster/membership shows votes, the leader and the nodes that answer [membership.get]',
  async (t) => {
    const { ask } = await begin(t)
    const { status, json } = await ask('/cluster/membership')
    t.equal(status, 200)
    t.match(json, {
      leaderId: 'n1',
      quorum: 2,
      failureTolerance: 1,
      changeInProgress: null,
      authoritative: true,
      configIndex: Number,
      recoveries: [],
      members: [
        { nodeId: 'n1', role: 'voter', phase: 'active', isLeader: true, reachable: true, drained: false },
        { nodeId: 'n2', reachable: true, lastContactMs: 20 },
        { nodeId: 'n3', reachable: false, lastContactMs: 60_000 },
      ],
    })
  },
)

t.test('consistency=local answers without a quorum and says so [membership.local]', async (t) => {
  const { world, ask } = await begin(t)
  const { Condition } = await import('../../cluster/index.ts')
  world.memory.barrierFault = new Condition('no_leader', 'No node leads')
  t.match(await ask('/cluster/membership'), { status: 503, code: 'no_leader' })
  const local = await ask('/cluster/membership', undefined, '?consistency=local')
  t.match(local, { status: 200, json: { authoritative: false } })
  world.memory.barrierFault = null
  t.match(await ask('/cluster/membership', undefined, '?consistency=loose'), { status: 400 })
})

t.test('only an owner whose token has no tenant changes members [membership.owner]', async (t) => {
  const { world } = await begin(t)
  const asked = { admin: true, method: 'POST', path: `${BASE}/cluster/voters/n3/demote`, body: { reason } }
  const operator = await world.memory.adminToken('operator')
  t.match(await world.call({ ...asked, token: operator }), { status: 403, code: 'access_denied' })
  await world.memory.tenant('acme')
  const tenant = await world.memory.adminToken('owner', 'acme')
  t.match(await world.call({ ...asked, token: tenant }), { status: 403, code: 'tenant_scope_denied' })
})

t.test('bodies are checked first [membership.body]', async (t) => {
  const { ask } = await begin(t)
  t.match(await ask('/cluster/voters/n3/demote', { reason: ' ' }), { status: 400, code: 'reason_required' })
  t.match(await ask('/cluster/voters/n3/demote', {}), { status: 400 })
  for (const [path, more] of [
    ['/cluster/voters/n3/lost', {}],
    ['/cluster/members/n3/remove', {}],
    ['/cluster/voters/n3/replace', { replacement: { nodeId: 'n4', peerAddress: PEER } }],
  ] as const)
    t.match(
      await ask(path, { reason, confirm: 'n2', ...more }),
      { status: 400, code: 'confirm_mismatch' },
      path,
    )
  t.match(await ask('/cluster/voters', { nodeId: 'n 4', peerAddress: PEER, reason }), {
    status: 400,
    code: 'invalid_request',
  })
  t.match(await ask('/cluster/voters', { nodeId: 'n4', peerAddress: 'nowhere', reason }), { status: 400 })
})

t.test('a joining node is refused by code [membership.join.conflicts]', async (t) => {
  const join = { nodeId: 'n4', peerAddress: PEER, reason }
  const cases: readonly [string, number, string, Partial<MembershipPort>, object?][] = [
    ['an address beyond loopback without TLS', 400, 'invalid_request', answering('unusable_address')],
    ['another cluster', 409, 'foreign_cluster', answering('foreign_cluster')],
    ['a member of another cluster', 409, 'data_not_empty', answering({ isJoining: false })],
    ['a node that accepts no peer', 409, 'data_not_empty', answering('unknown_member')],
    ['a name that is taken', 409, 'member_exists', {}, { nodeId: 'n3' }],
    ['an address that is taken', 409, 'address_in_use', {}, { peerAddress: '10.0.0.2:9002' }],
    ['old eyes', 409, 'stale_config_index', {}, { expectedConfigIndex: 77 }],
  ]
  for (const [what, status, code, changes, more] of cases) {
    const { ask } = await begin(t, changes)
    t.match(await ask('/cluster/voters', { ...join, ...more }), { status, code }, what)
  }
  const { ask: again, world } = await begin(t)
  await again('/cluster/voters/n3/lost', { reason, confirm: 'n3' })
  const id = unfinishedOperations(world.memory.services.state)[0]?.operationId ?? ''
  const reported = {
    type: 'stepMembership',
    operationId: id,
    from: 'exclude',
    to: 'repair',
    phase: '',
  } as const
  await world.memory.change(reported)
  const back = await again('/cluster/voters', { nodeId: 'n3', peerAddress: PEER, reason })
  t.match(back, { status: 409, code: 'member_tombstoned' })
  const { ask: foreign } = await begin(t, answering('expelled'))
  const refused = await foreign('/cluster/voters', join)
  t.match(refused, { status: 409, code: 'member_tombstoned' }, 'the waiting node was notified already')
  const gates: readonly [string, string, Partial<MembershipPort>][] = [
    ['silence', 'member_unreachable', answering('unreachable')],
    ['silence after a broken handshake', 'member_unreachable', answering('unreachable: a certificate')],
    ['somebody who starts', 'learner_not_ready', answering('starting')],
    ['a certificate of another node', 'learner_not_ready', answering('certificate_of_another')],
    ['an old version', 'version_incompatible', answering({ featureLevel: 1 })],
  ]
  for (const [what, gate, changes] of gates) {
    const { ask } = await begin(t, changes)
    const answer = await ask('/cluster/voters', join)
    t.match(answer, { status: 412, code: 'precondition_failed' }, what)
    t.same(blockers(answer), [gate])
  }
})

t.test(
  'version_incompatible: a change that an older member would not understand is not started [membership.gates]',
  async (t) => {
    const { world, ask } = await begin(t)
    world.memory.featureLevel = 1
    const { proposals } = world.memory
    const answer = await ask('/cluster/voters/n3/demote', { reason })
    t.match(answer, { status: 412, code: 'precondition_failed' })
    t.same(blockers(answer), ['version_incompatible'])
    t.match(String(answer.json['message']), /needs feature level 2/)
    t.equal(world.memory.proposals, proposals, 'nothing is in the log')
    t.match(world.memory.auditRows.at(-1), { operation: 'demoteVoter', status: 412 }, 'and it is audited')
    const dryRun = await ask('/cluster/voters/n3/demote', { reason }, '?dryRun=true')
    t.match(dryRun, {
      status: 200,
      json: { allowed: false, blockers: [{ code: 'version_incompatible' }] },
    })
    world.memory.featureLevel = 2
    t.match(await ask('/cluster/voters/n3/demote', { reason }), { status: 202 })
  },
)
t.test('a node with another certificate is not accepted [membership.join.fingerprint]', async (t) => {
  const fingerprint = Array.from({ length: 32 }, (_, n) => (n + 160).toString(16).toUpperCase()).join(':')
  const join = { nodeId: 'n4', peerAddress: PEER, reason }
  const { ask } = await begin(t, answering({ fingerprint }))
  for (const [what, requested] of [
    ['a join', ['/cluster/voters', join]],
    ['a replacement', ['/cluster/voters/n3/replace', { replacement: join, reason, confirm: 'n3' }]],
  ] as const) {
    const [path, body] = requested
    const { reason: _, ...place } = join
    const expecting = (expected: string): object =>
      'replacement' in body
        ? { ...body, replacement: { ...place, fingerprint: expected } }
        : { ...body, fingerprint: expected }
    const other = await ask(path, expecting(fingerprint.replace('A0', 'A1')))
    t.match(other, { status: 412, code: 'precondition_failed' }, what)
    t.same(blockers(other), ['certificate_mismatch'])
    t.match(String(other.json['message']), `shows that with fingerprint ${fingerprint}`)
    t.match(await ask(path, expecting('A0:B1')), { status: 400 }, 'no fingerprint at all')
    const dry = await ask(path, expecting(fingerprint.replaceAll(':', '').toLowerCase()), '?dryRun=true')
    t.match(dry, {
      status: 200,
      json: { allowed: true, plan: { newcomer: { nodeId: 'n4', incarnation: 'life', fingerprint } } },
    })
  }
  t.match(await ask('/cluster/voters', { ...join, fingerprint }), { status: 202 })
  const { json } = await ask('/audit', undefined, '?operation=joinVoter')
  t.match(JSON.stringify(json), `n4 waits with certificate ${fingerprint}`)
  const { ask: plain } = await begin(t)
  const none = await plain('/cluster/voters', { ...join, fingerprint })
  t.same(blockers(none), ['certificate_mismatch'], 'nodes that speak without TLS show none')
})

t.test('one change at a time, and its id is named [membership.one-at-a-time]', async (t) => {
  const { ask, act } = await begin(t)
  const started = await ask('/cluster/voters', { nodeId: 'n4', peerAddress: PEER, reason })
  t.match(started, { status: 202, json: { type: 'join', nodeId: 'n4', status: 'running' } })
  const id = String(started.json['operationId'])
  t.match(await ask('/cluster/membership'), { json: { changeInProgress: id } })
  const second = await ask('/cluster/voters/n3/demote', { reason })
  t.match(second, { status: 409, code: 'membership_change_in_progress' })
  t.match(String(second.json['message']), new RegExp(id))
  t.match(await act(`/cluster/operations/${id}/cancel`), { status: 200, json: { status: 'cancelled' } })
})

t.test('a blocked change names its blockers [membership.gates]', async (t) => {
  const { ask } = await begin(t)
  const away = await ask('/cluster/voters/n2/demote', { reason })
  t.match(away, { status: 412, code: 'precondition_failed' })
  t.same(blockers(away), ['would_lose_quorum'], 'n1 and the silent n3 would be left')
  const answer = await ask('/cluster/voters/n2/lost', { reason, confirm: 'n2' })
  t.same(blockers(answer), ['member_reachable'])
  const early = await ask('/cluster/members/n3/remove', { reason, confirm: 'n3' })
  t.same(blockers(early), ['not_demoted'])
  t.match(await ask('/cluster/voters/n9/demote', { reason }), { status: 404, code: 'not_found' })
})

t.test(
  'an answer of another data directory, or of one that takes no part, counts for no majority',
  async (t) => {
    const { ask, world } = await begin(t)
    const reported = await world.memory.membership.memberStatuses()
    const answered = async (n3: Partial<MemberStatus>) => {
      const memberStatuses = new Map(reported).set('n3', singleNodeStatus('n3', { isLeader: false, ...n3 }))
      world.memory.membership = { ...world.memory.membership, memberStatuses: async () => memberStatuses }
      return ask('/cluster/voters/n2/demote', { reason }, '?dryRun=true')
    }
    const added = {
      type: 'introduceMember',
      nodeId: 'n3',
      incarnation: 'life-of-n3',
      version: '1.0.0',
    } as const
    const place = { peerAddress: '10.0.0.3:9002', zone: 'rack-1', weight: 1, dataAddress: null } as const
    await world.memory.change({ ...added, ...place, adminAddress: null })
    t.match(await answered({}), { json: { allowed: true } })
    for (const n3 of [{ incarnation: 'an empty disk' }, { isReady: false }])
      t.match(await answered(n3), { json: { allowed: false, blockers: [{ code: 'would_lose_quorum' }] } })
  },
)

t.test('a voter in contact with another node is not lost [membership.lost.silence]', async (t) => {
  const { ask, world } = await begin(t)
  const reported = await world.memory.membership.memberStatuses()
  const follower = singleNodeStatus('n2', { isLeader: false, heardMs: { n3: 29_000 } })
  world.memory.membership = {
    ...world.memory.membership,
    memberStatuses: async () => new Map([...reported, ['n2', follower]]),
  }
  const answer = await ask('/cluster/voters/n3/lost', { reason, confirm: 'n3' })
  t.same(blockers(answer), ['member_reachable'])
  t.match(String(answer.json['message']), /n2 had an answer from it 29 s ago/)
  const quiet = singleNodeStatus('n2', { isLeader: false, heardMs: { n3: 31_000 } })
  world.memory.membership = {
    ...world.memory.membership,
    memberStatuses: async () => new Map([...reported, ['n2', quiet]]),
  }
  t.match(await ask('/cluster/voters/n3/lost', { reason, confirm: 'n3' }), { status: 200 })
})

t.test(
  'a demotion is abandoned by its driver, and a leaving member may be declared lost [membership.lost]',
  async (t) => {
    const { ask, act, world } = await begin(t)
    const started = await ask('/cluster/voters/n3/demote', { reason })
    const operationId = String(started.json['operationId'])
    const cancelled = await act(`/cluster/operations/${operationId}/cancel`)
    t.match(cancelled, { status: 200, json: { status: 'running', phase: /to be given up, unless votes/ } })
    await world.memory.change({
      type: 'stepMembership',
      operationId,
      from: 'demote',
      to: 'drain',
      phase: 'moving copies away',
    })
    const late = await act(`/cluster/operations/${operationId}/cancel`)
    t.match(late, { status: 412, code: 'precondition_failed' })
    t.match(await ask('/cluster/voters/n3/lost', { reason, confirm: 'n3' }), { status: 200 })
    const { members } = (await ask('/cluster/membership')).json as { members: readonly object[] }
    t.match(members, [{}, {}, { nodeId: 'n3', phase: 'lost' }])
  },
)

t.test('a change without effect answers noop and starts nothing [membership.noop]', async (t) => {
  const { ask, world } = await begin(t)
  const started = world.memory.proposals
  const again = await ask('/cluster/voters', { nodeId: 'n2', peerAddress: '10.0.0.2:9002', reason })
  t.match(again, { status: 200, json: { noop: true, nodeId: 'n2', configIndex: Number } })
  t.equal(world.memory.proposals, started, 'nothing was proposed')
  const transfer = await ask('/cluster/leader/transfer', { nodeId: 'n1', reason })
  t.match(transfer, { status: 200, json: { noop: true, leaderBefore: 'n1' } })
})

t.test('a dry run shows votes before and after, and changes nothing [membership.dry-run]', async (t) => {
  const { ask, world } = await begin(t)
  const before = world.memory.checksum()
  const plan = await ask('/cluster/voters/n3/demote', { reason }, '?dryRun=true')
  t.match(plan, {
    status: 200,
    json: {
      allowed: true,
      plan: {
        steps: [
          { step: 'now', majority: 2, failureTolerance: 1 },
          { majority: 2, failureTolerance: 0 },
        ],
      },
      warnings: [/cannot be taken back/, /0 of 2 voters may fail, now 1/, /2 voters bear no more failures/],
    },
  })
  const closed = await ask('/cluster/voters/n2/demote', { reason }, '?dryRun=true')
  t.match(closed, { json: { allowed: false, blockers: [{ code: 'would_lose_quorum' }] } })
  t.equal(world.memory.checksum(), before)
})

// Walk 9082: a member was declared lost by an observation from before the present member rows.
t.test('an observation counts only for the members at its time [membership.race]', async (t) => {
  for (const [path, more] of [
    ['/cluster/voters/n3/demote', {}],
    ['/cluster/voters/n3/lost', { confirm: 'n3' }],
    ['/cluster/voters/n3/replace', { confirm: 'n3', replacement: { nodeId: 'n4', peerAddress: PEER } }],
  ] as const) {
    const { world, ask } = await begin(t)
    const { memory } = world
    const looked = deferred()
    const before = memory.membership
    const moved = {
      nodeId: 'n2',
      incarnation: 'life-of-n2',
      peerAddress: '10.0.0.22:9002',
      zone: 'rack-1',
      weight: 1,
      version: '1.0.0',
      dataAddress: null,
      adminAddress: null,
    }
    // It is applied between the look and the change that follows from the look.
    const moving: Promise<void>[] = []
    memory.membership = {
      ...before,
      memberStatuses: async () => {
        memory.beforeApply = () => looked.promise
        moving.push(memory.change({ type: 'introduceMember', ...moved }))
        setImmediate(looked.resolve)
        return before.memberStatuses()
      },
    }
    t.match(await ask(path, { reason, ...more }), { status: 409, code: 'stale_config_index' }, path)
    await Promise.all(moving)
  }
})

t.test('leadership is transferred to a voter that answers [membership.transfer]', async (t) => {
  const asked: (string | null)[] = []
  const { ask } = await begin(t, { transfer: async (target) => void asked.push(target) })
  t.match(await ask('/cluster/leader/transfer', { nodeId: 'n2', reason }), { json: { noop: false } })
  t.match(await ask('/cluster/leader/transfer', { nodeId: 'n9', reason }), { status: 404, code: 'not_found' })
  t.match(await ask('/cluster/leader/transfer', { nodeId: 'n3', reason }), { status: 412 })
  const dry = await ask('/cluster/leader/transfer', { nodeId: 'n2', reason }, '?dryRun=true')
  t.match(dry, { status: 200, json: { allowed: true, plan: { target: 'n2' } } })
  t.same(asked, ['n2'], 'a dry run transfers nothing')
})

t.test(
  'every change leaves its row in the audit log, with the observed statuses [membership.audit]',
  async (t) => {
    const { ask } = await begin(t)
    await ask('/cluster/voters/n3/demote', { reason })
    const { json } = await ask('/audit', undefined, '?operation=demoteVoter')
    t.match(json, {
      records: [
        { operation: 'demoteVoter', reason, details: { kind: 'demote', nodeId: 'n3', seen: /n3 silent/ } },
      ],
    })
  },
)
