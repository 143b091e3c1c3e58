/**
 * Routes of the disks of a member: what they are, and to empty one. No rules here.
 */
import Type, { type Static } from 'typebox'
import type { DiskPlan } from '../../../cluster/index.ts'
import {
  cancelDiskDrain,
  drainDisk,
  listMemberDisks,
  type MemberDisk,
  planDrain,
} from '../../operations/placement/member-disks.ts'
import { DISK, MEMBER } from '../examples/names.ts'
import { adminRoute, type Answer } from '../route.ts'
import { orNull } from '../wire.ts'
import { diskSuggestion, DOUBT, DiskLevelView, DiskStatusView } from './disk-view.ts'
import { changeRoute } from './mutation.ts'
import { REASON } from './queries.ts'

const Count = Type.Integer({ minimum: 0 })

const MOVES = {
  copies: Type.Integer({ minimum: 0, description: 'On the disk' }),
  bytes: Type.Integer({ minimum: 0, description: 'Of these copies' }),
  isComplete: Type.Boolean({ description: 'false: there are more copies than were counted' }),
  roomBytes: Type.Integer({ minimum: 0, description: 'That the other disks of the node take' }),
}
const PLAN = Type.Object({
  directory: orNull(Type.String()),
  status: orNull(DiskStatusView),
  ...MOVES,
})
const DrainView = Type.Object(
  {
    nodeId: Type.String(),
    diskId: Type.String(),
    directory: Type.String(),
    status: DiskStatusView,
    ...MOVES,
  },
  { additionalProperties: false },
)
const MemberDiskView = Type.Object(
  {
    diskId: Type.String(),
    directory: Type.String(),
    status: DiskStatusView,
    level: DiskLevelView,
    totalBytes: Count,
    freeBytes: Count,
    doubt: orNull(DOUBT),
    suggestion: orNull(Type.String({ description: 'What to do; null: nothing' })),
    left: orNull(
      Type.Object(MOVES, {
        description: 'Of a disk that is emptied; null: it is not, or its node did not count',
      }),
    ),
  },
  { additionalProperties: false },
)
const MemberDisksView = Type.Object(
  {
    nodeId: Type.String(),
    disks: Type.Array(MemberDiskView, { description: 'Empty: the node has one disk, in its data directory' }),
  },
  { additionalProperties: false },
)
const Body = Type.Object(REASON, { additionalProperties: false })

const drainRoute = (
  operation: typeof drainDisk,
  facts: {
    readonly path: `/cluster/members/{nodeId}/disks/{diskId}/drain${'' | '/cancel'}`
    readonly summary: string
  },
) =>
  changeRoute(
    operation,
    {
      method: 'POST',
      ...facts,
      body: { schema: Body },
      answers: 'The disk, or the plan of a dry run',
      view: DrainView,
      plan: PLAN,
      example: {
        params: { ...MEMBER, ...DISK },
        query: { dryRun: 'true' },
        body: { reason: 'It reports errors' },
      },
    },
    {
      run: (services, principal, { params }) => operation(services, principal, params),
      answer: (plan) => plan,
      note: (_, { params }) => ({ ...params }),
      plan: async (services, { params }, outcome) => ({
        plan: planView(outcome ?? (await planDrain(services, params))),
        warnings: [],
      }),
    },
  )

export const memberDiskRoutes = [
  adminRoute(
    listMemberDisks,
    {
      method: 'GET',
      path: '/cluster/members/{nodeId}/disks',
      summary: 'List the disks of a member with several, and what is still to leave those that are emptied',
      success: {
        status: 200,
        description: 'The disks, in the order of its settings',
        content: { type: 'application/json', schema: MemberDisksView },
      },
      example: { params: { nodeId: 'n1' } },
    },
    async (services, principal, { params }): Promise<Answer> => {
      const { nodeId, disks } = await listMemberDisks(services, principal, params)
      return { kind: 'json', body: { nodeId, disks: disks.map(diskView) } }
    },
  ),
  drainRoute(drainDisk, {
    path: '/cluster/members/{nodeId}/disks/{diskId}/drain',
    summary:
      'Empty a disk of a member: it takes no new copies, and those that it has move to other disks of that node',
  }),
  drainRoute(cancelDiskDrain, {
    path: '/cluster/members/{nodeId}/disks/{diskId}/drain/cancel',
    summary: 'Use a disk again that was to be emptied; repeating it is no error',
  }),
]

function planView(plan: DiskPlan | null): Static<typeof PLAN> {
  if (plan === null)
    return { directory: null, status: null, copies: 0, bytes: 0, isComplete: false, roomBytes: 0 }
  const { directory, status, copies, bytes, isComplete, roomBytes } = plan
  return { directory, status, copies, bytes, isComplete, roomBytes }
}

function diskView(disk: MemberDisk): Static<typeof MemberDiskView> {
  const { diskId, directory, status, level, totalBytes, freeBytes, doubt = null, left } = disk
  const rest = left && {
    copies: left.copies,
    bytes: left.bytes,
    isComplete: left.isComplete,
    roomBytes: left.roomBytes,
  }
  const facts = { diskId, directory, status, level, totalBytes, freeBytes, doubt }
  return { ...facts, suggestion: diskSuggestion(disk), left: rest }
}
