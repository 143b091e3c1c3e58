/**
 * Changes of a tenant as a whole: its quota, and how it ends.
 */
import { useState } from 'preact/hooks'
import type { Quota } from '../../../client/src/admin.ts'
import { FactList, Notice } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { type AnyPlan, PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { load } from '../state/cluster-data.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { FollowedOperation } from './operation-state.tsx'

const SAYS = TEXT.tenants

interface Props {
  readonly id: string
  readonly onClose: () => void
}

interface EndPlan extends AnyPlan {
  readonly plan: {
    readonly buckets: number
    readonly objects: number
    readonly versions: number
    readonly legalHeldVersions: number
    readonly retainedVersions: number
    readonly accessKeys: number
    readonly physicalBytes: number
  }
}

function WhatGoes({ plan }: { readonly plan: EndPlan['plan'] }) {
  return (
    <FactList
      rows={[
        [SAYS.buckets, count(plan.buckets)],
        [SAYS.objects, count(plan.objects)],
        [SAYS.versions, count(plan.versions)],
        [SAYS.held, count(plan.legalHeldVersions)],
        [SAYS.retained, count(plan.retainedVersions)],
        [SAYS.keys, count(plan.accessKeys)],
        [SAYS.onDisk, bytes(plan.physicalBytes)],
      ]}
    />
  )
}

export function DisableTenant({ id, onClose }: Props) {
  const [reason, setReason] = useState('')
  return (
    <PlannedDialog
      title={`${SAYS.disable}: ${id}`}
      about={SAYS.disableAbout}
      fields={<Reason value={reason} onChange={setReason} isFirst />}
      plan={(api) => api.dryRun.disableTenant({ id, reason })}
      shown={({ plan }: EndPlan) => <WhatGoes plan={plan} />}
      confirm={id}
      run={(api) => api.disableTenant({ id, reason })}
      done={() => <Notice tone="good" title={SAYS.isDisabled} />}
      onClose={onClose}
    />
  )
}

export function DeleteTenant({ id, onClose }: Props) {
  const [reason, setReason] = useState('')
  return (
    <PlannedDialog
      title={`${SAYS.delete}: ${id}`}
      about={SAYS.deleteAbout}
      fields={<Reason value={reason} onChange={setReason} isFirst />}
      plan={(api) => api.dryRun.deleteTenant({ id, reason, confirm: id })}
      shown={({ plan }: EndPlan) => <WhatGoes plan={plan} />}
      confirm={id}
      run={async (api) => {
        const started = await api.deleteTenant({ id, reason, confirm: id })
        await load('operations')
        return started
      }}
      done={(started) => <FollowedOperation started={started} />}
      onClose={onClose}
    />
  )
}

const LIMITS = ['maxBytes', 'maxObjects', 'maxBuckets', 'maxVersions', 'maxUploads'] as const
type Limit = (typeof LIMITS)[number]

export function SetQuota({ id, quota: { quota }, onClose }: Props & { readonly quota: Quota }) {
  const [given, setGiven] = useState<Readonly<Record<Limit, string>>>({
    maxBytes: String(quota.maxBytes ?? ''),
    maxObjects: String(quota.maxObjects ?? ''),
    maxBuckets: String(quota.maxBuckets ?? ''),
    maxVersions: String(quota.maxVersions ?? ''),
    maxUploads: String(quota.maxUploads ?? ''),
  })
  const asked = Object.fromEntries(
    LIMITS.map((name) => [name, given[name].trim() === '' ? null : Number(given[name])]),
  )
  return (
    <PlannedDialog
      title={`${SAYS.setQuota}: ${id}`}
      about={SAYS.quotaAbout}
      fields={
        <div class="two">
          {LIMITS.map((name, at) => (
            <Field
              key={name}
              label={SAYS.limits[name]}
              value={given[name]}
              onChange={(value) => setGiven({ ...given, [name]: value })}
              placeholder={TEXT.noLimit}
              isFirst={at === 0}
            />
          ))}
        </div>
      }
      plan={(api) => api.dryRun.setTenantQuota({ id, ...asked })}
      shown={() => <p>{SAYS.quotaPlan}</p>}
      confirm={null}
      run={(api) => api.setTenantQuota({ id, ...asked })}
      done={() => <Notice tone="good" title={SAYS.quotaSet} />}
      onClose={onClose}
    />
  )
}
