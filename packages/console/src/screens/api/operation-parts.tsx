/**
 * What an operation takes and answers, as tables.
 */
import { Table } from '../../parts/table.tsx'
import {
  type ApiDocument,
  type ApiOperation,
  contentOf,
  linesOf,
  type Schema,
  typeOf,
} from '../../words/api-words.ts'
import { TEXT } from '../../words/strings.ts'

const SAYS = TEXT.api

interface Props {
  readonly document: ApiDocument
  readonly operation: ApiOperation
}

export function Parameters({ document, operation: { described } }: Props) {
  const { operationId, parameters = [] } = described
  if (parameters.length === 0) return null
  return (
    <>
      <h3>{SAYS.parameters}</h3>
      <Table
        label={`${SAYS.parameters}: ${operationId}`}
        empty=""
        keyOf={(one) => `${one.in} ${one.name}`}
        rows={parameters}
        columns={[
          {
            head: SAYS.member,
            cell: (one) => (
              <>
                <span class="code">{one.name}</span> <span class="soft">{one.in}</span>
                {one.required === true ? <p class="soft">{SAYS.required}</p> : null}
              </>
            ),
          },
          {
            head: SAYS.type,
            cell: ({ schema = {} }) => <span class="code">{typeOf(document, schema)}</span>,
          },
          { head: TEXT.rules.about, cell: ({ description }) => description ?? '', isMinor: true },
        ]}
      />
    </>
  )
}

export function Body({ document, operation: { described } }: Props) {
  const schema = described.requestBody === undefined ? undefined : contentOf(described.requestBody)?.schema
  if (schema === undefined) return null
  return <Members title={SAYS.body} label={described.operationId} document={document} schema={schema} />
}

export function Answers({ document, operation: { described } }: Props) {
  const answers = Object.entries(described.responses ?? {})
  const good = answers.filter(([status]) => status.startsWith('2'))
  const rest = answers.filter(([status]) => !status.startsWith('2')).map(([status]) => status)
  return (
    <>
      {good.map(([status, answer]) => (
        <div key={status} class="stack">
          <Members
            title={SAYS.answer(status)}
            label={described.operationId}
            document={document}
            schema={contentOf(answer)?.schema ?? {}}
          />
          <p class="soft">{answer.description}</p>
        </div>
      ))}
      <p class="soft">
        {SAYS.errors}: {rest.join(', ')}
      </p>
    </>
  )
}

function Members({
  title,
  label,
  document,
  schema,
}: {
  readonly title: string
  readonly label: string
  readonly document: ApiDocument
  readonly schema: Schema
}) {
  const lines = linesOf(document, schema).map((line, at) => ({ ...line, at }))
  return (
    <>
      <h3>{title}</h3>
      {lines.length === 0 ? null : (
        <Table
          label={`${title}: ${label}`}
          empty=""
          keyOf={({ at }) => String(at)}
          rows={lines}
          columns={[
            {
              head: SAYS.member,
              cell: ({ depth, name, isRequired }) => (
                <>
                  <span class="code">{`${'  '.repeat(depth)}${name}`}</span>{' '}
                  {isRequired ? null : <span class="soft">?</span>}
                </>
              ),
            },
            { head: SAYS.type, cell: ({ type }) => <span class="code">{type}</span> },
            { head: TEXT.rules.about, cell: ({ about }) => about, isMinor: true },
          ]}
        />
      )}
    </>
  )
}
