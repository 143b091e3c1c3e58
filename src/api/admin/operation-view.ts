/**
 * A long operation on the wire. [decisions 12]
 *
 * Rule: the time left is told only when all that is to be done is known, that is when nothing is left to plan.
 */
import Type, { type Static } from 'typebox'
import { ALL_PLANNED } from '../../state-machine/operations.ts'
import type { OperationRecord } from '../../state-machine/records.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })

export const OperationView = Type.Object(
  {
    operationId: Type.String(),
    type: Type.Enum(['rebalance', 'recovery', 'scrub', 'recount']),
    status: Type.Enum(['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled']),
    phase: Type.String({ description: 'For people' }),
    requestedBy: Type.String({ description: 'Id of the admin token' }),
    reason: orNull(Type.String()),
    tenantId: orNull(Type.String()),
    bucket: orNull(Type.String()),
    maxBytesPerSecond: orNull(Count),
    createdAt: Time,
    startedAt: orNull(Time),
    finishedAt: orNull(Time),
    progress: Type.Object({
      blobsTotal: Type.Integer({
        minimum: 0,
        description: 'Copies looked at so far; final once all are planned',
      }),
      blobsDone: Type.Integer({ minimum: 0, description: 'Copies made, read back and committed' }),
      bytesTotal: Count,
      bytesMoved: Count,
      checksumFailures: Count,
      skipped: Type.Integer({ minimum: 0, description: 'Copies that need nothing, or were given up' }),
      tasksOpen: Type.Integer({ minimum: 0, description: 'Copies planned and not made yet' }),
    }),
    etaSeconds: orNull(
      Type.Integer({ minimum: 0, description: 'From the pace so far; null while it cannot be told' }),
    ),
    error: orNull(Type.String()),
  },
  { additionalProperties: false },
)

/** Names every member: the cursor of the driver stays inside. */
export function operationView(operation: OperationRecord, nowMs: number): Static<typeof OperationView> {
  return {
    operationId: operation.operationId,
    type: operation.kind,
    status: operation.status,
    phase: operation.phase,
    requestedBy: operation.requestedBy,
    reason: operation.reason,
    tenantId: operation.tenantId,
    bucket: operation.bucket,
    maxBytesPerSecond: operation.maxBytesPerSecond,
    createdAt: timeText(operation.createdAt),
    startedAt: timeTextOrNull(operation.startedAt),
    finishedAt: timeTextOrNull(operation.finishedAt),
    progress: { ...operation.progress },
    etaSeconds: secondsLeft(operation, nowMs),
    error: operation.error,
  }
}

function secondsLeft({ status, startedAt, cursor, progress }: OperationRecord, nowMs: number): number | null {
  const { blobsDone, tasksOpen } = progress
  if (status !== 'running' || startedAt === null || cursor !== ALL_PLANNED || blobsDone === 0) return null
  return Math.ceil((Math.max(0, nowMs - startedAt) / blobsDone) * (tasksOpen / 1000))
}
