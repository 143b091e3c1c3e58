/**
 * The routes of membership: who belongs to the cluster, and how that is changed. No rules here. [decisions 12]
 */
import Type from 'typebox'
import { demoteVoter } from '../../operations/membership/demote-voter.ts'
import { getClusterMembership } from '../../operations/membership/get-cluster-membership.ts'
import { joinVoter } from '../../operations/membership/join-voter.ts'
import { markVoterLost } from '../../operations/membership/mark-voter-lost.ts'
import { NODE_ADDRESS, NODE_ID } from '../../operations/membership/newcomer.ts'
import { planChange, type PlannedChange } from '../../operations/membership/plan-change.ts'
import { removeMember } from '../../operations/membership/remove-member.ts'
import { replaceVoter } from '../../operations/membership/replace-voter.ts'
import { transferLeadership } from '../../operations/membership/transfer-leadership.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { MEMBER } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { orNull } from '../wire.ts'
import { membershipRoute } from './membership-mutation.ts'
import { MembershipView, membershipView } from './membership-view.ts'
import { changeRoute } from './mutation.ts'
import { REASON } from './queries.ts'

/** It takes two commits. A leader that changes meanwhile takes longer; then the phase of the operation says that it continues. */
const VOTE_GONE_MS_MAX = 5_000

const EXPECTED = {
  expectedConfigIndex: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'The configIndex that was seen: refused when it is another one by now',
    }),
  ),
}
const CONFIRM = { confirm: Type.String({ description: 'The name of the member again' }) }
const NEWCOMER = {
  nodeId: Type.String({ minLength: 1, maxLength: 63, ...documented({ pattern: NODE_ID.source }) }),
  peerAddress: Type.String({
    maxLength: 300,
    description: 'host:port where it listens for nodes',
    ...documented({ pattern: NODE_ADDRESS.source }),
  }),
  dataAddress: Type.Optional(Type.String({ maxLength: 300 })),
  adminAddress: Type.Optional(Type.String({ maxLength: 300 })),
  zone: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  weight: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1000 })),
  fingerprint: Type.Optional(
    Type.String({
      pattern: '^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$',
      description: 'SHA-256 of its certificate as it was read there: refused when it shows another one',
    }),
  ),
}
const closed = { additionalProperties: false }
const OUTAGE = {
  inOutage:
    'GET /cluster/membership?consistency=local shows what this node knows; when a majority of the voters is gone for good, holdfast recover brings the cluster back: deploy/runbooks/lost-quorum.md',
}
const Join = Type.Object({ ...NEWCOMER, ...REASON, ...EXPECTED }, closed)
const Demotion = Type.Object({ ...REASON, ...EXPECTED }, closed)
const Confirmed = Type.Object({ ...REASON, ...CONFIRM, ...EXPECTED }, closed)
const Replacement = Type.Object(
  { replacement: Type.Object(NEWCOMER, closed), ...REASON, ...CONFIRM, ...EXPECTED },
  closed,
)
const Transfer = Type.Object({ nodeId: Type.Optional(Type.String()), ...REASON }, closed)
const Leader = orNull(Type.String())

export const membershipRoutes = [
  adminRoute(
    getClusterMembership,
    {
      method: 'GET',
      path: '/cluster/membership',
      summary: 'Get who belongs to the cluster, who leads, and how each member stands',
      mayBeLocal: true,
      ...OUTAGE,
      query: Type.Object(
        {
          consistency: Type.Optional(
            Type.Enum(['local'], { description: 'As the asked node has it, also without a leader' }),
          ),
        },
        closed,
      ),
      success: {
        status: 200,
        description: 'The members',
        content: { type: 'application/json', schema: MembershipView },
      },
      example: {},
    },
    async (services, principal, { query }) => {
      const isLocal = query.consistency === 'local'
      return {
        kind: 'json',
        body: membershipView(await getClusterMembership(services, principal, { isLocal })),
      }
    },
  ),

  membershipRoute(
    joinVoter,
    {
      ...OUTAGE,
      path: '/cluster/voters',
      summary: 'Take a waiting node in: it copies the state, keeps up for a while and gets a vote',
      status: 202,
      body: { schema: Join },
      example: {
        query: { dryRun: 'true' },
        body: { nodeId: 'n4', peerAddress: '10.0.0.4:9002', zone: 'rack-2', reason: 'More room' },
      },
    },
    {
      run: (services, principal, { body }) => joinVoter(services, principal, body),
      plan: (services, { body }, started) => planChange(services, { kind: 'join', ...body }, started),
    },
  ),

  membershipRoute(
    demoteVoter,
    {
      ...OUTAGE,
      path: '/cluster/voters/{nodeId}/demote',
      summary: 'Take the vote of a member and move its copies away',
      status: 202,
      body: { schema: Demotion },
      example: { params: MEMBER, query: { dryRun: 'true' }, body: { reason: 'Its disk is worn' } },
    },
    {
      run: (services, principal, { params, body }) =>
        demoteVoter(services, principal, { ...params, ...body }),
      plan: (services, { params }, started) => planChange(services, { kind: 'demote', ...params }, started),
    },
  ),

  membershipRoute(
    replaceVoter,
    {
      ...OUTAGE,
      path: '/cluster/voters/{nodeId}/replace',
      summary: 'Put a waiting node in the place of a member, also of one that is dead',
      status: 202,
      body: { schema: Replacement },
      example: {
        params: MEMBER,
        query: { dryRun: 'true' },
        body: {
          replacement: { nodeId: 'n4', peerAddress: '10.0.0.4:9002' },
          reason: 'The machine burned',
          confirm: 'n3',
        },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        replaceVoter(services, principal, { ...params, ...body }),
      plan: (services, { params, body: { replacement } }, started) => {
        const change = { ...replacement, kind: 'replace', ...params, newcomer: replacement.nodeId } as const
        return planChange(services, change, started)
      },
    },
  ),

  confirmedRoute(markVoterLost, {
    kind: 'lost',
    path: '/cluster/voters/{nodeId}/lost',
    summary:
      'Give up a member that will never come back: it loses its vote and its name, its copies are made again',
    example: {
      params: MEMBER,
      query: { dryRun: 'true' },
      body: { reason: 'The machine burned', confirm: 'n3' },
    },
  }),

  confirmedRoute(removeMember, {
    kind: 'remove',
    path: '/cluster/members/{nodeId}/remove',
    summary: 'Remove a member that holds nothing any more; its name is never used again',
    example: { params: MEMBER, query: { dryRun: 'true' }, body: { reason: 'It is empty', confirm: 'n3' } },
  }),

  changeRoute(
    transferLeadership,
    {
      ...OUTAGE,
      method: 'POST',
      path: '/cluster/leader/transfer',
      summary: 'Hand over the lead',
      body: { schema: Transfer },
      plan: Type.Object({ target: Leader }),
      answers: 'Who led, and who was asked to; or the plan of a dry run',
      view: Type.Object({ leaderBefore: Leader, target: Leader, noop: Type.Boolean() }, closed),
      example: { query: { dryRun: 'true' }, body: { reason: 'The leader is patched next' } },
    },
    {
      run: (services, principal, { body }) => transferLeadership(services, principal, body),
      plan: async (_, { body }) => ({ plan: { target: body.nodeId ?? null }, warnings: [] }),
      answer: ({ before, target, isDone }) => ({ leaderBefore: before, target, noop: !isDone }),
    },
  ),
]

interface ConfirmedFacts extends Pick<RouteDefinition, 'summary' | 'example'> {
  readonly kind: PlannedChange['kind']
  readonly path: '/cluster/voters/{nodeId}/lost' | '/cluster/members/{nodeId}/remove'
}

function confirmedRoute(operation: typeof removeMember, { kind, ...facts }: ConfirmedFacts) {
  const first = { waitMs: VOTE_GONE_MS_MAX, isDone: ({ cursor }: LongOperation) => cursor !== 'exclude' }
  return membershipRoute(
    operation,
    { ...facts, ...OUTAGE, status: 200, first, body: { schema: Confirmed } },
    {
      run: (services, principal, { params, body }) => operation(services, principal, { ...params, ...body }),
      plan: (services, { params }, started) => planChange(services, { kind, ...params }, started),
    },
  )
}
