/**
 * The routes of membership: who belongs to the cluster, and how that is changed. No rules here. [decisions 12]
 */
import Type from 'typebox'
import type { AdminOperationId } from '../../access/base/operation-ids.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { demoteVoter } from '../../operations/membership/demote-voter.ts'
import { getClusterMembership } from '../../operations/membership/get-cluster-membership.ts'
import { joinVoter } from '../../operations/membership/join-voter.ts'
import { markVoterLost } from '../../operations/membership/mark-voter-lost.ts'
import { planChange, type PlannedChange } from '../../operations/membership/plan-change.ts'
import { removeMember } from '../../operations/membership/remove-member.ts'
import { replaceVoter } from '../../operations/membership/replace-voter.ts'
import { transferLeadership } from '../../operations/membership/transfer-leadership.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import { adminRoute } from '../route.ts'
import { orNull } from '../wire.ts'
import { changeRoute } from './mutation.ts'
import { membershipRoute } from './membership-mutation.ts'
import { MembershipView, membershipView } from './membership-view.ts'
import { REASON } from './queries.ts'

/** It takes two commits. A leader that changes meanwhile takes longer; then the phase of the operation says that it goes on. */
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
  nodeId: Type.String({ minLength: 1, maxLength: 63 }),
  peerAddress: Type.String({ maxLength: 300, description: 'host:port where it listens for nodes' }),
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

export const membershipRoutes = {
  getClusterMembership: adminRoute(
    {
      operationId: 'getClusterMembership',
      method: 'GET',
      path: '/cluster/membership',
      summary: 'Get who belongs to the cluster, who leads, and how each member stands',
      mayBeLocal: true,
      ...OUTAGE,
      query: Type.Object(
        {
          consistency: Type.Optional(
            Type.Enum(['local'], { description: 'As the asked node has it, also when nobody leads' }),
          ),
        },
        closed,
      ),
      success: {
        status: 200,
        description: 'The members',
        content: { type: 'application/json', schema: MembershipView },
      },
    },
    async (services, principal, { query }) => {
      const isLocal = query.consistency === 'local'
      return {
        kind: 'json',
        body: membershipView(await getClusterMembership(services, principal, { isLocal })),
      }
    },
  ),

  joinVoter: membershipRoute(
    {
      ...OUTAGE,
      operationId: 'joinVoter',
      path: '/cluster/voters',
      summary: 'Take a waiting node in: it copies the state, keeps up for a while and gets a vote',
      status: 202,
      body: { schema: Join },
    },
    {
      run: (services, principal, { body }) => joinVoter(services, principal, body),
      plan: (services, { body }, begun) => planChange(services, { kind: 'join', ...body }, begun),
    },
  ),

  demoteVoter: membershipRoute(
    {
      ...OUTAGE,
      operationId: 'demoteVoter',
      path: '/cluster/voters/{nodeId}/demote',
      summary: 'Take the vote of a member and move its copies away',
      status: 202,
      body: { schema: Demotion },
    },
    {
      run: (services, principal, { params, body }) =>
        demoteVoter(services, principal, { ...params, ...body }),
      plan: (services, { params }, begun) => planChange(services, { kind: 'demote', ...params }, begun),
    },
  ),

  replaceVoter: membershipRoute(
    {
      ...OUTAGE,
      operationId: 'replaceVoter',
      path: '/cluster/voters/{nodeId}/replace',
      summary: 'Put a waiting node in the place of a member, also of one that is dead',
      status: 202,
      body: { schema: Replacement },
    },
    {
      run: (services, principal, { params, body }) =>
        replaceVoter(services, principal, { ...params, ...body }),
      plan: (services, { params, body: { replacement } }, begun) => {
        const change = { ...replacement, kind: 'replace', ...params, newcomer: replacement.nodeId } as const
        return planChange(services, change, begun)
      },
    },
  ),

  markVoterLost: confirmedRoute('lost', {
    operationId: 'markVoterLost',
    path: '/cluster/voters/{nodeId}/lost',
    summary:
      'Give up a member that will never come back: it loses its vote and its name, its copies are made again',
    act: markVoterLost,
  }),

  removeMember: confirmedRoute('remove', {
    operationId: 'removeMember',
    path: '/cluster/members/{nodeId}/remove',
    summary: 'Remove a member that holds nothing any more; its name is never used again',
    act: removeMember,
  }),

  transferLeadership: changeRoute(
    {
      ...OUTAGE,
      operationId: 'transferLeadership',
      method: 'POST',
      path: '/cluster/leader/transfer',
      summary: 'Hand over the lead',
      body: { schema: Transfer },
      plan: Type.Object({ target: Leader }),
      answers: 'Who led, and who was asked to; or the plan of a dry run',
      view: Type.Object({ leaderBefore: Leader, target: Leader, noop: Type.Boolean() }, closed),
    },
    {
      run: (services, principal, { body }) => transferLeadership(services, principal, body),
      plan: async (_, { body }) => ({ plan: { target: body.nodeId ?? null }, warnings: [] }),
      answer: ({ before, target, isDone }) => ({ leaderBefore: before, target, noop: !isDone }),
    },
  ),
}

interface Confirmed {
  readonly operationId: AdminOperationId
  readonly path: '/cluster/voters/{nodeId}/lost' | '/cluster/members/{nodeId}/remove'
  readonly summary: string
  readonly act: (
    services: Parameters<typeof removeMember>[0],
    principal: AdminTokenPrincipal,
    input: Parameters<typeof removeMember>[2],
  ) => ReturnType<typeof removeMember>
}

function confirmedRoute(kind: PlannedChange['kind'], { act, ...facts }: Confirmed) {
  const first = { waitMs: VOTE_GONE_MS_MAX, isDone: ({ cursor }: OperationRecord) => cursor !== 'exclude' }
  return membershipRoute(
    { ...facts, ...OUTAGE, status: 200, first, body: { schema: Confirmed } },
    {
      run: (services, principal, { params, body }) => act(services, principal, { ...params, ...body }),
      plan: (services, { params }, begun) => planChange(services, { kind, ...params }, begun),
    },
  )
}
