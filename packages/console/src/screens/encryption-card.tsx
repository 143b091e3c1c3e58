/**
 * The data key of a tenant, and its exchange.
 */
import { useEffect, useState } from 'preact/hooks'
import { Button, Card, FactList, Loaded, Notice, Time } from '../parts/basics.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { encryption, tenantId } from '../state/tenant-data.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { OperationState } from './operation-state.tsx'

const SAYS = TEXT.encryption

export function EncryptionCard({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    tenantId.value = id
    encryption.forget()
    void encryption.load()
  }, [id])
  return (
    <Card
      title={SAYS.title}
      actions={
        <Button needs="exchangeDataKey" onClick={() => setOpen(true)}>
          {SAYS.exchange}
        </Button>
      }
    >
      <Loaded of={encryption}>
        {({ algorithm, keyVersion, keySince, masterKeyId, exchange }) => (
          <>
            <FactList
              rows={[
                [SAYS.algorithm, algorithm],
                [SAYS.version, String(keyVersion)],
                [SAYS.since, <Time iso={keySince} />],
                [SAYS.master, masterKeyId === '' ? SAYS.destroyed : <span class="code">{masterKeyId}</span>],
                ...(exchange === null
                  ? []
                  : ([
                      [SAYS.former, String(exchange.formerVersion)],
                      [SAYS.chunksLeft, count(exchange.chunksLeft)],
                      [SAYS.left, bytes(exchange.bytesLeft + exchange.inlineBytesLeft)],
                    ] as const)),
              ]}
            />
            {exchange?.operation ? <OperationState operation={exchange.operation} /> : null}
            <p class="soft">{SAYS.customerKeys}</p>
          </>
        )}
      </Loaded>
      {isOpen ? (
        <ExchangeKey
          id={id}
          onClose={() => {
            setOpen(false)
            void encryption.load()
          }}
        />
      ) : null}
    </Card>
  )
}

function ExchangeKey({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [reason, setReason] = useState('')
  const given = { id, reason }
  return (
    <PlannedDialog
      title={SAYS.exchange}
      about={SAYS.exchangeAbout}
      fields={<Reason value={reason} onChange={setReason} isFirst />}
      plan={(api) => api.dryRun.exchangeDataKey(given)}
      shown={({ plan }) => <p>{SAYS.exchangePlan(count(plan.versions), bytes(plan.bytes))}</p>}
      confirm={id}
      run={(api) => api.exchangeDataKey(given)}
      done={() => <Notice tone="good" title={SAYS.started} />}
      onClose={onClose}
    />
  )
}
