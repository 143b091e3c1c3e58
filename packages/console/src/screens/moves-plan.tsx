/**
 * What a rebalance would move with other weights or zones: in all, and of each node.
 */
import type { AnyPlan } from '../parts/planned-dialog.tsx'
import { Table } from '../parts/table.tsx'
import { bytes, count, duration } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.placement

export interface MovesPlan extends AnyPlan {
  readonly plan: {
    readonly chunks: number
    readonly isComplete: boolean
    readonly copiesToMake: number
    readonly bytesToMove: number
    readonly secondsAtRepairRate: number | null
    readonly nodes: readonly {
      readonly nodeId: string
      readonly zone: string
      readonly weight: number
      readonly bytesIn: number
      readonly bytesOut: number
    }[]
  }
}

export function Moves({ planned: { plan } }: { readonly planned: MovesPlan }) {
  const { chunks, isComplete, copiesToMake, bytesToMove, secondsAtRepairRate: seconds, nodes } = plan
  return (
    <>
      <h3>{TEXT.wizard.planTitle}</h3>
      <p>{copiesToMake === 0 ? SAYS.planNothing : SAYS.plan(count(copiesToMake), bytes(bytesToMove))}</p>
      {seconds === null || copiesToMake === 0 ? null : <p class="soft">{SAYS.takes(duration(seconds))}</p>}
      {isComplete ? null : <p class="soft">{SAYS.planPart(count(chunks))}</p>}
      <Table
        label={SAYS.nodes}
        empty=""
        keyOf={({ nodeId }) => nodeId}
        rows={nodes}
        columns={[
          { head: SAYS.node, cell: ({ nodeId }) => <b>{nodeId}</b> },
          { head: SAYS.zone, cell: ({ zone }) => (zone === '' ? TEXT.none : zone) },
          { head: SAYS.weight, cell: ({ weight }) => String(weight), isFigure: true },
          { head: SAYS.in, cell: ({ bytesIn }) => bytes(bytesIn), isFigure: true },
          { head: SAYS.out, cell: ({ bytesOut }) => bytes(bytesOut), isFigure: true },
        ]}
      />
    </>
  )
}
