/**
 * The CORS rules of a bucket, and their changes.
 */
import { useEffect, useState } from 'preact/hooks'
import {
  type CorsForm,
  corsFormOf,
  type CorsRule,
  corsRuleOf,
  EMPTY_CORS,
  METHODS,
} from '../../forms/webhook-form.ts'
import { rulesWith, rulesWithout } from '../../forms/rule-list.ts'
import { Button, Card, Loaded, RowButton } from '../../parts/basics.tsx'
import { DoneDialog } from '../../parts/done-dialog.tsx'
import { Checks, Field } from '../../parts/form.tsx'
import { bucketName } from '../../state/bucket-data.ts'
import { cors } from '../../state/rule-data.ts'
import { ruleName } from '../../words/rule-words.ts'
import { TEXT } from '../../words/strings.ts'

const SAYS = TEXT.cors

type Open = { readonly kind: 'edit' | 'remove'; readonly at: number | null }

export function CorsTab({ bucket }: { readonly bucket: string }) {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => {
    bucketName.value = bucket
    cors.forget()
    void cors.load()
  }, [bucket])
  const close = (): void => {
    setOpen(null)
    void cors.load()
  }
  return (
    <Card
      title={SAYS.title}
      actions={
        <Button kind="primary" onClick={() => setOpen({ kind: 'edit', at: null })}>
          {TEXT.rules.add}
        </Button>
      }
    >
      <p class="soft">{SAYS.intro}</p>
      <Loaded of={cors}>
        {(rules) => (
          <>
            {rules.length === 0 ? <p class="soft empty">{SAYS.none}</p> : null}
            <ul class="rules" aria-label={SAYS.title}>
              {rules.map((rule, at) => (
                <One key={at} rule={rule} at={at} onOpen={(kind) => setOpen({ kind, at })} />
              ))}
            </ul>
            {open === null ? null : <ChangeCors bucket={bucket} rules={rules} open={open} onClose={close} />}
          </>
        )}
      </Loaded>
    </Card>
  )
}

function One({
  rule,
  at,
  onOpen,
}: {
  readonly rule: CorsRule
  readonly at: number
  readonly onOpen: (kind: Open['kind']) => void
}) {
  const name = ruleName(rule, at)
  const rest = [
    ...(rule.allowedHeaders === undefined ? [] : [`${SAYS.headers}: ${rule.allowedHeaders.join(', ')}`]),
    ...(rule.exposeHeaders === undefined ? [] : [`${SAYS.exposed}: ${rule.exposeHeaders.join(', ')}`]),
    ...(rule.maxAgeSeconds === undefined ? [] : [`${SAYS.maxAge}: ${rule.maxAgeSeconds}`]),
  ]
  return (
    <li>
      <div class="head">
        <b>{name}</b>
        <RowButton text={TEXT.rules.edit} of={name} onClick={() => onOpen('edit')} />
        <RowButton text={TEXT.rules.remove} of={name} onClick={() => onOpen('remove')} />
      </div>
      <p>
        {rule.allowedMethods.join(', ')} <span class="code">{rule.allowedOrigins.join(', ')}</span>
      </p>
      {rest.map((line) => (
        <p class="soft" key={line}>
          {line}
        </p>
      ))}
    </li>
  )
}

function ChangeCors({
  bucket,
  rules,
  open: { kind, at },
  onClose,
}: {
  readonly bucket: string
  readonly rules: readonly CorsRule[]
  readonly open: Open
  readonly onClose: () => void
}) {
  const rule = at === null ? undefined : rules[at]
  const [given, setGiven] = useState<CorsForm>(rule === undefined ? EMPTY_CORS : corsFormOf(rule))
  const name = rule === undefined || at === null ? TEXT.rules.add : ruleName(rule, at)
  if (kind === 'remove') {
    const left = rulesWithout(rules, at)
    return (
      <DoneDialog
        title={`${TEXT.rules.remove}: ${name}`}
        about={SAYS.removeAbout}
        submit={TEXT.rules.remove}
        run={(api): Promise<unknown> =>
          left.length === 0 ? api.deleteBucketCORS({ bucket }) : api.setBucketCORS({ bucket, rules: left })
        }
        onClose={onClose}
      />
    )
  }
  return (
    <DoneDialog
      title={name}
      about={SAYS.ruleAbout}
      submit={TEXT.rules.save}
      fields={<CorsFields given={given} onChange={(more) => setGiven({ ...given, ...more })} />}
      run={async (api) => api.setBucketCORS({ bucket, rules: rulesWith(rules, at, corsRuleOf(given)) })}
      onClose={onClose}
    />
  )
}

function CorsFields({
  given,
  onChange,
}: {
  readonly given: CorsForm
  readonly onChange: (more: Partial<CorsForm>) => void
}) {
  return (
    <>
      <Field
        label={SAYS.origins}
        help={SAYS.originsHelp}
        value={given.origins}
        onChange={(origins) => onChange({ origins })}
        isRequired
        isFirst
      />
      <Checks
        label={SAYS.methods}
        chosen={given.methods}
        onChange={(methods) => onChange({ methods })}
        choices={METHODS.map((value) => ({ value, text: value }))}
      />
      <Field
        label={SAYS.headers}
        help={SAYS.headersHelp}
        value={given.headers}
        onChange={(headers) => onChange({ headers })}
      />
      <Field label={SAYS.exposed} value={given.exposed} onChange={(exposed) => onChange({ exposed })} />
      <div class="two">
        <Field label={SAYS.maxAge} value={given.maxAge} onChange={(maxAge) => onChange({ maxAge })} />
        <Field label={TEXT.rules.name} value={given.id} onChange={(id) => onChange({ id })} />
      </div>
    </>
  )
}
