/**
 * Lifecycle rules are changed: each change shows first what the rules would delete now, as they are to be set.
 */
import { useEffect, useState } from 'preact/hooks'
import { EXPIRATIONS, type LifecycleForm, type LifecycleRule, ruleOf } from '../../forms/lifecycle-form.ts'
import { rulesWith, rulesWithout } from '../../forms/rule-list.ts'
import { BY_KEY } from '../../parts/access.ts'
import { useAttempt } from '../../parts/attempt.ts'
import { FactList, FaultNotice, Notice, Skeleton } from '../../parts/basics.tsx'
import { CurlLine } from '../../parts/curl-line.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, Select } from '../../parts/form.tsx'
import { ALLOWED, PreviewedDialog } from '../../parts/planned-dialog.tsx'
import { ITEMS_MAX, type LifecyclePreview, previewOf } from '../../state/rule-data.ts'
import { bytes, count } from '../../words/format.ts'
import { ruleName } from '../../words/rule-words.ts'
import { TEXT } from '../../words/strings.ts'
import { FilterFields } from './filter-fields.tsx'

const SAYS = TEXT.lifecycle
const COUNTS = ['expired', 'hidden', 'noncurrent', 'marker', 'upload'] as const

export interface Props {
  readonly bucket: string
  readonly rules: readonly LifecycleRule[]
  readonly onClose: () => void
}

export function EditRule({
  bucket,
  rules,
  at,
  form,
  onClose,
}: Props & { readonly at: number | null; readonly form: LifecycleForm }) {
  const [given, setGiven] = useState(form)
  return (
    <PreviewedDialog
      title={SAYS.editTitle}
      about={SAYS.editAbout}
      fields={<RuleFields given={given} onChange={(more) => setGiven({ ...given, ...more })} />}
      plan={async (api) => ({
        ...ALLOWED,
        preview: await previewOf(api, rulesWith(rules, at, ruleOf(given))),
      })}
      shown={({ preview }) => <WouldDelete preview={preview} />}
      confirm={null}
      run={async (api) => api.setBucketLifecycle({ bucket, rules: rulesWith(rules, at, ruleOf(given)) })}
      done={() => <Notice tone="good" title={TEXT.rules.saved} />}
      onClose={onClose}
    />
  )
}

export function ChangeRules({
  bucket,
  rules,
  at,
  change,
  onClose,
}: Props & { readonly at: number; readonly change: 'enable' | 'disable' | 'remove' }) {
  const rule = rules[at]
  const status = change === 'enable' ? 'Enabled' : 'Disabled'
  const left =
    change === 'remove' || rule === undefined
      ? rulesWithout(rules, at)
      : rulesWith<LifecycleRule>(rules, at, { ...rule, status })
  const about = { enable: SAYS.enableAbout, disable: SAYS.disableAbout, remove: SAYS.removeAbout }[change]
  return (
    <PreviewedDialog
      title={`${TEXT.rules[change]}: ${ruleName(rule ?? {}, at)}`}
      about={about}
      fields={null}
      plan={async (api) => ({
        ...ALLOWED,
        preview: left.length === 0 ? null : await previewOf(api, left),
      })}
      shown={({ preview }) => (preview === null ? <p>{SAYS.none}</p> : <WouldDelete preview={preview} />)}
      confirm={null}
      run={(api): Promise<unknown> =>
        left.length === 0
          ? api.deleteBucketLifecycle({ bucket })
          : api.setBucketLifecycle({ bucket, rules: left })
      }
      done={() => <Notice tone="good" title={SAYS.left(left.length)} />}
      onClose={onClose}
    />
  )
}

/** Of the rules that are set. */
export function ShowDue({ onClose }: { readonly onClose: () => void }) {
  const [preview, setPreview] = useState<LifecyclePreview | null>(null)
  const { fault, attempt } = useAttempt(BY_KEY)
  useEffect(() => void attempt(async (api) => setPreview(await previewOf(api))), [])
  return (
    <Dialog title={SAYS.preview} onClose={onClose}>
      <p class="soft">{SAYS.previewAbout}</p>
      {fault === null ? null : <FaultNotice fault={fault} />}
      {preview === null ? fault === null ? <Skeleton /> : null : <WouldDelete preview={preview} />}
      <CurlLine line={() => BY_KEY.line((api) => previewOf(api))} />
    </Dialog>
  )
}

function WouldDelete({ preview }: { readonly preview: LifecyclePreview }) {
  const { counts, bytes: freed, locked, rows, items, isWhole } = preview
  const due = COUNTS.filter((name) => counts[name] > 0)
  return (
    <>
      <h3>{SAYS.would}</h3>
      {due.length === 0 ? <p>{SAYS.nothing}</p> : null}
      {due.length + locked === 0 ? null : (
        <FactList
          rows={[
            ...due.map((name) => [SAYS.counts[name], count(counts[name])] as const),
            [SAYS.freed, bytes(freed)],
            ...(locked === 0 ? [] : [[SAYS.locked, count(locked)] as const]),
          ]}
        />
      )}
      <p class="soft">
        {SAYS.looked(count(rows))} {isWhole ? '' : SAYS.notAll}
      </p>
      {items.length === 0 ? null : (
        <>
          {items.length < ITEMS_MAX ? null : <p class="soft">{SAYS.first(ITEMS_MAX)}</p>}
          <ul class="due" aria-label={SAYS.would}>
            {items.map(({ kind, key, versionId = '', uploadId = '', lockedBy, bytes: size }) => (
              <li key={`${kind} ${key} ${versionId} ${uploadId}`}>
                <span class="code">{key}</span>{' '}
                <span class="soft">
                  {lockedBy === undefined ? SAYS.kinds[kind] : SAYS.lockedBy(lockedBy)}, {bytes(size)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function RuleFields({
  given,
  onChange,
}: {
  readonly given: LifecycleForm
  readonly onChange: (more: Partial<LifecycleForm>) => void
}) {
  const { name, nameHelp } = TEXT.rules
  return (
    <>
      <Field label={name} help={nameHelp} value={given.id} onChange={(id) => onChange({ id })} isFirst />
      <fieldset>
        <legend>{SAYS.filter}</legend>
        <FilterFields given={given} onChange={onChange} />
        <div class="two">
          <Field label={SAYS.above} value={given.above} onChange={(above) => onChange({ above })} />
          <Field label={SAYS.below} value={given.below} onChange={(below) => onChange({ below })} />
        </div>
      </fieldset>
      <ActionFields given={given} onChange={onChange} />
    </>
  )
}

function ActionFields({
  given,
  onChange,
}: {
  readonly given: LifecycleForm
  readonly onChange: (more: Partial<LifecycleForm>) => void
}) {
  return (
    <fieldset>
      <legend>{SAYS.actions}</legend>
      <div class="two">
        <Select
          label={SAYS.expiration}
          value={given.expiration}
          onChange={(value) => onChange({ expiration: EXPIRATIONS.find((one) => one === value) ?? 'never' })}
          choices={EXPIRATIONS.map((value) => ({ value, text: SAYS.expirations[value] }))}
        />
        {given.expiration === 'days' ? (
          <Field label={SAYS.days} value={given.days} onChange={(days) => onChange({ days })} isRequired />
        ) : null}
        {given.expiration === 'date' ? (
          <Field
            label={SAYS.date}
            help={SAYS.dateHelp}
            value={given.date}
            onChange={(date) => onChange({ date })}
            isRequired
          />
        ) : null}
        <Field
          label={SAYS.noncurrentDays}
          value={given.noncurrentDays}
          onChange={(noncurrentDays) => onChange({ noncurrentDays })}
        />
        <Field
          label={SAYS.kept}
          help={SAYS.keptHelp}
          value={given.kept}
          onChange={(kept) => onChange({ kept })}
        />
        <Field
          label={SAYS.abortDays}
          value={given.abortDays}
          onChange={(abortDays) => onChange({ abortDays })}
        />
      </div>
    </fieldset>
  )
}
