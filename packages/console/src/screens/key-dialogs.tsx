/**
 * Service accounts and access keys: made, shown once with lines to paste, revoked.
 *
 * Rule: a secret is in the dialog that made it, and is gone when that closes.
 */
import { useState } from 'preact/hooks'
import type { AccessKey, AccessKeyWithSecret, Account } from '../../../client/src/admin.ts'
import { Copyable, Notice } from '../parts/basics.tsx'
import { Field, Select } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { membership } from '../state/cluster-data.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.tenants

interface Props {
  readonly id: string
  readonly onClose: () => void
}

export function CreateAccount({ id, onClose }: Props) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const given = { id, name, ...(description === '' ? {} : { description }) }
  return (
    <PlannedDialog
      title={SAYS.createAccount}
      about={SAYS.accountAbout}
      fields={
        <>
          <Field label={SAYS.name} value={name} onChange={setName} isRequired isFirst />
          <Field label={SAYS.about} value={description} onChange={setDescription} />
        </>
      }
      plan={(api) => api.dryRun.createTenantAccount(given)}
      shown={() => <p>{SAYS.willBe(name)}</p>}
      confirm={null}
      run={(api) => api.createTenantAccount(given)}
      done={(made) => <Notice tone="good" title={SAYS.made(made.name)} />}
      onClose={onClose}
    />
  )
}

const VERBS = ['read', 'read,write', 'read,write,delete', 'read,write,delete,admin'] as const

/** One scope for each verb; of a bucket and a prefix where they are named. */
function scopesOf(verbs: string, bucket: string, prefix: string): string {
  if (bucket === '') return verbs
  const of = `:bucket=${bucket}${prefix === '' ? '' : `:prefix=${prefix}`}`
  return verbs
    .split(',')
    .map((verb) => `op=${verb}${of}`)
    .join(',')
}

export function CreateKey({ id, accounts, onClose }: Props & { readonly accounts: readonly Account[] }) {
  const [name, setName] = useState('')
  const [accountId, setAccountId] = useState('')
  const [verbs, setVerbs] = useState<string>(VERBS[1])
  const [bucket, setBucket] = useState('')
  const [prefix, setPrefix] = useState('')
  const scopes = scopesOf(verbs, bucket, prefix)
  const given = {
    id,
    scopes,
    ...(name === '' ? {} : { name }),
    ...(accountId === '' ? {} : { accountId }),
  }
  return (
    <PlannedDialog
      title={SAYS.createKey}
      about={SAYS.keyAbout}
      fields={
        <>
          <Field label={SAYS.name} value={name} onChange={setName} isFirst />
          <Select
            label={SAYS.account}
            value={accountId}
            onChange={setAccountId}
            choices={[
              { value: '', text: TEXT.none },
              ...accounts.map((account) => ({ value: account.id, text: account.name })),
            ]}
          />
          <Select
            label={SAYS.may}
            value={verbs}
            onChange={setVerbs}
            choices={VERBS.map((value) => ({ value, text: value.replaceAll(',', ', ') }))}
          />
          <div class="two">
            <Field label={SAYS.bucket} help={SAYS.bucketHelp} value={bucket} onChange={setBucket} />
            <Field label={SAYS.prefix} value={prefix} onChange={setPrefix} />
          </div>
        </>
      }
      plan={(api) => api.dryRun.createTenantKey(given)}
      shown={({ plan }) => (
        <>
          <p>{SAYS.keyPlan(plan.activeKeys, plan.activeKeysMax)}</p>
          <p class="code">{plan.key?.scopes ?? scopes}</p>
        </>
      )}
      confirm={null}
      run={(api) => api.createTenantKey(given)}
      done={(made) => <Secret made={made} />}
      onClose={onClose}
    />
  )
}

/** The data listener of the leader, where its address is known. */
function dataUrl(): string {
  const members = membership.value.value?.members ?? []
  const address = members.find(({ isLeader }) => isLeader)?.dataAddress ?? null
  return address === null ? SAYS.dataListener : `${location.protocol}//${address}`
}

function Secret({ made: { accessKeyId, secretKey } }: { readonly made: AccessKeyWithSecret }) {
  const url = dataUrl()
  const lines = {
    aws: [
      `export AWS_ACCESS_KEY_ID=${accessKeyId}`,
      `export AWS_SECRET_ACCESS_KEY=${secretKey}`,
      `aws --endpoint-url ${url} s3 ls`,
    ].join('\n'),
    rclone: [
      '[holdfast]',
      'type = s3',
      'provider = Other',
      `endpoint = ${url}`,
      `access_key_id = ${accessKeyId}`,
      `secret_access_key = ${secretKey}`,
    ].join('\n'),
    code: [
      "import { Holdfast } from '@holdfast/client'",
      `const store = new Holdfast({ endpoints: '${url}', accessKeyId: '${accessKeyId}', secretKey })`,
    ].join('\n'),
  }
  return (
    <>
      <Notice tone="warn" title={SAYS.once}>
        <p>{SAYS.onceHelp}</p>
      </Notice>
      <h3>{SAYS.key}</h3>
      <Copyable text={accessKeyId} label={SAYS.key} />
      <h3>{SAYS.secret}</h3>
      <Copyable text={secretKey} label={SAYS.secret} />
      <details>
        <summary>{SAYS.snippets}</summary>
        <div class="stack">
          <Copyable text={lines.aws} label="aws-cli" />
          <Copyable text={lines.rclone} label="rclone" />
          <Copyable text={lines.code} label="@holdfast/client" />
        </div>
      </details>
    </>
  )
}

export function RevokeKey({ id, accessKey, onClose }: Props & { readonly accessKey: AccessKey }) {
  const [reason, setReason] = useState('')
  const keyId = accessKey.accessKeyId
  return (
    <PlannedDialog
      title={`${SAYS.revoke}: ${keyId}`}
      about={SAYS.revokeAbout}
      fields={<Reason value={reason} onChange={setReason} isFirst />}
      plan={(api) => api.dryRun.revokeTenantKey({ id, keyId, reason })}
      shown={() => <p>{SAYS.revokePlan(keyId)}</p>}
      confirm={null}
      run={(api) => api.revokeTenantKey({ id, keyId, reason })}
      done={() => <Notice tone="good" title={SAYS.revoked} />}
      onClose={onClose}
    />
  )
}
