/**
 * What was sent to the webhooks of a bucket, what waits and what was given up; each can be delivered again.
 */
import { BY_KEY } from '../../parts/access.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Badge, Button, Card, Loaded, Time, type Tone } from '../../parts/basics.tsx'
import { Select } from '../../parts/form.tsx'
import { Table } from '../../parts/table.tsx'
import { deliveries, type Delivery, deliveryState } from '../../state/rule-data.ts'
import { count } from '../../words/format.ts'
import { TEXT } from '../../words/strings.ts'

const SAYS = TEXT.webhooks
const STATES = ['pending', 'delivered', 'dead'] as const

const TONE: Readonly<Record<Delivery['status'], Tone>> = { pending: 'info', delivered: 'good', dead: 'bad' }

export function Deliveries({ bucket }: { readonly bucket: string }) {
  return (
    <Card
      title={SAYS.deliveries}
      actions={<Button onClick={() => void deliveries.load()}>{TEXT.refresh}</Button>}
    >
      <div class="narrow">
        <Select
          label={SAYS.state}
          value={deliveryState.value}
          onChange={(value) => {
            deliveryState.value = STATES.find((one) => one === value) ?? ''
            void deliveries.load()
          }}
          choices={[
            { value: '', text: SAYS.allStates },
            ...STATES.map((value) => ({ value, text: SAYS.states[value] })),
          ]}
        />
      </div>
      <Loaded of={deliveries}>
        {({ rows, isWhole }) => (
          <>
            <Listed bucket={bucket} rows={rows} />
            {isWhole ? null : <p class="soft">{SAYS.newest}</p>}
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Listed({ bucket, rows }: { readonly bucket: string; readonly rows: readonly Delivery[] }) {
  return (
    <Table
      label={SAYS.deliveries}
      empty={SAYS.noDeliveries}
      keyOf={({ deliveryId }) => deliveryId}
      rows={rows}
      columns={[
        {
          head: SAYS.event,
          cell: ({ type, key, eventTime }) => (
            <>
              <b>{SAYS.eventNames[type]}</b> <span class="code">{key ?? ''}</span>
              <p class="soft">
                <Time iso={eventTime} />
              </p>
            </>
          ),
        },
        { head: TEXT.webhooks.id, cell: ({ configId }) => configId, isMinor: true },
        {
          head: SAYS.state,
          cell: ({ status }) => <Badge tone={TONE[status]}>{SAYS.states[status]}</Badge>,
        },
        { head: SAYS.attempts, cell: ({ attempts }) => count(attempts), isFigure: true, isMinor: true },
        { head: SAYS.last, cell: lastOf, isMinor: true },
        {
          head: TEXT.tenants.change,
          cell: ({ deliveryId, configId }) => (
            <ActionButton
              access={BY_KEY}
              label={`${SAYS.again}: ${configId} ${deliveryId}`}
              run={(api) => api.redeliverNotification({ bucket, deliveryId })}
              onDone={() => void deliveries.load()}
            >
              {SAYS.again}
            </ActionButton>
          ),
        },
      ]}
    />
  )
}

function lastOf({ lastAttempt, nextAttemptAt }: Delivery) {
  return (
    <>
      {lastAttempt === null
        ? TEXT.never
        : (lastAttempt.error ??
          (lastAttempt.status === null ? '' : SAYS.answered(lastAttempt.status, lastAttempt.durationMs)))}
      {nextAttemptAt === null ? null : (
        <p class="soft">
          {SAYS.next}: <Time iso={nextAttemptAt} />
        </p>
      )}
    </>
  )
}
