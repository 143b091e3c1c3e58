/**
 * The rules of a replication, of a bucket or of all buckets of a tenant: their list, the fields of one, and what is left without one.
 */
import {
  DELETIONS,
  type ReplicationRule,
  type ReplicationRuleForm,
  sentBy,
} from '../../forms/replication-form.ts'
import { Button, Notice, RowButton } from '../../parts/basics.tsx'
import { Field, Select, YesOrNo } from '../../parts/form.tsx'
import type { AnyPlan } from '../../parts/planned-dialog.tsx'
import type { OperationName } from '../../state/rights.ts'
import { replicationInWords, ruleName } from '../../words/rule-words.ts'
import { TEXT } from '../../words/strings.ts'
import { FilterFields } from './filter-fields.tsx'

const SAYS = TEXT.replication

/** `at`: which rule; null for a new one. */
export type RuleChange =
  | { readonly rule: 'edit'; readonly at: number | null }
  | { readonly rule: 'remove'; readonly at: number }

/** `onOpen`: null where the rules are set elsewhere. */
export function SiteRules({
  rules,
  needs,
  onOpen,
}: {
  readonly rules: readonly ReplicationRule[]
  readonly needs?: OperationName
  readonly onOpen: ((change: RuleChange) => void) | null
}) {
  const right = needs === undefined ? {} : { needs }
  return (
    <>
      <h3>{SAYS.rules}</h3>
      {rules.length === 0 ? <p class="soft">{SAYS.noRules}</p> : null}
      <ul class="rules" aria-label={SAYS.rules}>
        {rules.map((rule, at) => {
          const name = ruleName(rule, at)
          return (
            <li key={name}>
              <div class="head">
                <b>{name}</b>
                {onOpen === null
                  ? null
                  : (['edit', 'remove'] as const).map((change) => (
                      <RowButton
                        key={change}
                        {...right}
                        text={TEXT.rules[change]}
                        of={name}
                        onClick={() => onOpen({ rule: change, at })}
                      />
                    ))}
              </div>
              <p class="soft">{replicationInWords(rule)}</p>
            </li>
          )
        })}
      </ul>
      {onOpen === null ? null : (
        <div class="actions">
          <Button {...right} onClick={() => onOpen({ rule: 'edit', at: null })}>
            {TEXT.rules.add}
          </Button>
        </div>
      )}
    </>
  )
}

export function SiteRuleFields({
  given,
  onChange,
}: {
  readonly given: ReplicationRuleForm
  readonly onChange: (more: Partial<ReplicationRuleForm>) => void
}) {
  const { name, nameHelp } = TEXT.rules
  return (
    <>
      <Field label={name} help={nameHelp} value={given.id} onChange={(id) => onChange({ id })} isFirst />
      <FilterFields given={given} onChange={onChange} />
      <div class="two">
        <Select
          label={SAYS.ruleDeletes}
          value={given.deletes}
          onChange={(value) => onChange({ deletes: DELETIONS.find((one) => one === value) ?? '' })}
          choices={[
            { value: '', text: SAYS.usualDeletes },
            ...DELETIONS.map((value) => ({ value, text: SAYS.deletions[value] })),
          ]}
        />
        <YesOrNo
          label={TEXT.operations.status}
          value={given.isEnabled}
          onChange={(isEnabled) => onChange({ isEnabled })}
          texts={{ yes: TEXT.rules.enabled, no: TEXT.rules.disabled }}
        />
      </div>
    </>
  )
}

/** Fewer rules can send more: without any, everything is sent. */
export function RulesLeft({ rules }: { readonly rules: readonly ReplicationRule[] }) {
  const sent = sentBy(rules)
  return (
    <>
      <h3>{SAYS.rulesLeft}</h3>
      {sent === 'named' ? null : <Notice tone="warn" title={SAYS.sentThen[sent]} />}
      <ul aria-label={SAYS.rulesLeft}>
        {rules.map((rule, at) => (
          <li key={ruleName(rule, at)}>
            <b>{ruleName(rule, at)}</b> <span class="soft">{replicationInWords(rule)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** A rule is named by its place in `shown`, so that nothing is removed when `now` other rules are set. */
export function forRules<P extends AnyPlan>(
  plan: P,
  { now, shown }: { readonly now: readonly ReplicationRule[]; readonly shown: readonly ReplicationRule[] },
): P {
  if (JSON.stringify(now) === JSON.stringify(shown)) return plan
  const blocker = { code: 'precondition_failed', message: SAYS.otherRules }
  return { ...plan, allowed: false, blockers: [...plan.blockers, blocker] }
}
