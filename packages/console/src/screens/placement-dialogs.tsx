/**
 * Weight and zone of a member are changed, with what a rebalance would then move.
 */
import { useState } from 'preact/hooks'
import { InputError } from '../forms/input-error.ts'
import type { PlacementSum } from '../judge/placement-sum.ts'
import { Notice } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { type AnyPlan, PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { Table } from '../parts/table.tsx'
import { bytes, count, duration } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.placement

interface Props {
  readonly onClose: () => void
}

interface MovesPlan extends AnyPlan {
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

/** Throws InputError. */
function weightOf(text: string): number | undefined {
  if (text.trim() === '') return undefined
  const weight = Number(text)
  if (!Number.isFinite(weight)) throw new InputError(SAYS.noWeight(text))
  return weight
}

export function ChangePlacement({
  node: { nodeId, zone: present, weight: before },
  onClose,
}: Props & { readonly node: PlacementSum['nodes'][number] }) {
  const [weight, setWeight] = useState(String(before))
  const [zone, setZone] = useState(present ?? '')
  const [reason, setReason] = useState('')
  const given = () => {
    const number = weightOf(weight)
    const asked = {
      ...(number === undefined ? {} : { weight: number }),
      ...(zone.trim() === '' ? {} : { zone: zone.trim() }),
    }
    if (Object.keys(asked).length === 0) throw new InputError(SAYS.noChange)
    return { nodeId, ...asked, reason }
  }
  return (
    <PlannedDialog
      title={`${SAYS.change}: ${nodeId}`}
      about={SAYS.changeAbout}
      fields={
        <>
          <Field label={SAYS.weight} help={SAYS.weightHelp} value={weight} onChange={setWeight} isFirst />
          <Field label={SAYS.zone} help={SAYS.zoneHelp} value={zone} onChange={setZone} />
          <Reason value={reason} onChange={setReason} />
        </>
      }
      plan={async (api) => api.dryRun.setMemberPlacement(given())}
      shown={(planned: MovesPlan) => <Moves planned={planned} />}
      confirm={null}
      run={async (api) => api.setMemberPlacement(given())}
      done={() => <Notice tone="good" title={SAYS.changed} />}
      onClose={onClose}
    />
  )
}

export function UseFilePlacement({ nodeId, onClose }: Props & { readonly nodeId: string }) {
  return (
    <PlannedDialog
      title={`${SAYS.back}: ${nodeId}`}
      about={SAYS.backAbout}
      fields={null}
      plan={(api) => api.dryRun.deleteMemberPlacement({ nodeId })}
      shown={(planned: MovesPlan) => <Moves planned={planned} />}
      confirm={null}
      run={(api) => api.deleteMemberPlacement({ nodeId })}
      done={() => <Notice tone="good" title={SAYS.changed} />}
      onClose={onClose}
    />
  )
}

function Moves({ planned: { plan } }: { readonly planned: MovesPlan }) {
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
