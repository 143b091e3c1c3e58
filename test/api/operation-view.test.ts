/** The remaining time is reported exactly when it is known. */
import t from 'tap'
import { longOperationView } from '../../src/api/admin/operation-view.ts'
import { ALL_PLANNED } from '../../src/state-machine/long-operations/operations.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'

const RUNNING: LongOperation = {
  operationId: 'op_1',
  kind: 'rebalance',
  status: 'running',
  phase: 'waiting for copies',
  requestedBy: 'adm_1',
  reason: 'why',
  tenantId: 'acme',
  bucket: null,
  node: null,
  maxBytesPerSecond: null,
  createdAt: 0,
  startedAt: 1_000,
  finishedAt: null,
  cursor: ALL_PLANNED,
  error: null,
  progress: {
    blobsTotal: 100,
    blobsDone: 40,
    bytesTotal: 1_000,
    bytesMoved: 400,
    checksumFailures: 0,
    skipped: 0,
    tasksOpen: 60,
  },
}
const eta = (change: Partial<LongOperation>): number | null =>
  longOperationView({ ...RUNNING, ...change }, 81_000).etaSeconds

t.test('etaSeconds', async (t) => {
  t.equal(eta({}), 120, '40 in 80 seconds, 60 to go')
  t.equal(eta({ cursor: '0:c1' }), null, 'while not all is planned')
  t.equal(eta({ status: 'paused' }), null)
  t.equal(eta({ progress: { ...RUNNING.progress, blobsDone: 0 } }), null)
  t.equal(eta({ startedAt: 90_000 }), 0, 'a clock that runs behind')
  const deletion = { kind: 'tenantDeletion', progress: { ...RUNNING.progress, tasksOpen: 0 } } as const
  t.equal(eta(deletion), 120, 'of a deletion by the removed objects')
  t.equal(eta({ ...deletion, progress: { ...deletion.progress, blobsDone: 0 } }), null)
  const share = (progress: number) => ({ isDone: progress === 1, progress, copies: 1, bytes: 1, lost: 0 })
  const shares = { n1: share(1), n2: share(0.25) }
  t.equal(eta({ shares, cursor: '' }), 240, 'a quarter in 80 seconds, by the node that is furthest behind')
  t.equal(eta({ shares: { ...shares, n3: share(0) } }), null, 'one has not started')
})

t.test('etaSeconds of a change of the members is known from the first second', async (t) => {
  const { progress } = RUNNING
  const fresh = { ...progress, blobsDone: 0, bytesMoved: 0, tasksOpen: 0 }
  const demote = { kind: 'demote', cursor: 'demote', dueAt: 141_000, progress: fresh } as const
  t.equal(eta(demote), 60, 'as it was estimated')
  t.equal(eta({ ...demote, dueAt: 80_000 }), null, 'it takes longer than that')
  t.equal(eta({ ...demote, cursor: 'drain', progress: { ...fresh, blobsDone: 20, skipped: 20 } }), 120)
  const blocker = { code: 'would_lose_quorum', message: 'no' } as const
  t.equal(eta({ ...demote, blocker }), null, 'unknown')
  t.equal(eta({ ...demote, status: 'succeeded' }), null)
  t.equal(eta({ ...demote, progress: { ...fresh, blobsTotal: 5, skipped: 9 } }), 0, 'more than was counted')
})
