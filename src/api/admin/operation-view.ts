/**
 * A long operation on the wire. [decisions 12]
 *
 * Rule: the time left is reported only when all that is to be done is known: nothing is left to plan, or each node knows its way.
 */
import Type, { type Static } from 'typebox'
import { isMembership } from '../../state-machine/members/membership.ts'
import { ALL_PLANNED } from '../../state-machine/long-operations/operations.ts'
import type {
  BackupRestore,
  LongOperation,
  LongOperationShare,
} from '../../state-machine/long-operations/records.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })

const RestoreView = Type.Object(
  {
    clusterId: Type.String({ description: 'That made the backup' }),
    tenantId: Type.String({ description: 'Of the backup' }),
    bucket: orNull(Type.String({ description: 'Null: all of the tenant' })),
    toTenantId: Type.String(),
    toBucket: orNull(Type.String({ description: 'Null: as in the backup' })),
    missingCount: Type.Integer({ minimum: 0, description: 'Versions that did not come back whole' }),
    missing: Type.Array(
      Type.Object({
        bucket: Type.String({ description: 'Of the backup' }),
        key: Type.String(),
        versionId: Type.String({ description: 'Of the backup' }),
        isLatest: Type.Boolean(),
        why: Type.String(),
      }),
      { description: 'The first 100 of them' },
    ),
  },
  { additionalProperties: false, description: 'Of a restore into the running cluster' },
)

export const LongOperationView = Type.Object(
  {
    operationId: Type.String(),
    type: Type.Enum([
      'rebalance',
      'recovery',
      'scrub',
      'recount',
      'tenantDeletion',
      'backup',
      'keyExchange',
      'backupPrune',
      'backupRestore',
      'backupVerify',
      'join',
      'demote',
      'replace',
      'lost',
      'remove',
    ]),
    status: Type.Enum(['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled']),
    phase: Type.String({ description: 'For people' }),
    requestedBy: Type.String({ description: 'Id of the admin token; "system" for what begins by itself' }),
    reason: orNull(Type.String()),
    tenantId: orNull(Type.String()),
    bucket: orNull(Type.String()),
    backupId: orNull(
      Type.String({ description: 'Of a backup, its verification or a restore: names it in its target' }),
    ),
    target: orNull(Type.String({ description: 'Where backups lie' })),
    restore: orNull(RestoreView),
    nodeId: orNull(Type.String({ description: 'Whose copies it is about; null: of every node' })),
    maxBytesPerSecond: orNull(Count),
    createdAt: Time,
    startedAt: orNull(Time),
    finishedAt: orNull(Time),
    progress: Type.Object({
      blobsTotal: Type.Integer({
        minimum: 0,
        description:
          'Copies looked at so far; final once all are planned. Of a change of the members: copies of the one that leaves, from the beginning. Of a deletion: versions, delete markers and uploads. Of an exchange of a key: chunks. Of a restore: versions and delete markers, each when it is made and when it is compared',
      }),
      blobsDone: Type.Integer({
        minimum: 0,
        description:
          'Copies made, read back and committed; of a scrub those that were read; of a deletion what is gone',
      }),
      bytesTotal: Count,
      bytesMoved: Type.Integer({
        minimum: 0,
        description: 'Of a deletion: removed. Of an exchange of a key: sealed again',
      }),
      checksumFailures: Count,
      skipped: Type.Integer({ minimum: 0, description: 'Copies that need nothing, or were given up' }),
      tasksOpen: Type.Integer({ minimum: 0, description: 'Copies planned and not made yet' }),
    }),
    etaSeconds: orNull(
      Type.Integer({ minimum: 0, description: 'From the pace so far; null while it is unknown' }),
    ),
    nodes: Type.Array(
      Type.Object({
        nodeId: Type.String(),
        isDone: Type.Boolean(),
        progress: Type.Number({ minimum: 0, maximum: 1 }),
        copies: Count,
        bytes: Count,
        lost: Count,
      }),
      { description: 'How far each node is with its part; empty where none has one' },
    ),
    blockers: Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
      description: 'Safety checks that hold it back; it continues by itself when they pass',
    }),
    error: orNull(Type.String({ description: 'Why it failed, or what keeps it where it is' })),
  },
  { additionalProperties: false },
)

/** Names every member: the cursor of the driver stays inside. */
export function longOperationView(operation: LongOperation, nowMs: number): Static<typeof LongOperationView> {
  return {
    operationId: operation.operationId,
    type: operation.kind,
    status: operation.status,
    phase: operation.phase,
    requestedBy: operation.requestedBy,
    reason: operation.reason,
    tenantId: operation.tenantId,
    bucket: operation.bucket,
    backupId: operation.backup?.backupId ?? (operation.verify ?? operation.restore)?.backupId ?? null,
    target: (operation.backup ?? operation.prune ?? operation.verify ?? operation.restore)?.target ?? null,
    restore: operation.restore === undefined ? null : restoreView(operation.restore),
    nodeId: operation.node,
    maxBytesPerSecond: operation.maxBytesPerSecond,
    createdAt: timeText(operation.createdAt),
    startedAt: timeTextOrNull(operation.startedAt),
    finishedAt: timeTextOrNull(operation.finishedAt),
    progress: { ...operation.progress },
    etaSeconds: secondsLeft(operation, nowMs),
    nodes: Object.entries(operation.shares ?? {}).map(([nodeId, share]) => ({ nodeId, ...share })),
    blockers: operation.blocker === undefined ? [] : [operation.blocker],
    error: operation.error ?? operation.blocker?.message ?? null,
  }
}

function restoreView({
  clusterId,
  from,
  to,
  missingCount,
  missing,
}: BackupRestore): Static<typeof RestoreView> {
  const shown = missing.map((one) => ({ ...one }))
  return { clusterId, ...from, toTenantId: to.tenantId, toBucket: to.bucket, missingCount, missing: shown }
}

function secondsLeft(operation: LongOperation, nowMs: number): number | null {
  const { status, startedAt } = operation
  if (isMembership(operation.kind)) return membershipSecondsLeft(operation, nowMs)
  const ratio = leftOf(operation)
  if (status !== 'running' || startedAt === null || ratio === null) return null
  return Math.ceil((Math.max(0, nowMs - startedAt) / 1000) * ratio)
}

/** By the pace of its copies once there is one; before that as it was estimated. Nothing can be said while a gate keeps it. */
function membershipSecondsLeft(operation: LongOperation, nowMs: number): number | null {
  const { status, startedAt, blocker, dueAt = nowMs - 1, progress } = operation
  if (status !== 'running' || startedAt === null || blocker !== undefined) return null
  const { blobsTotal, blobsDone, skipped, tasksOpen } = progress
  const done = blobsDone + skipped
  if (done > 0 && blobsTotal > 0) {
    const left = Math.max(blobsTotal - done, tasksOpen, 0)
    return Math.ceil(((Math.max(0, nowMs - startedAt) / 1000) * left) / done)
  }
  return dueAt < nowMs ? null : Math.ceil((dueAt - nowMs) / 1000)
}

/** What is to do, in terms of what is done. */
function leftOf(operation: LongOperation): number | null {
  if (operation.shares !== undefined) return wayLeft(Object.values(operation.shares))
  if (operation.kind === 'keyExchange') return bytesLeft(operation)
  const ofBackups: readonly string[] = ['backup', 'backupVerify', 'backupRestore']
  if (ofBackups.includes(operation.kind)) return chunksLeft(operation)
  return operation.kind === 'tenantDeletion' ? contentLeft(operation) : copiesLeft(operation)
}

function contentLeft({ progress: { blobsTotal, blobsDone } }: LongOperation): number | null {
  return blobsDone === 0 ? null : Math.max(0, blobsTotal - blobsDone) / blobsDone
}

function bytesLeft({ progress: { bytesTotal, bytesMoved } }: LongOperation): number | null {
  return bytesMoved === 0 ? null : Math.max(0, bytesTotal - bytesMoved) / bytesMoved
}

/** By chunks, or versions, that were looked at: those that the target has take no time. */
function chunksLeft({ progress }: LongOperation): number | null {
  const { blobsTotal, blobsDone, skipped, checksumFailures } = progress
  const done = blobsDone + skipped + checksumFailures
  return done === 0 ? null : Math.max(0, blobsTotal - done) / done
}

function copiesLeft({ cursor, progress }: LongOperation): number | null {
  const { blobsDone, tasksOpen } = progress
  return cursor !== ALL_PLANNED || blobsDone === 0 ? null : tasksOpen / blobsDone
}

/** Of the node that is furthest behind. */
function wayLeft(shares: readonly LongOperationShare[]): number | null {
  const behind = Math.min(1, ...shares.map(({ progress }) => progress))
  return behind === 0 ? null : (1 - behind) / behind
}
