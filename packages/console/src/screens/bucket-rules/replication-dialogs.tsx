/**
 * The replication of a bucket is set, changed, paused, repeated or ended. The target is asked before anything is saved; what ends something shows
 * first what is left.
 */
import { useState } from 'preact/hooks'
import type { Holdfast } from '../../../../client/src/index.ts'
import {
  allSet,
  EMPTY_RULE,
  replicationRuleOf,
  type ReplicationRule,
  ruleFormOf,
  targetFormOf,
  targetOf,
} from '../../forms/replication-form.ts'
import { rulesWith, rulesWithout } from '../../forms/rule-list.ts'
import { Notice } from '../../parts/basics.tsx'
import { DoneDialog } from '../../parts/done-dialog.tsx'
import { YesOrNo } from '../../parts/form.tsx'
import { ALLOWED, PreviewedDialog } from '../../parts/planned-dialog.tsx'
import { TargetFields } from '../../parts/target-fields.tsx'
import type { Replication } from '../../state/rule-data.ts'
import { bytes, count } from '../../words/format.ts'
import { ruleName } from '../../words/rule-words.ts'
import { TEXT } from '../../words/strings.ts'
import { forRules, RulesLeft, SiteRuleFields } from './site-rules.tsx'

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
  return (
    <DoneDialog
      title={TEXT.rules.rule}
      about={SAYS.ruleAbout}
      submit={TEXT.rules.save}
      fields={<SiteRuleFields given={given} onChange={(more) => setGiven({ ...given, ...more })} />}
      run={async (api) =>
        set(api, { bucket, present, rules: rulesWith(present.rules, at, replicationRuleOf(given)) })
      }
      done={() => <Notice tone="good" title={SAYS.setDone} />}
      onClose={onClose}
    />
  )
}

export function RemoveSiteRule({
  bucket,
  present: seen,
  at,
  onClose,
}: Props & { readonly present: Replication; readonly at: number }) {
  // The list behind the dialog may load again, and `at` is a place in the list that was seen.
  const [present] = useState(seen)
  const left = rulesWithout(present.rules, at)
  return (
    <PreviewedDialog
      title={`${TEXT.rules.remove}: ${ruleName(present.rules[at] ?? {}, at)}`}
      about={SAYS.removeRuleAbout}
      fields={null}
      plan={async (api) =>
        forRules(ALLOWED, { now: (await api.getBucketReplication({ bucket })).rules, shown: present.rules })
      }
      shown={() => <RulesLeft rules={left} />}
      confirm={null}
      run={(api) => set(api, { bucket, present, rules: left })}
      done={() => <Notice tone="good" title={SAYS.setDone} />}
      onClose={onClose}
    />
  )
}

export function EndReplication({ bucket, onClose }: Props) {
  return (
    <PreviewedDialog
      title={SAYS.end}
      about={SAYS.endAbout}
      fields={null}
      plan={async (api) => ({ ...ALLOWED, status: await api.getReplicationStatus({ bucket }) })}
      shown={({ status: { pending, pendingBytes } }) => (
        <p>{SAYS.endPlan(count(pending), bytes(pendingBytes))}</p>
      )}
      confirm={bucket}
      run={async (api) => api.deleteBucketReplication({ bucket })}
      done={() => <Notice tone="good" title={SAYS.ended} />}
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

export type SiteChange = 'test' | 'pause' | 'resume' | 'resync' | 'retry'

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
  }
}
