/**
 * Operations: what runs, how far it is and what holds it back; what ran before.
 */
import { useEffect } from 'preact/hooks'
import type { Operation } from '../../../client/src/admin.ts'
import { duration } from '../words/format.ts'
import { Badge, Card, Loaded, Time } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { load, operations } from '../state/cluster-data.ts'
import { TEXT } from '../words/strings.ts'
import { RepairCard } from './repair-card.tsx'
import { aboutOf, isOpen, OperationState, STATUS_TONE } from './operation-state.tsx'

const SAYS = TEXT.operations

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
          <RepairCard />
          <History ended={all.filter((operation) => !isOpen(operation))} />
        </>
      )}
    </Loaded>
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
