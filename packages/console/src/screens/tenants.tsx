/**
 * Tenants: all of them, with what may be done to each; one of them stands in tenant.tsx.
 */
import { useEffect, useState } from 'preact/hooks'
import type { Tenant } from '../../../client/src/admin.ts'
import { Badge, Button, Card, Loaded, Notice, Time, type Tone } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Table } from '../parts/table.tsx'
import { linkTo, place } from '../state/route.ts'
import { tenants } from '../state/tenant-data.ts'
import { TEXT } from '../words/strings.ts'
import { TenantBucketScreen } from './bucket-policy.tsx'
import { EncryptionCard } from './encryption-card.tsx'
import { TenantReplicationCard } from './tenant-replication.tsx'
import { TenantScreen } from './tenant.tsx'

const SAYS = TEXT.tenants

export const TENANT_TONE: Readonly<Record<Tenant['status'], Tone>> = {
  active: 'good',
  disabled: 'warn',
  deleting: 'bad',
  deleted: 'quiet',
}

export function Tenants() {
  const { item, inner } = place.value
  if (item === '') return <TenantList />
  if (inner !== '') return <TenantBucketScreen key={`${item} ${inner}`} id={item} bucket={inner} />
  return (
    <>
      <TenantScreen key={item} id={item} />
      <EncryptionCard id={item} />
      <TenantReplicationCard id={item} />
    </>
  )
}

function TenantList() {
  const [isCreating, setCreating] = useState(false)
  const [words, setWords] = useState('')
  useEffect(() => void tenants.load(), [])
  const fits = ({ id, name }: Tenant): boolean =>
    `${id} ${name}`.toLowerCase().includes(words.trim().toLowerCase())
  return (
    <>
      <Card
        title={SAYS.all}
        actions={
          <Button kind="primary" needs="createTenant" onClick={() => setCreating(true)}>
            {SAYS.create}
          </Button>
        }
      >
        <Field label={SAYS.filter} value={words} onChange={setWords} />
        <Loaded of={tenants}>
          {({ rows, isWhole }) => (
            <>
              {isWhole ? null : <Notice tone="info" title={SAYS.notWhole} />}
              <Table
                label={SAYS.all}
                empty={SAYS.none}
                keyOf={({ id }) => id}
                rows={rows.filter(fits)}
                columns={[
                  { head: SAYS.name, cell: ({ id, name }) => <a href={linkTo('tenants', id)}>{name}</a> },
                  { head: SAYS.id, cell: ({ id }) => <span class="code">{id}</span> },
                  {
                    head: SAYS.status,
                    cell: ({ status }) => <Badge tone={TENANT_TONE[status]}>{TEXT.status[status]}</Badge>,
                  },
                  { head: SAYS.created, cell: ({ createdAt }) => <Time iso={createdAt} />, isMinor: true },
                ]}
              />
            </>
          )}
        </Loaded>
      </Card>
      {isCreating ? <CreateTenant onClose={() => setCreating(false)} /> : null}
    </>
  )
}

function CreateTenant({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [id, setId] = useState('')
  const given = { name, ...(id === '' ? {} : { id }) }
  return (
    <PlannedDialog
      title={SAYS.create}
      about={SAYS.createAbout}
      fields={
        <>
          <Field label={SAYS.name} value={name} onChange={setName} isRequired isFirst />
          <Field label={SAYS.id} help={SAYS.idHelp} value={id} onChange={setId} />
        </>
      }
      plan={(api) => api.dryRun.createTenant(given)}
      shown={({ plan }) => <p>{SAYS.willBe(plan.id ?? id)}</p>}
      confirm={null}
      run={async (api) => {
        const made = await api.createTenant(given)
        await tenants.load()
        return made
      }}
      done={(made) => (
        <Notice tone="good" title={SAYS.made(made.name)}>
          <p>
            <a href={linkTo('tenants', made.id)} onClick={onClose}>
              {SAYS.next}
            </a>
          </p>
        </Notice>
      )}
      onClose={onClose}
    />
  )
}
