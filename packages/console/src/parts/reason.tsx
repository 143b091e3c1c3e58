/**
 * The field for the reason of a change, which the audit log keeps.
 */
import { TEXT } from '../words/strings.ts'
import { Field } from './form.tsx'

export function Reason({
  value,
  onChange,
  isRequired = true,
  isFirst = false,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isRequired?: boolean
  readonly isFirst?: boolean
}) {
  const { reason, reasonHelp } = TEXT.wizard
  return (
    <Field
      label={reason}
      help={reasonHelp}
      value={value}
      onChange={onChange}
      isRequired={isRequired}
      isFirst={isFirst}
    />
  )
}
