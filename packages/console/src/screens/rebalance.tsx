/**
 * The dialog that moves the copies of a tenant, or of one of its buckets, to where they should be.
 */
import { useState } from 'preact/hooks'
import { Field } from '../parts/form.tsx'
import { type AnyPlan, PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { load } from '../state/cluster-data.ts'
import { TEXT } from '../words/strings.ts'
import { FollowedOperation } from './operation-state.tsx'

const SAYS = TEXT.operations
const MIB = 1024 * 1024

interface Asked {
  readonly tenantId: string
  readonly bucket: string
  /** '' for no limit. */
  readonly mebibytes: string
  readonly reason: string
}

/** What is not a number reaches the API, which says so. */
const inputOf = ({ tenantId, bucket, mebibytes, reason }: Asked) => ({
  tenantId,
  reason,
  ...(bucket === '' ? {} : { bucket }),
  ...(mebibytes === '' ? {} : { maxBytesPerSecond: Math.round(Number(mebibytes) * MIB) }),
})

export function RebalanceDialog({ onClose }: { readonly onClose: () => void }) {
  const [asked, setAsked] = useState<Asked>({ tenantId: '', bucket: '', mebibytes: '', reason: '' })
  const change = (more: Partial<Asked>): void => setAsked({ ...asked, ...more })
  return (
    <PlannedDialog
      title={SAYS.startRebalance}
      about={SAYS.rebalanceAbout}
      fields={<Fields asked={asked} change={change} />}
      plan={(api): Promise<AnyPlan> => api.dryRun.rebalance(inputOf(asked))}
      shown={() => <p>{SAYS.rebalancePlan}</p>}
      confirm={null}
      run={async (api) => {
        const started = await api.rebalance(inputOf(asked))
        await load('operations')
        return started
      }}
      done={(started) => <FollowedOperation started={started} />}
      onClose={onClose}
    />
  )
}

function Fields({
  asked: { tenantId, bucket, mebibytes, reason },
  change,
}: {
  readonly asked: Asked
  readonly change: (more: Partial<Asked>) => void
}) {
  return (
    <div class="two">
      <Field
        label={SAYS.tenant}
        value={tenantId}
        onChange={(tenantId) => change({ tenantId })}
        isRequired
        isFirst
      />
      <Field
        label={SAYS.bucket}
        help={SAYS.bucketHelp}
        value={bucket}
        onChange={(bucket) => change({ bucket })}
      />
      <Field
        label={SAYS.rateMax}
        help={SAYS.rateHelp}
        value={mebibytes}
        onChange={(mebibytes) => change({ mebibytes })}
      />
      <Reason value={reason} onChange={(reason) => change({ reason })} />
    </div>
  )
}
