/**
 * Weight and zone of a member are changed, with what a rebalance would then move.
 */
import { useState } from 'preact/hooks'
import { InputError } from '../forms/input-error.ts'
import { weightOf } from '../forms/weights-form.ts'
import type { PlacementSum } from '../judge/placement-sum.ts'
import { Notice } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { TEXT } from '../words/strings.ts'
import { Moves, type MovesPlan } from './moves-plan.tsx'

const SAYS = TEXT.placement

interface Props {
  readonly onClose: () => void
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
