/**
 * A backup is made or read back, a schedule is removed: each with its plan first.
 */
import { useState } from 'preact/hooks'
import { Notice } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { backupPlans } from '../state/backup-data.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.backups

interface Props {
  readonly onClose: () => void
}

export function BackUp({ onClose }: Props) {
  const [target, setTarget] = useState(backupPlans.value.peek()?.targets[0]?.name ?? '')
  const [tenantId, setTenantId] = useState('')
  const [reason, setReason] = useState('')
  const given = { target, reason, ...(tenantId === '' ? {} : { tenantId }) }
  return (
    <PlannedDialog
      title={SAYS.backUp}
      about={SAYS.backUpAbout}
      fields={
        <>
          <Field
            label={SAYS.target}
            help={SAYS.targetHelp}
            value={target}
            onChange={setTarget}
            isRequired
            isFirst
          />
          <Field label={SAYS.tenant} help={SAYS.tenantHelp} value={tenantId} onChange={setTenantId} />
          <Reason value={reason} onChange={setReason} />
        </>
      }
      plan={(api) => api.dryRun.createBackup(given)}
      shown={({ plan }) => <p>{SAYS.plan(count(plan.chunks), bytes(plan.chunkBytes), plan.backups)}</p>}
      confirm={null}
      run={(api) => api.createBackup(given)}
      done={() => <Notice tone="good" title={SAYS.started} />}
      onClose={onClose}
    />
  )
}

export function VerifyBackup({
  target,
  backupId,
  onClose,
}: Props & { readonly target: string; readonly backupId: string }) {
  const [reason, setReason] = useState('')
  const given = { backupId, target, reason }
  return (
    <PlannedDialog
      title={`${SAYS.verify}: ${backupId}`}
      about={SAYS.verifyAbout}
      fields={<Reason value={reason} onChange={setReason} />}
      plan={(api) => api.dryRun.verifyClusterBackup(given)}
      shown={({ plan }) => <p>{SAYS.verifyPlan(count(plan.chunks), bytes(plan.chunkBytes))}</p>}
      confirm={null}
      run={(api) => api.verifyClusterBackup(given)}
      done={() => <Notice tone="good" title={SAYS.started} />}
      onClose={onClose}
    />
  )
}

export function RemoveSchedule({ name, onClose }: Props & { readonly name: string }) {
  return (
    <PlannedDialog
      title={`${SAYS.remove}: ${name}`}
      about={SAYS.removeAbout}
      fields={null}
      plan={(api) => api.dryRun.deleteBackupSchedule({ name })}
      shown={() => <p>{SAYS.removePlan(name)}</p>}
      confirm={name}
      run={(api) => api.deleteBackupSchedule({ name })}
      done={() => <Notice tone="good" title={SAYS.removed} />}
      onClose={onClose}
    />
  )
}
