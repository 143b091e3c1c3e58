/**
 * Changes of one object: its removal, tags, retention, legal hold, and a link that opens it.
 */
import { useState } from 'preact/hooks'
import type { Retention } from '../../../client/src/index.ts'
import { tagsOf, textOfTags } from '../forms/fields.ts'
import { DoneDialog } from '../parts/done-dialog.tsx'
import { Field, Select } from '../parts/form.tsx'
import { Reason } from '../parts/reason.tsx'
import type { ObjectName, Tags } from '../state/object-data.ts'
import { TEXT } from '../words/strings.ts'
import { Lifetime, LIFETIMES, MadeLink } from './bucket-dialogs.tsx'

const SAYS = TEXT.objects

interface Props {
  readonly name: ObjectName
  readonly onClose: () => void
}

export function DeleteObject({
  name,
  isVersioned,
  onClose,
  onDeleted,
}: Props & {
  readonly isVersioned: boolean
  /** With the version id of the delete marker; null: it is gone. */
  readonly onDeleted: (markerId: string | null) => void
}) {
  const last = name.key.split('/').findLast((part) => part !== '') ?? name.key
  return (
    <DoneDialog
      title={`${SAYS.delete}: ${name.key}`}
      about={isVersioned ? SAYS.deleteVersioned : SAYS.deleteAbout}
      submit={SAYS.delete}
      confirm={isVersioned ? null : last}
      run={async (api) => {
        let markerId: string | null = null
        await api.deleteObject(name, {
          onAnswer: ({ headers }) => (markerId = headers['x-service-version-id'] ?? null),
        })
        onDeleted(markerId)
      }}
      onClose={onClose}
    />
  )
}

export function ShareLink({ name, onClose }: Props) {
  const [seconds, setSeconds] = useState<string>(LIFETIMES[1])
  const [reason, setReason] = useState('')
  return (
    <DoneDialog
      title={SAYS.share}
      about={SAYS.shareAbout}
      submit={SAYS.makeLink}
      fields={
        <>
          <Lifetime value={seconds} onChange={setSeconds} />
          <Reason value={reason} onChange={setReason} isRequired={false} />
        </>
      }
      run={(api) =>
        api.signURL({
          method: 'GET',
          ...name,
          ttlSeconds: Number(seconds),
          ...(reason === '' ? {} : { reason }),
        })
      }
      done={({ url, expiresAt }) => <MadeLink url={url} takes={null} expiresAt={expiresAt} />}
      onClose={onClose}
    />
  )
}

export function EditTags({ name, tags, onClose }: Props & { readonly tags: Tags }) {
  const [text, setText] = useState(textOfTags(tags))
  return (
    <DoneDialog
      title={SAYS.editTags}
      about={SAYS.tagsAbout}
      submit={SAYS.setTags}
      fields={<Field label={SAYS.tags} value={text} onChange={setText} isFirst />}
      run={async (api) => api.setObjectTags({ ...name, tags: tagsOf(text) ?? {} })}
      onClose={onClose}
    />
  )
}

const MODES = ['GOVERNANCE', 'COMPLIANCE'] as const

export function SetRetention({ name, retention, onClose }: Props & { readonly retention: Retention | null }) {
  const [mode, setMode] = useState<string>(retention?.mode ?? MODES[0])
  const [until, setUntil] = useState(retention?.retainUntil ?? '')
  return (
    <DoneDialog
      title={SAYS.setRetention}
      about={SAYS.retentionAbout}
      submit={SAYS.setRetention}
      fields={
        <>
          <Select
            label={SAYS.mode}
            value={mode}
            onChange={setMode}
            choices={MODES.map((value) => ({ value, text: SAYS.modes[value] }))}
          />
          <Field
            label={SAYS.until}
            value={until}
            onChange={setUntil}
            help={SAYS.untilHelp}
            placeholder="2030-01-31T00:00:00Z"
            isRequired
          />
        </>
      }
      run={(api) =>
        api.setObjectRetention({
          ...name,
          mode: MODES.find((one) => one === mode) ?? MODES[0],
          retainUntil: until.trim(),
        })
      }
      onClose={onClose}
    />
  )
}

export function SetHold({ name, isOn, onClose }: Props & { readonly isOn: boolean }) {
  const title = isOn ? SAYS.takeHoldOff : SAYS.putHold
  return (
    <DoneDialog
      title={title}
      about={SAYS.holdAbout}
      submit={title}
      run={(api) => api.setObjectLegalHold({ ...name, status: isOn ? 'OFF' : 'ON' })}
      onClose={onClose}
    />
  )
}
