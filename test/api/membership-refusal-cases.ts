/**
 * Every refusal of the cluster operations, each with its situation and message. [decisions 12]
 *
 * Owns: the table. Rule: a refusal names its subject, the fault and the remedy; `says` holds all three.
 */
import { Condition, type MembershipPort, type NewcomerStatus } from '../../cluster/index.ts'
import type { ProblemCode } from '../../src/api/problem.ts'
import type { BlockerCode } from '../../src/state-machine/base/codes.ts'
import type { MembershipStep } from '../../src/state-machine/long-operations/records.ts'
import type { MemoryServices } from '../helpers/memory-services.ts'
import { singleNodeStatus } from '../helpers/membership-samples.ts'

const PEER = '10.0.0.4:9002'
const reason = 'tests'
const FINGERPRINT = 'a1'.repeat(32)

export interface RefusalCase {
  readonly operation: ProvokedId
  readonly code: ProblemCode
  /** Exactly the gate that is closed. */
  readonly blocker?: BlockerCode
  readonly says: RegExp
  /** Preparation before the request. */
  readonly before?: (memory: MemoryServices, id: string) => Promise<void> | void
  /** What the nodes report; by default n1 leads, n2 answers, n3 has been silent for a minute, any joining node is accepted. */
  readonly machines?: Partial<MembershipPort>
  /** Changes to a correct body; the name in the path. */
  readonly body?: object
  readonly name?: string
  readonly token?: 'operator' | 'tenant'
}

export interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

/** Valid requests without a blocker. */
const REQUESTS = {
  getClusterMembership: () => ({ method: 'GET', path: '/cluster/membership' }),
  joinVoter: () => post('/cluster/voters', { nodeId: 'n4', peerAddress: PEER }),
  demoteVoter: (name = 'n3') => post(`/cluster/voters/${name}/demote`, {}),
  markVoterLost: (name = 'n3') => post(`/cluster/voters/${name}/lost`, { confirm: name }),
  removeMember: (name = 'n3') => post(`/cluster/members/${name}/remove`, { confirm: name }),
  replaceVoter: (name = 'n3') =>
    post(`/cluster/voters/${name}/replace`, {
      confirm: name,
      replacement: { nodeId: 'n4', peerAddress: PEER },
    }),
  transferLeadership: () => post('/cluster/leader/transfer', { nodeId: 'n2' }),
  getOperation: (id = 'op') => ({ method: 'GET', path: `/cluster/operations/${id}` }),
  cancelOperation: (id = 'op') => ({ method: 'POST', path: `/cluster/operations/${id}/cancel` }),
} satisfies Record<string, (name?: string) => Request>

export type ProvokedId = keyof typeof REQUESTS

export const RIGHT: Readonly<Record<ProvokedId, (name?: string) => Request>> = REQUESTS

function post(path: string, body: object): Request {
  return { method: 'POST', path, body: { reason, ...body } }
}

const CHANGES = ['joinVoter', 'demoteVoter', 'markVoterLost', 'removeMember', 'replaceVoter'] as const
const WITH_REASON = [...CHANGES, 'transferLeadership'] as const
const CONFIRMED = ['markVoterLost', 'removeMember', 'replaceVoter'] as const
const WITH_NEWCOMER = ['joinVoter', 'replaceVoter'] as const
const NAMED = ['demoteVoter', 'markVoterLost', 'removeMember', 'replaceVoter'] as const
export const ALL = Object.keys(RIGHT) as readonly ProvokedId[]

type Row = Omit<RefusalCase, 'operation'>

const of = (operations: readonly ProvokedId[], row: Row): readonly RefusalCase[] =>
  operations.map((operation) => ({ operation, ...row }))
const one = (operation: ProvokedId, row: Row): readonly RefusalCase[] => of([operation], row)
const gate = (operations: readonly ProvokedId[], blocker: BlockerCode, row: Omit<Row, 'code'>) =>
  of(operations, { code: 'precondition_failed', blocker, ...row })

const answering = (change: Partial<NewcomerStatus> | string): Partial<MembershipPort> => ({
  newcomer: async (nodeId) =>
    typeof change === 'string'
      ? change
      : { nodeId, incarnation: 'life', isJoining: true, featureLevel: 1, version: '0.9.0', ...change },
})

const barrier = (code: 'no_quorum' | 'no_leader' | 'leader_not_ready') => (memory: MemoryServices) =>
  void (memory.barrierFault = new Condition(code, 'Cannot read: no majority confirmed the leader'))

async function begin(
  memory: MemoryServices,
  kind: 'join' | 'demote' | 'lost',
  nodeId: string,
): Promise<string> {
  const operationId = `op-${kind}-${nodeId}`
  const addresses = { peerAddress: '10.0.0.9:9002', dataAddress: null, adminAddress: null }
  const known = { nodeId, ...addresses, zone: 'z', weight: 1, incarnation: 'i', version: '1.0.0' }
  await memory.change({
    type: 'startMembership',
    operationId,
    kind,
    requestedBy: 'adm_1',
    reason,
    nodeId,
    newcomer: kind === 'join' ? known : null,
    expectedConfigIndex: null,
    seen: '',
  })
  return operationId
}

async function take(memory: MemoryServices, operationId: string, ...steps: MembershipStep[]): Promise<void> {
  for (const [n, to] of steps.entries()) {
    const from = steps[n - 1]
    if (from !== undefined) await memory.change({ type: 'stepMembership', operationId, from, to, phase: to })
  }
}

const joining = async (memory: MemoryServices): Promise<void> => void (await begin(memory, 'join', 'n9'))
const draining = async (memory: MemoryServices): Promise<void> =>
  take(memory, await begin(memory, 'demote', 'n3'), 'demote', 'drain')
const drained = async (memory: MemoryServices): Promise<void> =>
  take(memory, await begin(memory, 'demote', 'n3'), 'demote', 'drain', 'verify', 'done')
const lost = async (memory: MemoryServices): Promise<void> =>
  take(memory, await begin(memory, 'lost', 'n3'), 'exclude', 'repair', 'done')

/** n1 and n2 have lost their votes. */
async function alone(memory: MemoryServices): Promise<void> {
  for (const nodeId of ['n1', 'n2'])
    await take(memory, await begin(memory, 'demote', nodeId), 'demote', 'drain', 'verify', 'done')
}

/** Only n1 answers. */
const onlyLeader: Partial<MembershipPort> = {
  memberStatuses: async () =>
    new Map([
      ['n1', singleNodeStatus('n1')],
      ['n2', null],
      ['n3', null],
    ]),
}
const noAnswers: Partial<MembershipPort> = { memberStatuses: async () => new Map([['n1', null]]) }
const recentContact: Partial<MembershipPort> = {
  memberStatuses: async () =>
    new Map([
      ['n1', singleNodeStatus('n1')],
      ['n2', singleNodeStatus('n2', { isLeader: false, heardMs: { n3: 29_000 } })],
      ['n3', null],
    ]),
}

const OUTAGE = /no majority .*consistency=local.*holdfast recover.*lost-quorum\.md/

export const REFUSAL_CASES: readonly RefusalCase[] = [
  // 400
  ...of(WITH_REASON, { code: 'invalid_request', body: { surprise: 1 }, says: /surprise/ }),
  ...of(WITH_REASON, { code: 'reason_required', body: { reason: undefined }, says: /reason/ }),
  ...of(WITH_NEWCOMER, {
    code: 'invalid_request',
    machines: answering('unusable_address'),
    says: /"n4" at 10\.0\.0\.4:9002: "peerAddress" is not host:port, or lies beyond loopback .*without TLS/,
  }),
  ...one('joinVoter', {
    code: 'invalid_request',
    body: { nodeId: 'n 4' },
    says: /"nodeId" has 1 to 63 letters/,
  }),
  ...one('joinVoter', {
    code: 'invalid_request',
    body: { peerAddress: 'n4' },
    says: /host:port, such as 10\./,
  }),
  ...of(WITH_REASON, { code: 'reason_required', body: { reason: ' ' }, says: /^Cannot .*"reason" is empty/ }),
  ...of(CONFIRMED, {
    code: 'confirm_mismatch',
    body: { confirm: 'n2' },
    says: /"n2", and the member is "n3": repeat its name/,
  }),
  // 403
  ...of(WITH_REASON, { code: 'access_denied', token: 'operator', says: /needs .*owner/ }),
  ...one('cancelOperation', { code: 'access_denied', token: 'operator', says: /needs .*owner/ }),
  ...of(ALL, { code: 'tenant_scope_denied', token: 'tenant', says: /'adm_\w+' is limited to one tenant/ }),
  // 404
  ...of(NAMED, { code: 'not_found', name: 'n9', says: /"n9": no member has this name; look at who/ }),
  ...one('transferLeadership', {
    code: 'not_found',
    body: { nodeId: 'n9' },
    says: /"n9"; name a voter, or none/,
  }),
  ...of(['getOperation', 'cancelOperation'], { code: 'not_found', says: /"op" does not exist/ }),
  // 409
  ...of(CHANGES, {
    code: 'membership_change_in_progress',
    before: joining,
    says: /"op-join-n9" is changing them; wait .* cancel/,
  }),
  ...of(CHANGES, {
    code: 'stale_config_index',
    body: { expectedConfigIndex: 77 },
    says: /index is \d+, not 77; look at the members/,
  }),
  ...newcomers({ nodeId: 'n2' }, { code: 'member_exists', says: /"n2": a member has this name; choose/ }),
  ...newcomers(
    { peerAddress: '10.0.0.2:9002' },
    { code: 'address_in_use', says: /"n4": "n2" has one of its addresses; name/ },
  ),
  ...newcomers(
    { nodeId: 'n3' },
    {
      code: 'member_tombstoned',
      name: 'n2',
      before: gone,
      says: /"n3": .* was removed or lost; choose another name and an empty/,
    },
  ),
  ...of(WITH_NEWCOMER, {
    code: 'foreign_cluster',
    machines: answering('foreign_cluster'),
    says: /"n4" .* another cluster; see its cluster\.id/,
  }),
  ...of(WITH_NEWCOMER, {
    code: 'data_not_empty',
    machines: answering({ isJoining: false }),
    says: /"n4" .* belonged to a member; start it with --join on an empty/,
  }),
  ...of(WITH_NEWCOMER, {
    code: 'data_not_empty',
    machines: answering('unknown_member'),
    says: /"n4" .* does not wait .*--join on an empty/,
  }),
  // 412
  ...gate(WITH_NEWCOMER, 'member_unreachable', {
    machines: answering('unreachable'),
    says: /"n4" .*\(unreachable\); start it with --join/,
  }),
  ...newcomers(
    { fingerprint: FINGERPRINT },
    {
      code: 'precondition_failed',
      blocker: 'certificate_mismatch',
      says: /"n4" .*a1a1, and shows none; look at both/,
    },
  ),
  ...gate(WITH_NEWCOMER, 'version_incompatible', {
    machines: answering({ featureLevel: 0 }),
    says: /"n4" .*version 0\.9\.0, which knows feature level 0.* is at 2; start the version there/,
  }),
  ...gate(['transferLeadership'], 'learner_not_ready', {
    body: { nodeId: 'n3' },
    says: /"n3" has no vote, or does not answer; name another/,
  }),
  ...gate(['transferLeadership'], 'learner_not_ready', {
    machines: onlyLeader,
    body: { nodeId: undefined },
    says: /no other voter answers; bring one back/,
  }),
  ...gate(['replaceVoter'], 'would_lose_quorum', {
    machines: noAnswers,
    says: /"n3": of the voters left, n1, n2 do not answer.*bring them back first/,
  }),
  ...gate(['demoteVoter', 'markVoterLost'], 'would_lose_quorum', {
    machines: onlyLeader,
    says: /"n3".* of the voters left, n2 do not answer.*bring them back first/,
  }),
  ...gate(['demoteVoter', 'markVoterLost'], 'below_minimum_voters', {
    before: alone,
    says: /"n3": it is the last voter; join another one first/,
  }),
  ...gate(['markVoterLost'], 'member_reachable', {
    name: 'n2',
    says: /"n2" lost: it answers; demote it instead/,
  }),
  ...gate(['markVoterLost'], 'member_reachable', {
    machines: recentContact,
    says: /n2 had an answer from it 29 s ago; 30 s of silence are needed/,
  }),
  ...gate(['removeMember'], 'not_demoted', { says: /"n3": it is active; demote it first/ }),
  ...gate(['demoteVoter'], 'not_demoted', {
    before: lost,
    says: /"n3": it is lost and has no vote any more; remove it/,
  }),
  ...gate(['replaceVoter'], 'not_demoted', {
    before: drained,
    says: /"n3": it is drained and has no vote any more; remove it/,
  }),
  ...gate(['removeMember'], 'not_drained', {
    before: draining,
    says: /"n3": it is draining, and not all of its copies are known to be on other nodes; wait/,
  }),
  ...one('cancelOperation', {
    code: 'precondition_failed',
    before: draining,
    name: 'op-demote-n3',
    says: /"op-demote-n3": from this step on it can only continue/,
  }),
  // 503
  ...of(ALL, { code: 'leader_not_ready', before: barrier('leader_not_ready'), says: /Cannot read/ }),
  ...(['no_quorum', 'no_leader'] as const).flatMap((code) => [
    ...of(['getOperation', 'cancelOperation'], { code, before: barrier(code), says: /no majority/ }),
    ...of(['getClusterMembership', ...WITH_REASON], { code, before: barrier(code), says: OUTAGE }),
  ]),
  ...of([...CHANGES, 'cancelOperation'], {
    code: 'commit_unknown',
    before: unknown,
    says: /Cannot tell the outcome/,
  }),
]

/** Refusals of a joining node, in a join or as a replacement. */
function newcomers(change: object, row: Row): readonly RefusalCase[] {
  const newcomer = { nodeId: 'n4', peerAddress: PEER, ...change }
  return [
    { operation: 'joinVoter', ...row, body: newcomer },
    { operation: 'replaceVoter', ...row, body: { replacement: newcomer } },
  ]
}

async function gone(memory: MemoryServices): Promise<void> {
  await drained(memory)
  await memory.change({
    type: 'startMembership',
    operationId: 'op-remove',
    kind: 'remove',
    requestedBy: 'adm_1',
    reason,
    nodeId: 'n3',
    newcomer: null,
    expectedConfigIndex: null,
    seen: '',
  })
  await take(memory, 'op-remove', 'exclude', 'done')
}

/** It was proposed, and its outcome is unknown. */
async function unknown(memory: MemoryServices, id: string): Promise<void> {
  if (id === 'removeMember') await drained(memory)
  if (id === 'cancelOperation') await joining(memory)
  memory.proposeFault = new Condition('commit_unknown', 'Cannot tell the outcome: not applied here in time')
}
