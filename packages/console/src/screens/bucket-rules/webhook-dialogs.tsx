/**
 * A webhook is set, removed or tested. The secret of a new one is shown once.
 */
import { useState } from 'preact/hooks'
import { EMPTY_WEBHOOK, EVENTS, FORMATS, type WebhookForm, webhooksWith } from '../../forms/webhook-form.ts'
import { Copyable, Notice } from '../../parts/basics.tsx'
import { DoneDialog } from '../../parts/done-dialog.tsx'
import { Checks, Field, Select, YesOrNo } from '../../parts/form.tsx'
import type { Webhook } from '../../state/rule-data.ts'
import { TEXT } from '../../words/strings.ts'

const SAYS = TEXT.webhooks

interface Props {
  readonly bucket: string
  readonly hooks: readonly Webhook[]
  readonly onClose: () => void
}

/** `at` and `form` null: another one. */
export function EditWebhook({
  bucket,
  hooks,
  at,
  form,
  onClose,
}: Props & { readonly at: number | null; readonly form: WebhookForm | null }) {
  const [given, setGiven] = useState(form ?? EMPTY_WEBHOOK)
  return (
    <DoneDialog
      title={SAYS.edit}
      about={SAYS.editAbout}
      submit={TEXT.rules.save}
      fields={
        <WebhookFields
          given={given}
          isNew={form === null}
          onChange={(more) => setGiven({ ...given, ...more })}
        />
      }
      run={async (api) => {
        const { configs } = await api.setBucketNotifications({
          bucket,
          configs: webhooksWith(hooks, at, given),
        })
        return configs.find(({ signingSecret }) => signingSecret !== undefined) ?? null
      }}
      done={(made) => <Made made={made} />}
      onClose={onClose}
    />
  )
}

function Made({ made }: { readonly made: Webhook | null }) {
  if (made?.signingSecret === undefined) return <Notice tone="good" title={TEXT.rules.saved} />
  return (
    <>
      <Notice tone="warn" title={SAYS.onceTitle}>
        <p>{SAYS.once}</p>
      </Notice>
      <Copyable text={made.signingSecret} label={SAYS.secret} />
    </>
  )
}

function WebhookFields({
  given,
  isNew,
  onChange,
}: {
  readonly given: WebhookForm
  readonly isNew: boolean
  readonly onChange: (more: Partial<WebhookForm>) => void
}) {
  return (
    <>
      <Field
        label={SAYS.url}
        help={SAYS.urlHelp}
        value={given.url}
        onChange={(url) => onChange({ url })}
        isRequired
        isFirst
      />
      {isNew ? (
        <Field label={SAYS.id} help={SAYS.idHelp} value={given.id} onChange={(id) => onChange({ id })} />
      ) : null}
      <Checks
        label={SAYS.events}
        chosen={given.events}
        onChange={(events) => onChange({ events })}
        choices={EVENTS.map((value) => ({ value, text: SAYS.eventNames[value] }))}
      />
      <div class="two">
        <Field label={TEXT.rules.prefix} value={given.prefix} onChange={(prefix) => onChange({ prefix })} />
        <Field label={SAYS.suffix} value={given.suffix} onChange={(suffix) => onChange({ suffix })} />
        <Select
          label={SAYS.format}
          value={given.payloadFormat}
          onChange={(value) => onChange({ payloadFormat: FORMATS.find((one) => one === value) ?? 'native' })}
          choices={FORMATS.map((value) => ({ value, text: SAYS.formats[value] }))}
        />
        <YesOrNo
          label={TEXT.operations.status}
          value={given.enabled}
          onChange={(enabled) => onChange({ enabled })}
          texts={{ yes: TEXT.rules.enabled, no: TEXT.rules.disabled }}
        />
      </div>
    </>
  )
}

export function RemoveWebhook({ bucket, hooks, at, onClose }: Props & { readonly at: number }) {
  const id = hooks[at]?.id ?? ''
  return (
    <DoneDialog
      title={`${TEXT.rules.remove}: ${id}`}
      about={SAYS.removeAbout}
      submit={TEXT.rules.remove}
      confirm={id}
      run={(api): Promise<unknown> =>
        hooks.length === 1
          ? api.deleteBucketNotifications({ bucket })
          : api.setBucketNotifications({ bucket, configs: webhooksWith(hooks, at, null) })
      }
      onClose={onClose}
    />
  )
}

export function TestWebhook({
  bucket,
  id,
  onClose,
}: Pick<Props, 'bucket' | 'onClose'> & { readonly id: string }) {
  return (
    <DoneDialog
      title={`${SAYS.test}: ${id}`}
      about={SAYS.testAbout}
      submit={SAYS.test}
      run={(api) => api.testNotification({ bucket, configId: id })}
      onClose={onClose}
    />
  )
}
