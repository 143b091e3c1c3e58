/**
 * Operations: what runs, how far it is and what holds it back; what ran before.
 */
import { useEffect } from 'preact/hooks'
import type { Operation } from '../../../client/src/admin.ts'
import { bytes, count, duration } from '../words/format.ts'
import { Badge, Bar, Card, Loaded, Time, type Tone } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { load, operations } from '../state/cluster-data.ts'
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

export function Operations() {
  useEffect(() => void load('operations', 'repair'), [])
  return (
    <Loaded of={operations}>
      {(all) => (
        <>
          {all.some(isOpen) ? (
            <Card title={SAYS.running}>
              {all.filter(isOpen).map((operation) => (
                <OperationState key={operation.operationId} operation={operation} />
              ))}
            </Card>
          ) : null}
          <History ended={all.filter((operation) => !isOpen(operation))} />
        </>
      )}
    </Loaded>
  )
}

export const aboutOf = ({ nodeId, tenantId, bucket }: Operation): string =>
  [nodeId, tenantId, bucket].filter((part) => part !== null).join(' / ')

export function OperationState({ operation }: { readonly operation: Operation }) {
  const { type, status, phase, progress, etaSeconds, blockers, error } = operation
  const total = Math.max(progress.blobsTotal, progress.blobsDone)
  return (
    <div class="operation">
      <div class="head">
        <b>
          {type} <span class="soft">{aboutOf(operation)}</span>
        </b>
        <Badge tone={STATUS_TONE[status]}>{TEXT.status[status]}</Badge>
      </div>
      <p>{phase}</p>
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
    </div>
  )
}

function tookOf({ startedAt, finishedAt }: Operation): string {
  if (startedAt === null || finishedAt === null) return ''
  return duration((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000)
}

function History({ ended }: { readonly ended: readonly Operation[] }) {
  return (
    <Card title={SAYS.ended}>
      <Table
        label={SAYS.ended}
        keyOf={({ operationId }) => operationId}
        empty={SAYS.none}
        rows={ended}
        columns={[
          { head: SAYS.type, cell: ({ type }) => type },
          { head: SAYS.about, cell: aboutOf, isMinor: true },
          {
            head: SAYS.status,
            cell: ({ status, error }) => (
              <>
                <Badge tone={STATUS_TONE[status]}>{TEXT.status[status]}</Badge>
                {error === null ? null : <p class="soft">{error}</p>}
              </>
            ),
          },
          { head: SAYS.started, cell: ({ createdAt }) => <Time iso={createdAt} /> },
          { head: SAYS.took, cell: tookOf, isMinor: true, isFigure: true },
          {
            head: SAYS.by,
            cell: ({ requestedBy }) => <span class="code">{requestedBy}</span>,
            isMinor: true,
          },
        ]}
      />
    </Card>
  )
}
