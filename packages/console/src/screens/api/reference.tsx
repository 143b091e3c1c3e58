/**
 * The reference of both APIs, from the documents that describe them: a list of operations, each opened where it stands.
 */
import { useEffect, useState } from 'preact/hooks'
import { Card, Copyable, Loaded } from '../../parts/basics.tsx'
import { Field } from '../../parts/form.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { apiDocument, plane, PLANES } from '../../state/api-document.ts'
import { linkTo, place } from '../../state/route.ts'
import { client } from '../../state/session.ts'
import { type ApiDocument, type ApiOperation, exampleOf, fits, operationsOf } from '../../words/api-words.ts'
import { TEXT } from '../../words/strings.ts'
import { Answers, Body, Parameters } from './operation-parts.tsx'

const SAYS = TEXT.api

export function ApiReference() {
  const shown = PLANES.find((name) => name === place.value.item) ?? (client.value === null ? 'data' : 'admin')
  useEffect(() => {
    plane.value = shown
    apiDocument.forget()
    void apiDocument.load()
  }, [shown])
  return (
    <>
      <Tabs
        label={SAYS.title}
        tabs={PLANES.map((name) => ({
          text: SAYS.planes[name],
          href: linkTo('api', name),
          isShown: name === shown,
        }))}
      />
      <Card title={SAYS.title}>
        <p class="soft">
          {SAYS.about} <a href="/docs/api/index.html">{SAYS.pages}</a>
        </p>
        <Loaded of={apiDocument}>
          {(document) => (
            <Operations
              key={shown}
              document={document}
              root={shown === 'admin' ? location.origin : TEXT.tenants.dataListener}
            />
          )}
        </Loaded>
      </Card>
    </>
  )
}

function Operations({ document, root }: { readonly document: ApiDocument; readonly root: string }) {
  const [words, setWords] = useState('')
  const found = operationsOf(document).filter((one) => fits(one, words))
  return (
    <div class="stack">
      <Field label={SAYS.search} value={words} onChange={setWords} />
      <p class="soft" role="status">
        {found.length === 0 ? SAYS.none : SAYS.count(found.length)}
      </p>
      <ul class="rules" aria-label={SAYS.title}>
        {found.map((one) => (
          <One key={one.described.operationId} document={document} operation={one} root={root} />
        ))}
      </ul>
    </div>
  )
}

function One({
  document,
  operation,
  root,
}: {
  readonly document: ApiDocument
  readonly operation: ApiOperation
  readonly root: string
}) {
  const [isOpen, setOpen] = useState(false)
  const { method, path, described } = operation
  const { operationId, summary = '', description = '' } = described
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b class="code">{method}</b> <span class="code">{path}</span> <span>{summary}</span>
        </summary>
        {isOpen ? (
          <div class="stack">
            <p>
              <b class="code">{operationId}</b> {description}
            </p>
            <Copyable text={exampleOf(operation, root)} label={SAYS.example(operationId)} />
            <Parameters document={document} operation={operation} />
            <Body document={document} operation={operation} />
            <Answers document={document} operation={operation} />
          </div>
        ) : null}
      </details>
    </li>
  )
}
