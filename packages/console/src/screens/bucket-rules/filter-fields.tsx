/**
 * Which objects a rule is for, as fields: by the beginning of their keys and by their tags.
 */
import { Field } from '../../parts/form.tsx'
import { TEXT } from '../../words/strings.ts'

interface Filter {
  readonly prefix: string
  readonly tags: string
}

export function FilterFields({
  given,
  onChange,
}: {
  readonly given: Filter
  readonly onChange: (more: Partial<Filter>) => void
}) {
  const { prefix, prefixHelp, tags, tagsHelp } = TEXT.rules
  return (
    <>
      <Field
        label={prefix}
        help={prefixHelp}
        value={given.prefix}
        onChange={(value) => onChange({ prefix: value })}
      />
      <Field
        label={tags}
        help={tagsHelp}
        value={given.tags}
        onChange={(value) => onChange({ tags: value })}
      />
    </>
  )
}
