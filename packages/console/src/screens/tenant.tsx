/**
 * One tenant: quota and usage, service accounts, access keys, and its end.
 */
import { useEffect, useState } from 'preact/hooks'
import type { AccessKey, Account, Quota, Tenant } from '../../../client/src/admin.ts'
import { Badge, Bar, Button, Card, FactList, Loaded, RowButton, Time } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { linkTo } from '../state/route.ts'
import { type Listed, type OneTenant, oneTenant, type TenantBucket, tenantId } from '../state/tenant-data.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { TestAccess } from './access-test.tsx'
import { CreateAccount, CreateKey, RevokeKey } from './key-dialogs.tsx'
import { DeleteTenant, DisableTenant, SetQuota } from './tenant-dialogs.tsx'

const SAYS = TEXT.tenants

type Open =
  | { readonly kind: 'quota' | 'disable' | 'delete' | 'account' | 'key' | 'access' }
  | { readonly kind: 'revoke'; readonly key: AccessKey }

export function TenantScreen({ id }: { readonly id: string }) {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => {
    tenantId.value = id
    oneTenant.forget()
    void oneTenant.load()
  }, [id])
  const close = (): void => {
    setOpen(null)
    void oneTenant.load()
  }
  return (
    <>
      <p>
        <a href={linkTo('tenants')}>{SAYS.back}</a>
      </p>
      <Loaded of={oneTenant}>
        {({ tenant, quota, accounts, buckets, keys }) => (
          <>
            <Head tenant={tenant} onOpen={setOpen} />
            <Card
              title={SAYS.usage}
              actions={
                <Button needs="setTenantQuota" onClick={() => setOpen({ kind: 'quota' })}>
                  {SAYS.setQuota}
                </Button>
              }
            >
              <Usage quota={quota} />
            </Card>
            <Buckets id={id} buckets={buckets} />
            <Card
              title={SAYS.keys}
              actions={
                <>
                  {keys.rows.length === 0 ? null : (
                    <Button needs="testAccess" onClick={() => setOpen({ kind: 'access' })}>
                      {TEXT.accessTest.open}
                    </Button>
                  )}
                  <Button needs="createTenantKey" onClick={() => setOpen({ kind: 'key' })}>
                    {SAYS.createKey}
                  </Button>
                </>
              }
            >
              <Keys keys={keys.rows} onRevoke={(key) => setOpen({ kind: 'revoke', key })} />
            </Card>
            <Accounts accounts={accounts.rows} onCreate={() => setOpen({ kind: 'account' })} />
            <Dialogs of={{ tenant, quota, accounts, buckets, keys }} open={open} onClose={close} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** The one that is open. */
function Dialogs({
  of: { tenant, quota, accounts, keys },
  open,
  onClose,
}: {
  readonly of: OneTenant
  readonly open: Open | null
  readonly onClose: () => void
}) {
  const common = { id: tenant.id, onClose }
  switch (open?.kind) {
    case undefined:
      return null
    case 'quota':
      return <SetQuota {...common} quota={quota} />
    case 'disable':
      return <DisableTenant {...common} />
    case 'delete':
      return <DeleteTenant {...common} />
    case 'account':
      return <CreateAccount {...common} />
    case 'key':
      return <CreateKey {...common} accounts={accounts.rows} />
    case 'access':
      return <TestAccess {...common} keys={keys.rows} />
    case 'revoke':
      return <RevokeKey {...common} accessKey={open.key} />
  }
}

function Accounts({
  accounts,
  onCreate,
}: {
  readonly accounts: readonly Account[]
  readonly onCreate: () => void
}) {
  return (
    <Card
      title={SAYS.accounts}
      actions={
        <Button needs="createTenantAccount" onClick={onCreate}>
          {SAYS.createAccount}
        </Button>
      }
    >
      <Table
        label={SAYS.accounts}
        empty={SAYS.noAccounts}
        keyOf={(account) => account.id}
        rows={accounts}
        columns={[
          { head: SAYS.name, cell: ({ name }) => name },
          { head: SAYS.about, cell: ({ description }) => description, isMinor: true },
          { head: SAYS.keys, cell: ({ keyCount }) => count(keyCount), isFigure: true },
        ]}
      />
    </Card>
  )
}

function Head({ tenant, onOpen }: { readonly tenant: Tenant; readonly onOpen: (open: Open) => void }) {
  const { id, name, status, createdAt, disabledReason } = tenant
  return (
    <Card
      title={name}
      actions={
        <>
          {status === 'active' ? (
            <Button needs="disableTenant" onClick={() => onOpen({ kind: 'disable' })}>
              {SAYS.disable}
            </Button>
          ) : null}
          {status === 'disabled' ? (
            <Button needs="deleteTenant" onClick={() => onOpen({ kind: 'delete' })}>
              {SAYS.delete}
            </Button>
          ) : null}
        </>
      }
    >
      <FactList
        rows={[
          [SAYS.id, <span class="code">{id}</span>],
          [SAYS.status, <Badge tone={status === 'active' ? 'good' : 'warn'}>{TEXT.status[status]}</Badge>],
          [SAYS.created, <Time iso={createdAt} />],
          ...(disabledReason === null ? [] : [[TEXT.wizard.reason, disabledReason] as const]),
        ]}
      />
    </Card>
  )
}

function Buckets({
  id,
  buckets: { rows, isWhole },
}: {
  readonly id: string
  readonly buckets: Listed<TenantBucket>
}) {
  return (
    <Card title={SAYS.buckets}>
      {isWhole ? null : <p class="soft">{SAYS.notAllBuckets}</p>}
      <Table
        label={SAYS.buckets}
        empty={SAYS.noBuckets}
        keyOf={({ name }) => name}
        rows={rows}
        columns={[
          { head: SAYS.bucket, cell: ({ name }) => <a href={linkTo('tenants', id, name)}>{name}</a> },
          { head: SAYS.objects, cell: ({ objects }) => count(objects), isFigure: true },
          { head: SAYS.versions, cell: ({ versions }) => count(versions), isFigure: true, isMinor: true },
          {
            head: SAYS.deleteMarkers,
            cell: ({ deleteMarkers }) => count(deleteMarkers),
            isFigure: true,
            isMinor: true,
          },
          { head: SAYS.bytes, cell: ({ logicalBytes }) => bytes(logicalBytes), isFigure: true },
        ]}
      />
    </Card>
  )
}

function Usage({ quota: { quota, usage, metadataBytesMax } }: { readonly quota: Quota }) {
  const rows: readonly (readonly [string, number, number | null, (value: number) => string])[] = [
    [SAYS.bytes, usage.bytes, quota.maxBytes, bytes],
    [SAYS.objects, usage.objects, quota.maxObjects, count],
    [SAYS.versions, usage.versions, quota.maxVersions ?? null, count],
    [SAYS.buckets, usage.buckets, quota.maxBuckets, count],
    [SAYS.uploads, usage.uploads, quota.maxUploads ?? null, count],
    [SAYS.metadata, usage.metadataBytes, metadataBytesMax, bytes],
  ]
  return (
    <ul class="usage">
      {rows.map(([name, used, max, shown]) => (
        <li key={name}>
          <span>{name}</span>
          <span class="soft">
            {shown(used)} / {max === null ? TEXT.noLimit : shown(max)}
          </span>
          <Bar
            label={name}
            share={max === null || max === 0 ? 0 : used / max}
            tone={max !== null && used >= max ? 'bad' : max !== null && used > 0.85 * max ? 'warn' : 'info'}
          />
        </li>
      ))}
    </ul>
  )
}

function Keys({
  keys,
  onRevoke,
}: {
  readonly keys: readonly AccessKey[]
  readonly onRevoke: (key: AccessKey) => void
}) {
  return (
    <Table
      label={SAYS.keys}
      empty={SAYS.noKeys}
      keyOf={({ accessKeyId }) => accessKeyId}
      rows={keys}
      columns={[
        {
          head: SAYS.key,
          cell: ({ accessKeyId, name }) => (
            <>
              {name === null ? null : <b>{name} </b>}
              <span class="code">{accessKeyId}</span>
            </>
          ),
        },
        { head: SAYS.scopes, cell: ({ scopes }) => <span class="code">{scopes}</span>, isMinor: true },
        {
          head: SAYS.status,
          cell: ({ status }) => (
            <Badge tone={status === 'active' ? 'good' : 'quiet'}>{TEXT.status[status]}</Badge>
          ),
        },
        { head: SAYS.lastUsed, cell: ({ lastUsedAt }) => <Time iso={lastUsedAt} />, isMinor: true },
        { head: SAYS.expires, cell: ({ expiresAt }) => <Time iso={expiresAt} />, isMinor: true },
        {
          head: SAYS.change,
          cell: (key) =>
            key.status === 'active' ? (
              <RowButton
                needs="revokeTenantKey"
                text={SAYS.revoke}
                of={key.accessKeyId}
                onClick={() => onRevoke(key)}
              />
            ) : null,
        },
      ]}
    />
  )
}
