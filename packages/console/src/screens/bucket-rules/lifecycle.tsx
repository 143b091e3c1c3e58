/**
 * What a bucket deletes by itself: its lifecycle rules in words, and their changes, each after a look at what it would delete.
 */
import { useEffect, useState } from 'preact/hooks'
import { formOf, type LifecycleForm, type LifecycleRule, EMPTY_RULE } from '../../forms/lifecycle-form.ts'
import { Badge, Button, Card, Loaded, RowButton } from '../../parts/basics.tsx'
import { bucketName } from '../../state/bucket-data.ts'
import { lifecycle } from '../../state/rule-data.ts'
import { filterInWords, lifecycleInWords, ruleName } from '../../words/rule-words.ts'
import { TEXT } from '../../words/strings.ts'
import { ChangeRules, EditRule, ShowDue } from './lifecycle-dialogs.tsx'

const SAYS = TEXT.lifecycle

type Open =
  | { readonly kind: 'edit'; readonly at: number | null; readonly form: LifecycleForm }
  | { readonly kind: 'enable' | 'disable' | 'remove'; readonly at: number }
  | { readonly kind: 'due' }

export function LifecycleTab({ bucket }: { readonly bucket: string }) {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => {
    bucketName.value = bucket
    lifecycle.forget()
    void lifecycle.load()
  }, [bucket])
  const close = (): void => {
    setOpen(null)
    void lifecycle.load()
  }
  return (
    <Card
      title={SAYS.title}
      actions={
        <>
          <Button onClick={() => setOpen({ kind: 'due' })}>{SAYS.preview}</Button>
          <Button kind="primary" onClick={() => setOpen({ kind: 'edit', at: null, form: EMPTY_RULE })}>
            {TEXT.rules.add}
          </Button>
        </>
      }
    >
      <p class="soft">{SAYS.intro}</p>
      <Loaded of={lifecycle}>
        {(rules) => (
          <>
            <Rules rules={rules} onOpen={setOpen} />
            <Opened open={open} bucket={bucket} rules={rules} onClose={close} />
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Opened({
  open,
  bucket,
  rules,
  onClose,
}: {
  readonly open: Open | null
  readonly bucket: string
  readonly rules: readonly LifecycleRule[]
  readonly onClose: () => void
}) {
  if (open === null) return null
  if (open.kind === 'due') return <ShowDue onClose={onClose} />
  if (open.kind === 'edit')
    return <EditRule bucket={bucket} rules={rules} at={open.at} form={open.form} onClose={onClose} />
  return <ChangeRules bucket={bucket} rules={rules} at={open.at} change={open.kind} onClose={onClose} />
}

function Rules({
  rules,
  onOpen,
}: {
  readonly rules: readonly LifecycleRule[]
  readonly onOpen: (open: Open) => void
}) {
  if (rules.length === 0) return <p class="soft empty">{SAYS.none}</p>
  return (
    <ul class="rules" aria-label={SAYS.title}>
      {rules.map((rule, at) => (
        <One key={rule.id ?? at} rule={rule} at={at} onOpen={onOpen} />
      ))}
    </ul>
  )
}

function One({
  rule,
  at,
  onOpen,
}: {
  readonly rule: LifecycleRule
  readonly at: number
  readonly onOpen: (open: Open) => void
}) {
  const isEnabled = rule.status === 'Enabled'
  const name = ruleName(rule, at)
  const flip = isEnabled ? 'disable' : 'enable'
  return (
    <li>
      <div class="head">
        <b>{name}</b>
        <Badge tone={isEnabled ? 'good' : 'quiet'}>
          {isEnabled ? TEXT.rules.enabled : TEXT.rules.disabled}
        </Badge>
        <RowButton
          text={TEXT.rules.edit}
          of={name}
          onClick={() => onOpen({ kind: 'edit', at, form: formOf(rule) })}
        />
        <RowButton text={TEXT.rules[flip]} of={name} onClick={() => onOpen({ kind: flip, at })} />
        <RowButton text={TEXT.rules.remove} of={name} onClick={() => onOpen({ kind: 'remove', at })} />
      </div>
      <p class="soft">{filterInWords(rule.filter)}</p>
      {lifecycleInWords(rule).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </li>
  )
}
