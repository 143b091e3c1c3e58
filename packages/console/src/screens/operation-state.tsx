/**
 * A long operation as it is now: what it does, how far it is, what holds it back, and the orders that it takes.
 */
import { useState } from 'preact/hooks'
import type { Operation } from '../../../client/src/admin.ts'
import { BY_TOKEN } from '../parts/access.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Badge, Bar, RowButton, type Tone } from '../parts/basics.tsx'
import { type AnyPlan, PlannedDialog } from '../parts/planned-dialog.tsx'
import { load, operations } from '../state/cluster-data.ts'
import { bytes, count, duration } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.operations

export const STATUS_TONE: Readonly<Record<Operation['status'], Tone>> = {
  queued: 'quiet',
  running: 'info',
  paused: 'warn',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
}

export const isOpen = ({ finishedAt }: Operation): boolean => finishedAt === null

export const aboutOf = ({ nodeId, tenantId, bucket }: Operation): string =>
  [nodeId, tenantId, bucket].filter((part) => part !== null).join(' / ')

export function OperationState({ operation }: { readonly operation: Operation }) {
  const { type, status, phase, progress, etaSeconds, blockers, error } = operation
  const total = Math.max(progress.blobsTotal, progress.blobsDone)
  return (
    <div class="operation" aria-live="polite">
      <div class="head">
        <b>
          {type} <span class="soft">{aboutOf(operation)}</span>
        </b>
        <Badge tone={STATUS_TONE[status]}>{TEXT.status[status]}</Badge>
      </div>
      {isOpen(operation) ? <p>{phase}</p> : null}
      {total === 0 ? null : (
        <>
          <Bar share={progress.blobsDone / total} label={SAYS.progress} />
          <p class="soft">
            {SAYS.copies(count(progress.blobsDone), count(total))}, {bytes(progress.bytesMoved)}
            {etaSeconds === null ? '' : `, ${SAYS.eta(duration(etaSeconds))}`}
          </p>
        </>
      )}
      {blockers.map(({ code, message }) => (
        <div class="notice warn" key={code}>
          <b>{code}</b>
          <p>{message}</p>
        </div>
      ))}
      {error === null ? null : (
        <div class="notice bad">
          <p>{error}</p>
        </div>
      )}
      {isOpen(operation) ? <Orders operation={operation} /> : null}
    </div>
  )
}

/** It as it is now, or as it was when it started, after the dialog that started it. */
export function FollowedOperation({ started }: { readonly started: Operation }) {
  const now =
    operations.value.value?.find(({ operationId }) => operationId === started.operationId) ?? started
  return (
    <>
      <OperationState operation={now} />
      {isOpen(now) ? <p class="soft">{TEXT.wizard.follow}</p> : null}
    </>
  )
}

function Orders({ operation: { operationId: id, status, type } }: { readonly operation: Operation }) {
  const [isEnding, setEnding] = useState(false)
  return (
    <>
      <div class="actions">
        {status === 'paused' ? (
          <ActionButton
            key="resume"
            access={BY_TOKEN}
            needs="resumeOperation"
            label={`${SAYS.resume}: ${type}`}
            run={(api) => api.resumeOperation({ id })}
            onDone={() => load('operations')}
          >
            {SAYS.resume}
          </ActionButton>
        ) : (
          <ActionButton
            key="pause"
            access={BY_TOKEN}
            needs="pauseOperation"
            label={`${SAYS.pause}: ${type}`}
            run={(api) => api.pauseOperation({ id })}
            onDone={() => load('operations')}
          >
            {SAYS.pause}
          </ActionButton>
        )}
        <RowButton needs="cancelOperation" text={SAYS.cancel} of={type} onClick={() => setEnding(true)} />
      </div>
      {isEnding ? <EndDialog id={id} type={type} onClose={() => setEnding(false)} /> : null}
    </>
  )
}

type EndPlan = AnyPlan & { readonly plan: { readonly tasksOpen: number } }

/** There is no way back from it, so that its plan comes first. */
function EndDialog({
  id,
  type,
  onClose,
}: {
  readonly id: string
  readonly type: string
  readonly onClose: () => void
}) {
  return (
    <PlannedDialog
      title={`${SAYS.cancel}: ${type}`}
      about={SAYS.cancelAbout}
      fields={null}
      plan={(api): Promise<EndPlan> => api.dryRun.cancelOperation({ id })}
      shown={({ plan: { tasksOpen } }) => <p>{SAYS.cancelPlan(count(tasksOpen))}</p>}
      confirm={null}
      run={async (api) => {
        const ended = await api.cancelOperation({ id })
        await load('operations')
        return ended
      }}
      done={(ended) => <FollowedOperation started={ended} />}
      onClose={onClose}
    />
  )
}
