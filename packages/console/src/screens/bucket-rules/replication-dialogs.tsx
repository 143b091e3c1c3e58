/**
 * The replication of a bucket is set, changed, paused, repeated or ended. The target is asked before anything is saved.
 */
import { useState } from 'preact/hooks'
import type { Holdfast } from '../../../../client/src/index.ts'
import {
  allSet,
  DELETIONS,
  EMPTY_RULE,
  replicationRuleOf,
  type ReplicationRule,
  ruleFormOf,
  targetFormOf,
  targetOf,
} from '../../forms/replication-form.ts'
import { rulesWith } from '../../forms/rule-list.ts'
import { Notice } from '../../parts/basics.tsx'
import { DoneDialog } from '../../parts/done-dialog.tsx'
import { Field, Select, YesOrNo } from '../../parts/form.tsx'
import { TargetFields } from '../../parts/target-fields.tsx'
import type { Replication } from '../../state/rule-data.ts'
import { count } from '../../words/format.ts'
import { TEXT } from '../../words/strings.ts'
import { FilterFields } from './filter-fields.tsx'

const SAYS = TEXT.replication

interface Props {
  readonly bucket: string
  readonly onClose: () => void
}

export function SetTarget({ bucket, present, onClose }: Props & { readonly present: Replication | null }) {
  const [given, setGiven] = useState(targetFormOf(present?.target ?? null, present?.target.bucket ?? bucket))
  const [existing, setExisting] = useState(true)
  return (
    <DoneDialog
      title={present === null ? SAYS.set : SAYS.change}
      about={SAYS.setAbout}
      submit={TEXT.rules.save}
      fields={
        <>
          <TargetFields
            given={given}
            onChange={(more) => setGiven({ ...given, ...more })}
            bucket={{ label: SAYS.bucketThere, isRequired: true }}
          />
          <YesOrNo label={SAYS.existing} value={existing} onChange={setExisting} texts={SAYS.existings} />
        </>
      }
      run={(api) =>
        api.setBucketReplication({
          bucket,
          target: { ...targetOf(given), bucket: given.bucket.trim() },
          ...(present === null ? {} : { rules: present.rules }),
          existing,
        })
      }
      done={() => <Notice tone="good" title={SAYS.setDone} />}
      onClose={onClose}
    />
  )
}

export function EditSiteRule({
  bucket,
  present,
  at,
  onClose,
}: Props & { readonly present: Replication; readonly at: number | null }) {
  const rule = at === null ? undefined : present.rules[at]
  const [given, setGiven] = useState(rule === undefined ? EMPTY_RULE : ruleFormOf(rule))
  const change = (more: Partial<typeof given>): void => setGiven({ ...given, ...more })
  const { name, nameHelp } = TEXT.rules
  return (
    <DoneDialog
      title={TEXT.rules.rule}
      about={SAYS.ruleAbout}
      submit={TEXT.rules.save}
      fields={
        <>
          <Field label={name} help={nameHelp} value={given.id} onChange={(id) => change({ id })} isFirst />
          <FilterFields given={given} onChange={change} />
          <div class="two">
            <Select
              label={SAYS.ruleDeletes}
              value={given.deletes}
              onChange={(value) => change({ deletes: DELETIONS.find((one) => one === value) ?? '' })}
              choices={[
                { value: '', text: SAYS.usualDeletes },
                ...DELETIONS.map((value) => ({ value, text: SAYS.deletions[value] })),
              ]}
            />
            <YesOrNo
              label={TEXT.operations.status}
              value={given.isEnabled}
              onChange={(isEnabled) => change({ isEnabled })}
              texts={{ yes: TEXT.rules.enabled, no: TEXT.rules.disabled }}
            />
          </div>
        </>
      }
      run={async (api) =>
        set(api, { bucket, present, rules: rulesWith(present.rules, at, replicationRuleOf(given)) })
      }
      done={() => <Notice tone="good" title={SAYS.setDone} />}
      onClose={onClose}
    />
  )
}

/** With the secret that is there. */
const set = (
  api: Holdfast,
  {
    bucket,
    present: { target },
    rules,
  }: { readonly bucket: string; readonly present: Replication; readonly rules: readonly ReplicationRule[] },
): Promise<unknown> => api.setBucketReplication({ bucket, target, rules, existing: false })

export type SiteChange = 'test' | 'pause' | 'resume' | 'resync' | 'retry' | 'end'

interface Change {
  readonly name: string
  readonly about: string
  readonly run: (api: Holdfast) => Promise<string>
}

export function ChangeSites({
  bucket,
  present,
  change,
  onClose,
}: Props & { readonly present: Replication; readonly change: SiteChange }) {
  const { name, about, run } = changesOf(bucket, present)[change]
  return (
    <DoneDialog
      title={name}
      about={about}
      submit={name}
      confirm={change === 'end' ? bucket : null}
      run={run}
      done={(says) => <Notice tone="good" title={says} />}
      onClose={onClose}
    />
  )
}

function changesOf(bucket: string, present: Replication): Readonly<Record<SiteChange, Change>> {
  const setTo = (rules: readonly ReplicationRule[], says: string) => async (api: Holdfast) => {
    await set(api, { bucket, present, rules })
    return says
  }
  const { rules } = present
  return {
    test: { name: SAYS.test, about: SAYS.testAbout, run: setTo(rules, SAYS.testDone) },
    pause: {
      name: SAYS.pause,
      about: SAYS.pauseAbout,
      run: setTo(allSet(rules, 'Disabled'), SAYS.paused),
    },
    resume: {
      name: SAYS.resume,
      about: SAYS.resumeAbout,
      run: setTo(allSet(rules, 'Enabled'), SAYS.setDone),
    },
    resync: {
      name: SAYS.resync,
      about: SAYS.resyncAbout,
      run: async (api) => {
        await api.resyncBucketReplication({ bucket })
        return SAYS.resyncDone
      },
    },
    retry: {
      name: SAYS.retry,
      about: SAYS.retryAbout,
      run: async (api) => SAYS.retried(count((await api.retryBucketReplication({ bucket })).retried)),
    },
    end: {
      name: SAYS.end,
      about: SAYS.endAbout,
      run: async (api) => {
        await api.deleteBucketReplication({ bucket })
        return SAYS.ended
      },
    },
  }
}
