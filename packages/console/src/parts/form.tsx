/**
 * Fields of forms: each with its label, its help and its bounds.
 */
import { useEffect, useId, useRef } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly help?: string
  readonly isSecret?: boolean
  readonly isRequired?: boolean
  readonly placeholder?: string
  /** The first one of a dialog. */
  readonly isFirst?: boolean
  readonly charsMax?: number
}

export function Field(props: FieldProps) {
  const {
    label,
    value,
    onChange,
    help,
    isSecret = false,
    isRequired = false,
    placeholder,
    isFirst = false,
  } = props
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFirst) input.current?.focus()
  }, [isFirst])
  const common = {
    id,
    ref: input,
    value,
    required: isRequired,
    autocomplete: 'off',
    autocapitalize: 'off' as const,
    spellcheck: false,
    maxLength: props.charsMax ?? 1024,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => onChange(event.currentTarget.value),
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(help === undefined ? {} : { 'aria-describedby': `${id}-help` }),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isSecret ? <input {...common} type="password" /> : <input {...common} type="text" />}
      {help === undefined ? null : (
        <p class="soft" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  )
}

interface Choice {
  readonly value: string
  readonly text: string
}

export function Select({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly choices: readonly Choice[]
  readonly onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.text}
          </option>
        ))}
      </select>
    </div>
  )
}

/** One of two, with a text for each. */
export function YesOrNo({
  label,
  value,
  texts,
  onChange,
}: {
  readonly label: string
  readonly value: boolean
  readonly texts: { readonly yes: string; readonly no: string }
  readonly onChange: (value: boolean) => void
}) {
  return (
    <Select
      label={label}
      value={value ? 'yes' : 'no'}
      onChange={(chosen) => onChange(chosen === 'yes')}
      choices={(['yes', 'no'] as const).map((one) => ({ value: one, text: texts[one] }))}
    />
  )
}

/** Any of some. */
export function Checks({
  label,
  chosen,
  choices,
  onChange,
}: {
  readonly label: string
  readonly chosen: readonly string[]
  readonly choices: readonly Choice[]
  readonly onChange: (chosen: readonly string[]) => void
}) {
  return (
    <fieldset class="checks">
      <legend>{label}</legend>
      {choices.map(({ value, text }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) =>
              onChange(
                event.currentTarget.checked ? [...chosen, value] : chosen.filter((one) => one !== value),
              )
            }
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

/** Several lines, as they are typed. */
export function TextArea({
  label,
  help,
  value,
  onChange,
}: {
  readonly label: string
  readonly help: string
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="code"
        rows={14}
        required
        spellcheck={false}
        maxLength={65_536}
        aria-describedby={`${id}-help`}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p class="soft" id={`${id}-help`}>
        {help}
      </p>
    </div>
  )
}
