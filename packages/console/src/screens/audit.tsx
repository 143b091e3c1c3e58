/**
 * Audit: who did what, when, and what became of it.
 */
import { useEffect } from 'preact/hooks'
import { FILTERS, EMPTY_SEARCH } from '../forms/audit-search.ts'
import { BY_TOKEN } from '../parts/access.ts'
import { Badge, Button, Card, FaultNotice, Notice, Skeleton, Time, type Tone } from '../parts/basics.tsx'
import { LineButton } from '../parts/curl-line.tsx'
import { Field, Select } from '../parts/form.tsx'
import { Table } from '../parts/table.tsx'
import {
  all,
  ask,
  type AuditRecord,
  fault,
  found,
  gaps,
  isAsking,
  next,
  pageOf,
  rowsOf,
  search,
} from '../state/audit-data.ts'
import { csv } from '../words/csv.ts'
import { count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { WhatHappened } from './audit-row.tsx'
import { ChainCard } from './chain-card.tsx'
import { SavedSearches } from './saved-searches.tsx'

const SAYS = TEXT.audit
const AGES = ['1h', '24h', '7d', '30d', '365d'] as const

const OUTCOME_TONE: Readonly<Record<AuditRecord['outcome'], Tone>> = {
  success: 'good',
  denied: 'warn',
  error: 'bad',
}

export function Audit() {
  useEffect(() => {
    if (found.peek() === null) void ask()
  }, [])
  const rows = found.value
  return (
    <>
      <Card title={SAYS.ask}>
        <Query />
        <SavedSearches />
      </Card>
      {fault.value === null ? null : <FaultNotice fault={fault.value} />}
      {gaps.value.map(({ from, to, rows: missing }) => (
        <Notice key={from} tone="warn" title={SAYS.gap(count(missing))}>
          <p>
            <Time iso={from} /> – <Time iso={to} />
          </p>
        </Notice>
      ))}
      {rows === null ? fault.value === null ? <Skeleton /> : null : <Rows rows={rows} />}
      <ChainCard />
    </>
  )
}

function Query() {
  const { since, outcome, filters } = search.value
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void ask()
      }}
    >
      <div class="query">
        <Select
          label={SAYS.since}
          value={since}
          onChange={(value) => (search.value = { ...search.value, since: value })}
          choices={AGES.map((value) => ({ value, text: SAYS.ages[value] }))}
        />
        <Select
          label={SAYS.outcome}
          value={outcome}
          onChange={(value) => {
            const known = (['success', 'denied', 'error'] as const).find((one) => one === value)
            search.value = { ...search.value, outcome: known ?? '' }
          }}
          choices={[
            { value: '', text: SAYS.any },
            ...(['success', 'denied', 'error'] as const).map((value) => ({
              value,
              text: SAYS.outcomes[value],
            })),
          ]}
        />
        {FILTERS.map((name) => (
          <Field
            key={name}
            label={SAYS.filters[name]}
            value={filters[name]}
            onChange={(value) =>
              (search.value = { ...search.value, filters: { ...search.value.filters, [name]: value } })
            }
          />
        ))}
      </div>
      <div class="actions">
        <Button type="submit" kind="primary" isDisabled={isAsking.value}>
          {SAYS.search}
        </Button>
        <Button
          onClick={() => {
            search.value = EMPTY_SEARCH
            void ask()
          }}
        >
          {SAYS.reset}
        </Button>
        <LineButton of={SAYS.search} line={() => BY_TOKEN.line((api) => pageOf(api, search.peek(), null))} />
      </div>
    </form>
  )
}

const COLUMNS = [
  'time',
  'operation',
  'outcome',
  'status',
  'code',
  'tenantId',
  'bucket',
  'key',
  'versionId',
  'reason',
  'sourceIp',
  'nodeId',
  'requestId',
] as const

async function save(form: 'csv' | 'jsonl'): Promise<void> {
  const rows = await all()
  const text =
    form === 'csv'
      ? csv(
          [...COLUMNS, 'actor'],
          rows.map((row) => [...COLUMNS.map((name) => row[name]), row.actor.id]),
        )
      : rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `audit.${form}`
  link.click()
  URL.revokeObjectURL(address)
}

function Rows({ rows }: { readonly rows: readonly AuditRecord[] }) {
  return (
    <Card
      title={SAYS.rows}
      actions={
        <>
          <Button onClick={() => void save('csv')}>{SAYS.csv}</Button>
          <Button onClick={() => void save('jsonl')}>{SAYS.jsonl}</Button>
          <LineButton of={SAYS.rows} line={() => BY_TOKEN.line(rowsOf)} />
        </>
      }
    >
      <Table
        label={SAYS.rows}
        empty={SAYS.none}
        keyOf={({ id }) => id}
        rows={rows}
        columns={[
          { head: SAYS.time, cell: ({ time }) => <Time iso={time} />, isMinor: true },
          { head: SAYS.what, cell: (row) => <WhatHappened row={row} /> },
          {
            head: SAYS.who,
            cell: ({ actor }) => <span class="code">{actor.id ?? actor.type}</span>,
            isMinor: true,
          },
          {
            head: SAYS.outcome,
            cell: ({ outcome, code }) => (
              <Badge tone={OUTCOME_TONE[outcome]}>{code ?? SAYS.outcomes[outcome]}</Badge>
            ),
          },
        ]}
      />
      {next.value === null ? null : (
        <Button onClick={() => void ask(true)} isDisabled={isAsking.value}>
          {TEXT.more}
        </Button>
      )}
    </Card>
  )
}
