/**
 * A bucket is created, and links for uploads into it are made.
 */
import { useState } from 'preact/hooks'
import { Copyable, FactList, Notice, Time } from '../parts/basics.tsx'
import { DoneDialog } from '../parts/done-dialog.tsx'
import { Field, Select, YesOrNo } from '../parts/form.tsx'
import { QrImage } from '../parts/qr-image.tsx'
import { Reason } from '../parts/reason.tsx'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.objects
const VERSIONINGS = ['Enabled', 'Unversioned'] as const
/** Seconds. */
export const LIFETIMES = ['3600', '86400', '604800', '900'] as const

export function CreateBucket({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [versioning, setVersioning] = useState<string>(VERSIONINGS[0])
  const [isLocked, setLocked] = useState(false)
  return (
    <DoneDialog
      title={SAYS.createBucket}
      about={SAYS.createAbout}
      submit={SAYS.create}
      fields={
        <>
          <Field label={SAYS.name} value={name} onChange={setName} help={SAYS.nameHelp} isRequired isFirst />
          <Select
            label={SAYS.versioning}
            value={versioning}
            onChange={setVersioning}
            choices={VERSIONINGS.map((value) => ({ value, text: SAYS.versionings[value] }))}
          />
          <YesOrNo
            label={SAYS.lock}
            value={isLocked}
            onChange={setLocked}
            texts={{ yes: SAYS.locked, no: TEXT.none }}
          />
        </>
      }
      run={(api) => api.createBucket({ name, versioning, ...(isLocked ? { objectLockEnabled: true } : {}) })}
      onClose={onClose}
    />
  )
}

/** Without an object: the partner uploads one, once. */
export function UploadLink({
  bucket,
  prefix,
  onClose,
}: {
  readonly bucket: string
  readonly prefix: string
  readonly onClose: () => void
}) {
  const [name, setName] = useState('')
  const [mebibytes, setMebibytes] = useState('100')
  const [seconds, setSeconds] = useState<string>(LIFETIMES[1])
  const [reason, setReason] = useState('')
  const key = `${prefix}${name}`
  return (
    <DoneDialog
      title={SAYS.uploadLink}
      about={SAYS.uploadLinkAbout}
      submit={SAYS.makeLink}
      fields={
        <>
          <Field
            label={SAYS.fileName}
            value={name}
            onChange={setName}
            help={SAYS.fileNameHelp}
            isRequired
            isFirst
          />
          <div class="two">
            <Field label={SAYS.sizeMax} value={mebibytes} onChange={setMebibytes} isRequired />
            <Lifetime value={seconds} onChange={setSeconds} />
          </div>
          <Reason value={reason} onChange={setReason} isRequired={false} />
        </>
      }
      run={(api) =>
        api.signURL({
          method: 'PUT',
          bucket,
          key,
          ttlSeconds: Number(seconds),
          contentLengthMax: Math.round(Number(mebibytes) * 1024 * 1024),
          // It takes effect once, however often it is sent.
          idempotencyKey: crypto.getRandomValues(new Uint32Array(4)).join('-'),
          ...(reason === '' ? {} : { reason }),
        })
      }
      done={({ url, expiresAt }) => <MadeLink url={url} takes={key} expiresAt={expiresAt} />}
      onClose={onClose}
    />
  )
}

export function Lifetime({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <Select
      label={SAYS.lifetime}
      value={value}
      onChange={onChange}
      choices={LIFETIMES.map((seconds) => ({ value: seconds, text: SAYS.lifetimes[seconds] }))}
    />
  )
}

/** `takes`: the key of the upload that the link is for; null: it gives an object. */
export function MadeLink({
  url,
  takes,
  expiresAt,
}: {
  readonly url: string
  readonly takes: string | null
  readonly expiresAt: string
}) {
  return (
    <>
      <Notice tone="warn" title={SAYS.linkMade}>
        <p>{SAYS.linkIsSecret}</p>
      </Notice>
      <Copyable text={url} label={SAYS.link} />
      <QrImage link={url} />
      {takes === null ? null : (
        <>
          <h3>{SAYS.sendByCurl}</h3>
          <Copyable text={`curl -fsS -T FILE '${url}'`} label="curl" />
        </>
      )}
      <FactList
        rows={[
          ...(takes === null ? [] : [[SAYS.takes, takes] as const]),
          [TEXT.tenants.expires, <Time iso={expiresAt} />],
        ]}
      />
    </>
  )
}
