/**
 * One row of the audit log, opened where it stands: who, what and when, and ways to every other row of its request, its actor or its object.
 */
import { aboutOnly, type AuditSearch } from '../forms/audit-search.ts'
import { Button, FactList } from '../parts/basics.tsx'
import { ask, type AuditRecord, search } from '../state/audit-data.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.audit

export function WhatHappened({ row }: { readonly row: AuditRecord }) {
  const { operation, tenantId, bucket, key, repeated } = row
  const about = [tenantId, bucket, key].filter((part) => part !== null).join(' / ')
  return (
    <details class="row">
      <summary>
        <b>{operation}</b> <span>{about}</span>
        {repeated === undefined ? null : <span> × {count(repeated.count)}</span>}
      </summary>
      <div class="stack">
        <FactList rows={factsOf(row)} />
        <Ways row={row} />
        <pre tabIndex={0} aria-label={SAYS.whole(operation)}>
          {JSON.stringify(row, null, 2)}
        </pre>
      </div>
    </details>
  )
}

/** Those that the row has. */
function factsOf(row: AuditRecord): readonly (readonly [string, string])[] {
  const { actor, method, path, status, reason, sourceIp, userAgent, bytesIn, bytesOut, durationMs } = row
  const texts: readonly (readonly [string, string | null])[] = [
    [SAYS.who, [actor.id ?? actor.type, actor.role].filter((part) => part !== null).join(', ')],
    [SAYS.asked, method === null ? null : `${method} ${path ?? ''}`],
    [SAYS.answered, status === null ? null : String(status)],
    [TEXT.wizard.reason, reason],
    [SAYS.from, sourceIp],
    [SAYS.program, userAgent],
    [SAYS.took, `${durationMs} ms`],
    [SAYS.received, bytesIn === 0 ? null : bytes(bytesIn)],
    [SAYS.sent, bytesOut === null || bytesOut === 0 ? null : bytes(bytesOut)],
    [TEXT.operations.node, row.nodeId],
  ]
  return texts.flatMap(([name, text]) => (text === null || text === '' ? [] : [[name, text] as const]))
}

function Ways({ row: { requestId, actor, bucket, key, tenantId } }: { readonly row: AuditRecord }) {
  const tenant = tenantId ?? ''
  const ways: readonly (readonly [string, AuditSearch])[] = [
    [SAYS.ofRequest, aboutOnly({ requestId })],
    ...(actor.id === null ? [] : [[SAYS.ofActor, aboutOnly({ actor: actor.id })] as const]),
    ...(bucket === null || key === null
      ? []
      : [[SAYS.ofObject, aboutOnly({ tenant, bucket, keyPrefix: key })] as const]),
  ]
  return (
    <div class="actions">
      {ways.map(([name, asked]) => (
        <Button
          key={name}
          onClick={() => {
            search.value = asked
            void ask()
          }}
        >
          {name}
        </Button>
      ))}
    </div>
  )
}
