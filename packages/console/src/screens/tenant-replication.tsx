/**
 * The replication of all buckets of a tenant: its target, its rules, the buckets that wait; set, changed and ended with a plan.
 */
import { useEffect, useState } from 'preact/hooks'
import type { TenantReplication } from '../../../client/src/admin.ts'
import {
  EMPTY_RULE,
  replicationRuleOf,
  type ReplicationRule,
  ruleFormOf,
  targetFormOf,
  targetOf,
} from '../forms/replication-form.ts'
import { rulesWith, rulesWithout } from '../forms/rule-list.ts'
import { Button, Card, FactList, Loaded, Notice, Time } from '../parts/basics.tsx'
import { YesOrNo } from '../parts/form.tsx'
import { type AnyPlan, PlannedDialog } from '../parts/planned-dialog.tsx'
import { Table } from '../parts/table.tsx'
import { TargetFields } from '../parts/target-fields.tsx'
import { tenantId } from '../state/tenant-data.ts'
import { tenantReplication } from '../state/tenant-rules.ts'
import { count } from '../words/format.ts'
import { ruleName } from '../words/rule-words.ts'
import { TEXT } from '../words/strings.ts'
import {
  forRules,
  type RuleChange,
  RulesLeft,
  SiteRuleFields,
  SiteRules,
} from './bucket-rules/site-rules.tsx'

const SAYS = TEXT.replication

interface Props {
  readonly id: string
  readonly onClose: () => void
}

export function TenantReplicationCard({ id }: { readonly id: string }) {
  const [open, setOpen] = useState<'set' | 'end' | RuleChange | null>(null)
  useEffect(() => {
    tenantId.value = id
    tenantReplication.forget()
    void tenantReplication.load()
  }, [id])
  const close = (): void => {
    setOpen(null)
    void tenantReplication.load()
  }
  const present = tenantReplication.value.value?.set ?? null
  return (
    <Card
      title={SAYS.tenantTitle}
      actions={
        <>
          <Button needs="setTenantReplication" onClick={() => setOpen('set')}>
            {present === null ? SAYS.set : SAYS.change}
          </Button>
          {present === null ? null : (
            <Button needs="deleteTenantReplication" onClick={() => setOpen('end')}>
              {SAYS.end}
            </Button>
          )}
        </>
      }
    >
      <Loaded of={tenantReplication}>
        {({ set }) =>
          set === null ? <p class="soft">{SAYS.tenantNone}</p> : <Setting set={set} onOpen={setOpen} />
        }
      </Loaded>
      {open === 'set' ? <SetForTenant id={id} present={present} onClose={close} /> : null}
      {open === 'end' ? <EndForTenant id={id} onClose={close} /> : null}
      {typeof open === 'object' && open !== null && present !== null ? (
        <ChangeRule id={id} present={present} change={open} onClose={close} />
      ) : null}
    </Card>
  )
}

function Setting({
  set: { target, rules, waiting, createBuckets, updatedAt },
  onOpen,
}: {
  readonly set: TenantReplication
  readonly onOpen: (change: RuleChange) => void
}) {
  return (
    <div class="stack">
      <FactList
        rows={[
          [SAYS.target, <span class="code">{target.endpoint}</span>],
          ...(target.bucketPrefix === undefined || target.bucketPrefix === ''
            ? []
            : [[SAYS.bucketPrefix, <span class="code">{target.bucketPrefix}</span>] as const]),
          [SAYS.key, <span class="code">{target.accessKeyId}</span>],
          [SAYS.createBuckets, SAYS.createBucketsHow[createBuckets ? 'yes' : 'no']],
          [TEXT.objects.changed, <Time iso={updatedAt} />],
        ]}
      />
      <SiteRules rules={rules} needs="setTenantReplication" onOpen={onOpen} />
      {waiting.length === 0 ? null : (
        <>
          <h3>{SAYS.waiting}</h3>
          <Table
            label={SAYS.waiting}
            empty=""
            keyOf={({ bucket }) => bucket}
            rows={waiting}
            columns={[
              { head: TEXT.objects.bucket, cell: ({ bucket }) => bucket },
              { head: SAYS.lastError, cell: ({ error }) => error },
              { head: SAYS.attempts, cell: ({ attempts }) => count(attempts), isFigure: true, isMinor: true },
              {
                head: SAYS.nextAttempt,
                cell: ({ nextAttemptAt }) => <Time iso={nextAttemptAt} />,
                isMinor: true,
              },
            ]}
          />
        </>
      )}
    </div>
  )
}

function SetForTenant({ id, present, onClose }: Props & { readonly present: TenantReplication | null }) {
  const [given, setGiven] = useState(
    targetFormOf(present?.target ?? null, present?.target.bucketPrefix ?? ''),
  )
  const [createBuckets, setCreateBuckets] = useState(present?.createBuckets ?? true)
  const [existing, setExisting] = useState(present?.existing ?? true)
  const prefix = given.bucket.trim()
  const input = {
    id,
    target: { ...targetOf(given), ...(prefix === '' ? {} : { bucketPrefix: prefix }) },
    ...(present === null ? {} : { rules: present.rules }),
    createBuckets,
    existing,
  }
  return (
    <PlannedDialog
      title={present === null ? SAYS.set : SAYS.change}
      about={SAYS.setAbout}
      fields={
        <>
          <TargetFields
            given={given}
            onChange={(more) => setGiven({ ...given, ...more })}
            bucket={{ label: SAYS.bucketPrefix, help: SAYS.bucketPrefixHelp, isRequired: false }}
          />
          <div class="two">
            <YesOrNo
              label={SAYS.createBuckets}
              value={createBuckets}
              onChange={setCreateBuckets}
              texts={SAYS.createBucketsHow}
            />
            <YesOrNo label={SAYS.existing} value={existing} onChange={setExisting} texts={SAYS.existings} />
          </div>
        </>
      }
      plan={(api) => api.dryRun.setTenantReplication(input)}
      shown={({ plan: { buckets } }) => <Follow buckets={buckets} />}
      confirm={null}
      run={(api) => api.setTenantReplication(input)}
      done={() => <Notice tone="good" title={SAYS.setDone} />}
      onClose={onClose}
    />
  )
}

interface RuleProps extends Props {
  readonly present: TenantReplication
}

function ChangeRule({ change, present: seen, ...props }: RuleProps & { readonly change: RuleChange }) {
  // The list behind the dialog may load again, and the place of the rule is one in the list that was seen.
  const [present] = useState(seen)
  return change.rule === 'remove' ? (
    <RemoveRule {...props} present={present} at={change.at} />
  ) : (
    <EditRule {...props} present={present} at={change.at} />
  )
}

/** With the secret that is there. */
const withRules = (
  id: string,
  { target, createBuckets, existing }: TenantReplication,
  rules: readonly ReplicationRule[],
) => ({ id, target, createBuckets, existing, rules })

function EditRule({ id, present, at, onClose }: RuleProps & { readonly at: number | null }) {
  const rule = at === null ? undefined : present.rules[at]
  const [given, setGiven] = useState(rule === undefined ? EMPTY_RULE : ruleFormOf(rule))
  const input = () => withRules(id, present, rulesWith(present.rules, at, replicationRuleOf(given)))
  return (
    <PlannedDialog
      title={TEXT.rules.rule}
      about={SAYS.ruleAbout}
      fields={<SiteRuleFields given={given} onChange={(more) => setGiven({ ...given, ...more })} />}
      plan={async (api) => planned(await api.dryRun.setTenantReplication(input()), present)}
      shown={({ plan: { buckets } }) => <Follow buckets={buckets} />}
      confirm={null}
      run={async (api) => api.setTenantReplication(input())}
      done={() => <Notice tone="good" title={SAYS.setDone} />}
      onClose={onClose}
    />
  )
}

function RemoveRule({ id, present, at, onClose }: RuleProps & { readonly at: number }) {
  const input = withRules(id, present, rulesWithout(present.rules, at))
  return (
    <PlannedDialog
      title={`${TEXT.rules.remove}: ${ruleName(present.rules[at] ?? {}, at)}`}
      about={SAYS.removeRuleAbout}
      fields={null}
      plan={async (api) => planned(await api.dryRun.setTenantReplication(input), present)}
      shown={({ plan: { buckets } }) => (
        <>
          <RulesLeft rules={input.rules} />
          <Follow buckets={buckets} />
        </>
      )}
      confirm={null}
      run={(api) => api.setTenantReplication(input)}
      done={() => <Notice tone="good" title={SAYS.setDone} />}
      onClose={onClose}
    />
  )
}

interface SetPlan extends AnyPlan {
  readonly plan: { readonly before: TenantReplication | null; readonly buckets: Followers | null }
}

const planned = (plan: SetPlan, present: TenantReplication): SetPlan =>
  forRules(plan, { now: plan.plan.before?.rules ?? [], shown: present.rules })

interface Followers {
  readonly follow: number
  readonly own: number
  readonly copies: number
}

function Follow({ buckets }: { readonly buckets: Followers | null }) {
  if (buckets === null) return <p>{TEXT.wizard.planTitle}</p>
  return (
    <p>
      {SAYS.follow(buckets.follow, buckets.own)} {buckets.copies === 0 ? '' : SAYS.copies(buckets.copies)}
    </p>
  )
}

function EndForTenant({ id, onClose }: Props) {
  return (
    <PlannedDialog
      title={SAYS.end}
      about={SAYS.endAbout}
      fields={null}
      plan={(api) => api.dryRun.deleteTenantReplication({ id })}
      shown={({ plan: { buckets } }) => <Follow buckets={buckets} />}
      confirm={id}
      run={(api) => api.deleteTenantReplication({ id })}
      done={() => <Notice tone="good" title={SAYS.ended} />}
      onClose={onClose}
    />
  )
}
