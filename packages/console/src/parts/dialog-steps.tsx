/**
 * What dialogs of changes have in common: the name that is typed before, and what came of it.
 */
import type { ComponentChildren } from 'preact'
import { TEXT } from '../words/strings.ts'
import { Button } from './basics.tsx'
import { Field } from './form.tsx'

const SAYS = TEXT.wizard

export function Confirmation({
  name,
  typed,
  onType,
}: {
  readonly name: string
  readonly typed: string
  readonly onType: (text: string) => void
}) {
  return <Field label={SAYS.confirm(name)} help={SAYS.confirmHelp} value={typed} onChange={onType} isFirst />
}

export function Outcome({
  children,
  onClose,
}: {
  readonly children: ComponentChildren
  readonly onClose: () => void
}) {
  return (
    <>
      {children}
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          {SAYS.done}
        </Button>
      </div>
    </>
  )
}
